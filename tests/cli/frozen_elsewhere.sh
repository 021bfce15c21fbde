# An exported kernel without a GPU runs on an emulated device of the same architecture; on another one times are not compared.
. "$ROOT/tests/cli/tell"
small c.json '"search": { "strategy": "evolve" }'
export CUDA_VISIBLE_DEVICES=
"$EVOTILE" run c.json --device emulated:sm_90 --trials 2 --out run >/dev/null 2>&1
"$EVOTILE" export run --out frozen >/dev/null 2>&1
for device in '' '--device emulated:sm_80'; do
    "$EVOTILE" replay frozen $device >text 2>/dev/null
    echo "status $?"
    grep -e '^  recorded' -e '^  device differs' text | sed 's/[0-9.]* us/N us/g'
    "$EVOTILE" replay frozen $device --json 2>/dev/null | grep -o '"\(predicted\|compared\|passed\)":[^,]*'
done
