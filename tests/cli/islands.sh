# Several populations in one run: as the config says, or the command line; no genome is tried twice.
. "$ROOT"/tests/cli/tell
cat >c.json <<JSON
{
  "template": "recorded:$ROOT/tests/spaces/pnpoly_RTX_3090.json.gz",
  "search": { "strategy": "full", "islands": 3, "migration": 10 },
  "budget": { "trials": 90 }
}
JSON
"$EVOTILE" run c.json --out run >/dev/null 2>&1
"$EVOTILE" run c.json --out more --islands 5 >/dev/null 2>&1
for run in run more; do
    # What the islands held is rebuilt as it was, or resume would refuse to go on.
    tell resume $run --trials 150 | grep -E 'stored|status'
    "$EVOTILE" board $run --all --json | grep -o '"genome":.*' | sort >genomes
    echo "$(wc -l <genomes) genomes, $(uniq -d genomes | wc -l) of them twice"
done
"$EVOTILE" summary more --json | grep -A60 '"islands":' | tr -d '\t' |
    grep -E '^"(island|trials)":' | head -10
# Who breeds from no population says so.
sed 's/full/auto/' c.json >auto.json
"$EVOTILE" run auto.json --out auto 2>&1 | grep warning
"$EVOTILE" run auto.json --out one --islands 1 2>&1 | grep warning
# More islands than genomes.
printf '{"tune_params_keys": ["a"], "cache": {"1": {"a": 1, "time": 2.5}, "2": {"a": 2, "time": 1.5}}}' >two.json
printf '{ "template": "recorded:two.json", "search": { "strategy": "evolve", "islands": 64 } }' >two-run.json
"$EVOTILE" run two-run.json --out two 2>/dev/null
"$EVOTILE" board two | head -1
"$EVOTILE" simulate two.json --strategy evolve --islands 64 --trials 2 --seeds 1 | grep -c '^two'
# Numbers that cannot be.
tell run c.json --islands 0
tell run c.json --islands 65
tell run c.json --islands many
tell resume run --islands 2
tell simulate two.json --islands 0
tell simulate two.json --islands 65
