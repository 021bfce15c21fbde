# A race in a kernel is found without a GPU, with its source line; the unmodified template has none.
. "$ROOT/tests/cli/tell"
mkdir mine
cp -r "$ROOT/tests/templates/scaled_add" mine/
echo '{ "template": "scaled_add", "cases": [{"ROWS": 6, "COLS": 40}] }' >c.json
tell try c.json --templates mine --device emulated:sm_89 --diagnose
sed -i 's/c\[i\] =/c[i \& ~1] =/' mine/scaled_add/kernel.cu
tell try c.json --templates mine --device emulated:sm_89 --diagnose
tell try c.json --templates mine --device cuda:0 --diagnose
"$EVOTILE" try c.json --templates mine --device emulated:sm_89 --diagnose --json | grep -E '"(kind|kernel|tensor)"'
