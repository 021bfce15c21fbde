# Every kind of invalid value in a config is reported with its position; nothing runs.
. "$ROOT/tests/cli/tell"
long=$(printf 'x%.0s' {1..300})
# Each line: keys that are added to the smallest config | cases that replace its own.
while IFS='|' read -r more cases; do
    cat >c.json <<JSON
{ "template": "softmax_rows", "cases": [ ${cases:-"{ \"ROWS\": 4, \"COLS\": 40 \}"} ], "device": "emulated:sm_89"${more:+, $more} }
JSON
    sed -i 's/\\}/}/; s/\[ none \]/[]/' c.json
    more=${more/, \"G2\"*/, ...}
    echo "${more//$long/LONG}${cases:+cases $cases}: $("$EVOTILE" space c.json 2>&1 >/dev/null | sed "s/$long/LONG/g")"
done <<TABLE
"objective": "both"
"objective": "$long"
"minimise": "power"
"minimise": "energy", "budget": { "target_ratio": 2 }
"minimise": "pareto", "timing": { "energy_ms": 0 }
"timing": { "energy_ms": 2001 }
"timing": { "regime": "cold" }
"genes": { "THREADS": 32 }
"genes": { "THREADS": [] }
"genes": { "THREADS": ["$long"] }
"genes": { $(for i in {1..70}; do printf '%s"G%d": [1]' "${comma-}" $i; comma=", "; done) }
"held_out": [ { "ROWS": 4, "COLS": 40, "F32": 1 } ]
"held_out": []
"budget": { "trials": 0 }
"budget": { "patience": 0 }
"budget": { "target_us": 0 }
"budget": { "target_ratio": -1 }
"budget": { "time": "soon" }
"budget": { "time": 5 }
"limits": { "smem_bytes": 1 }
"search": { "nice": 1 }
"search": { "max_temperature_c": 151 }
"seed": 0.5
|none
|{ "ROWS": 4, "COLS": 40 }, { "ROWS": 4, "COLS": 40 }
|{ "ROWS": 4 }
|{ "ROWS": 4, "COLS": "many" }
TABLE
