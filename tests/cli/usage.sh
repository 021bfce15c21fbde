# Bad usage: one line on stderr that names the nearest valid word, nothing on stdout, exit status 2.
for arguments in "bord" "help bord" "board" "board a b" "board a --tpo 3" "board a --top" \
    "board a --top many" "board a --json --csv" "space a --json=1" "doctor now" "space nowhere.json" \
    "board nowhere"; do
    $EVOTILE $arguments 2>stderr
    echo "$? $(wc -l <stderr) evotile $arguments: $(sed -n '1s/^evotile: //p' stderr)"
done
