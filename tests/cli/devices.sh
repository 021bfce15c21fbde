# Several devices: those of one model share one run; each model gets a run of its own.
. "$ROOT/tests/cli/tell"
small run.json
tell run run.json --device emulated:sm_89,emulated:sm_89 --trials 6 --compile-workers 1 --out two
"$EVOTILE" resume two --trials 8 2>&1
# Two models: one run for each.
"$EVOTILE" run run.json --device emulated:sm_89,emulated:sm_90,emulated:sm_89 --trials 4 --compile-workers 2 --out mixed 2>mixed.log
echo "status $?"
grep searching mixed.log | sort
for run in mixed-*; do "$EVOTILE" summary $run 2>/dev/null | head -n 1; done
tell resume mixed-nvidia-l4-emulated --device emulated:sm_89,emulated:sm_90 --trials 5
tell run run.json --device emulated:sm_89,emulated:sm_90 --out mixed | sort
tell run run.json --device emulated:sm_89,toaster --out none
tell run run.json --device recorded --out none
tell run run.json --device emulated:sm_89, --out none
tell run run.json --device cuda:1,cuda:1 --out none
tell try run.json --device emulated:sm_89,emulated:sm_89
ls
