# A kernel that computes nothing, where the only case is too large for the emulated device: with a probe case and without.
. "$ROOT/tests/cli/tell"
mkdir mine
cp -r "$ROOT/tests/templates/scaled_add" mine/empty
sed -i 's/"name": "scaled_add"/"name": "empty"/' mine/empty/template.json
sed -i s/scaled_add_reference/empty_reference/ mine/empty/reference.c
sed -i 's/^ *c\[i\] = .*/                ;/' mine/empty/kernel.cu
echo '{ "template": "empty", "device": "emulated:sm_89", "cases": [{"ROWS": 600, "COLS": 1000}] }' >c.json
tell try c.json --templates mine
sed -i '/"bytes":/s/,$//; /"probe_cases"/,/^  ]/d' mine/empty/template.json
tell try c.json --templates mine
"$EVOTILE" run c.json --templates mine --trials 4 --out run 2>/dev/null
echo "status $?"
tell board run
