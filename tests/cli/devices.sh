# Several devices in one run: equal ones serve it together.
. "$ROOT/tests/cli/tell"
small run.json
tell run run.json --device emulated:sm_89,emulated:sm_89 --trials 6 --compile-workers 1 --out two
"$EVOTILE" resume two --trials 8 2>&1
tell run run.json --device emulated:sm_89,emulated:sm_90 --out mixed
tell run run.json --device emulated:sm_89, --out none
tell run run.json --device cuda:1,cuda:1 --out none
tell try run.json --device emulated:sm_89,emulated:sm_89
ls
