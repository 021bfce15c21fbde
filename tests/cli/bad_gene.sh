# A gene that the template lacks is detected by a worker. The message still names the config, and no run folder
# is left behind. The line is that of the config with the changes of the options, as the run would store it.
cat >mine.json <<'J'
{ "template": "softmax_rows", "cases": [ { "ROWS": 4, "COLS": 8 } ], "genes": { "THREDS": [32] } }
J
$EVOTILE run mine.json --device emulated:sm_89 --trials 1 --out run 2>&1
echo $?
ls
