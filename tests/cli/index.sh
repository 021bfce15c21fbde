# A run learns from the earlier runs of its template that the index lists, wherever they are, and says so.
. "$ROOT"/tests/cli/tell
export EVOTILE_INDEX=$PWD/state/runs.jsonl
small small.json '"genes": { "THREADS": [32, 64, 128, 256], "ROW_THREADS": [32], "VECTOR": [1, 2], "KEEP": [0], "UNROLL": [1] }'
search() { tell run small.json "$@" | grep -E '^\$|warning|learning|status'; }
seeds() { "$EVOTILE" summary "$1" --json | jq -r '.operators[] | select(.operator == "seed") | .trials'; }
search --trials 8 --out elsewhere/first
tail -n +2 state/runs.jsonl | jq -c '[.template, .device, .trials]'
search --trials 7 --out second
echo "the second began with $(seeds second)"
"$EVOTILE" suggest small.json --json | jq -c '[.goals[0].sources[].source | sub(".*/work/"; "")] | sort'
# What it learned is stored: it goes on without the index, and without the first run.
rm -r elsewhere state
tell resume second --trials 8 | grep -E 'warning|learning|status'
wc -l <state/runs.jsonl
search --trials 1 --out pure --learn-from none
# What is no index is left as it is. The search goes on.
echo notes >notes
EVOTILE_INDEX=notes search --trials 1 --out fourth
cat notes
EVOTILE_INDEX=/dev/null/runs search --trials 1 --out fifth
EVOTILE_CACHE=$PWD/cache EVOTILE_INDEX='' HOME='' XDG_STATE_HOME='' search --trials 1 --out sixth
# Searches of recorded spaces neither learn nor are learned from.
"$EVOTILE" run recorded:"$ROOT"/tests/spaces/pnpoly_RTX_3090.json.gz --trials 8 --out seventh 2>/dev/null
grep -q pnpoly state/runs.jsonl || echo "not in the index"
