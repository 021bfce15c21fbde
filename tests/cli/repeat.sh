# A call of many launches: it is tried, searched, exported and replayed; kernels that repeat wrongly are found.
. "$ROOT/tests/cli/tell"
mkdir mine
cp -r "$ROOT/tests/templates/heat_steps" mine/
cat >c.json <<JSON
{
  "template": "heat_steps", "device": "emulated:sm_90",
  "cases": [ { "ROWS": 2, "COLS": 150, "STEPS": 5 }, { "ROWS": 2, "COLS": 150, "STEPS": 12 } ]
}
JSON
tell space c.json --templates mine --genome FUSED=4 | grep -A 7 '^Launches'
"$EVOTILE" try c.json --templates mine --genome FUSED=4,ITEMS=2 | grep -oE 'cases +ok|race checker ok|[^ ]* [0-9.]+ us predicted'
"$EVOTILE" run c.json --templates mine --trials 4 --compile-workers 1 --out run >/dev/null 2>&1
tell export run --out frozen | tail -n 1
grep -c 'ROUND < rounds; ROUND++' frozen/frozen.c
grep '^#define' frozen/variant_1.h
"$EVOTILE" replay frozen --json | jq -c '[.rows[].passed]'
# Each line: a mistake in the launches | the command that makes it.
while IFS='|' read -r what change; do
    cp "$ROOT/tests/templates/heat_steps/template.json" mine/heat_steps/
    sed -i "$change" mine/heat_steps/template.json
    if "$EVOTILE" try c.json --templates mine --genome FUSED=4 --json >found.json 2>error; then :; fi
    echo "$what: $(jq -r '"\(.verdict): \(.reason)"' found.json) $(cat error)"
done <<'TABLE'
one round too few|s/"repeat": "ROUNDS"/"repeat": "ROUNDS - 1"/
no swap|/"swap"/d; s/^      \],$/      ]/
the other order|s/\["other", "y"\]/["y", "other"]/
what is read and written changed|s/"arguments": \["other", "y"/"arguments": ["y", "other"/
every round from the input|s/"arguments": \["other", "y"/"arguments": ["x", "y"/; /"swap"/d; s/^      \],$/      ]/
more launches than a call may have|s/"repeat": "ROUNDS"/"repeat": "ROUNDS * 400"/
TABLE
