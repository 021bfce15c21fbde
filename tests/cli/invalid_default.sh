# A default genome that is not valid for the config's cases: try takes the nearest valid one, unless genes are given.
. "$ROOT/tests/cli/tell"
echo '{ "template": "attention_fwd", "cases": [ { "B": 1, "H": 1, "S": 16, "D": 128 } ], "device": "emulated:sm_89" }' >c.json
"$EVOTILE" try c.json | sed -n '1,2p; 3s/,LOAD=.*//p; s/\(constraints  ok\).*/\1/p'
"$EVOTILE" try c.json --json | grep -o '"default_problem":.*\|"genome":.*COPY=[a-z]*'
tell try c.json --genome BLOCK_M=64 | sed 's/[0-9.]* s  /S  /; /^BLOCK_M/s/,.*//'
tell try c.json --genome COPY=plain --json | grep -c default_problem
