# A search for energy needs a GPU that counts it: refused at the start elsewhere, and nothing is left behind.
. "$ROOT/tests/cli/tell"
echo '{ "template": "softmax_rows", "minimise": "energy", "cases": [ { "ROWS": 4, "COLS": 40 } ] }' >c.json
tell run c.json --device emulated:sm_89 --trials 2 --out run
ls
sed -i 's/"energy"/"pareto"/' c.json
tell run c.json --device emulated:sm_90 --trials 2 --out run
"$EVOTILE" try c.json --device emulated:sm_89 | grep -c 'us predicted'
