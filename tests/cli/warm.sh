# Initial genomes of a run: those of --seed-genome, and the best of earlier runs, nearest first. They are stored, so a
# resumed run does not need their source.
. "$ROOT"/tests/cli/tell
space="$ROOT"/tests/spaces/pnpoly_RTX_3090.json.gz
begun() { "$EVOTILE" summary "$1" --json | jq -r '.operators[] | select(.operator == "seed") | .trials'; }
best() { "$EVOTILE" board "$1" --json --top 1 2>/dev/null | jq -r '.rows[0].trial'; }
mkdir runs
"$EVOTILE" run recorded:"$space" --trials 200 --seed 1 --out runs/first 2>/dev/null
"$EVOTILE" run recorded:"$space" --trials 30 --seed 2 --warm-start runs/first --out second 2>/dev/null
echo "second began with $(begun second), the best of them trial $(best second)"
tell run recorded:"$space" --trials 30 --out third --warm-start runs \
    --seed-genome 'between_method=0,block_size_x=256,tile_size=20,use_method=2;between_method=9' | sed '1d'
"$EVOTILE" run recorded:"$space" --trials 8 --out third --warm-start runs \
    --seed-genome 'between_method=0,block_size_x=256,tile_size=20,use_method=2;block_size_x=992,tile_size=20' >/dev/null 2>&1
rm -r runs
tell resume third --trials 40 | sed '1d; /champion/d; /[0-9.]*\/s/d'
echo "third began with $(begun third), the best of them trial $(best third)"
# Errors.
small joint.json
tell run joint.json --out fourth --warm-start nowhere
tell run joint.json --out fourth --warm-start second
tell run joint.json --out fourth --seed-genome 'VECTOR=3'
