# A gene that the template lacks is detected by a worker. The message still names the config and the line in it, also
# after the options changed other keys, and no run folder is left behind.
cat >mine.json <<'J'
{ "template": "softmax_rows", "cases": [ { "ROWS": 4, "COLS": 8 } ], "genes": { "THREDS": [32] } }
J
$EVOTILE run mine.json --device emulated:sm_89 --trials 1 --out run 2>&1
echo $?
cat >commented.json <<'J'
{
    "template": "softmax_rows", // its genes are in template.json
    "budget": {
        "trials": 5, /* few,
        but enough */ "time": "1h"
    },
    "cases": [ { "ROWS": 4, "COLS": 8 } ],
    "genes": {
        "THREDS": [32]
    }
}
J
$EVOTILE run commented.json --device emulated:sm_89 --trials 1 --patience 3 --nice --out run 2>&1
ls
