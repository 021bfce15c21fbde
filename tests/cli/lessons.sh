# The gene effects that are built into a space are found: c=4 is slow, a and b are fast if they are equal,
# and b=4 with c=1 always fails. All other differences are noise.
{
    printf '{"tune_params_keys": ["a", "b", "c", "d"], "cache": {'
    comma=''
    for a in 1 2 3 4; do for b in 1 2 3 4; do for c in 1 2 3 4; do for d in 1 2 3; do
        time=$((1000 + (a * 7 + b * 5 + c * 3 + d * 11) % 4))
        ((a != b)) || time=$((time / 2))
        ((c != 4)) || time=$((time * 2))
        [ "$b$c" != 41 ] || time='"CompilationFailedConfig"'
        printf '%s\n"%s": {"a": %s, "b": %s, "c": %s, "d": %s, "time": %s}' "$comma" $a,$b,$c,$d $a $b $c $d "$time"
        comma=,
    done; done; done; done
    printf '}}\n'
} >made.json
"$EVOTILE" run recorded:made.json --out run >/dev/null 2>&1
"$EVOTILE" summary run | sed -n '/^gene effects/,/^$/p'
"$EVOTILE" summary run --json | jq -c '.goals[0].lessons[0]'
