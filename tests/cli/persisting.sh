# A launch that keeps a tensor in L2, by a gene: what is refused, and what an export sets.
. "$ROOT/tests/cli/tell"
cp -r "$ROOT/templates" templates
keeping() { # NAME WINDOWS: the template softmax_rows with a gene KEEP_X, and windows by it, as ./templates/NAME
    cp -r templates/softmax_rows "templates/$1"
    sed -i "s/\"name\": \"softmax_rows\"/\"name\": \"$1\"/; s/^  \"genes\": {/&\n    \"KEEP_X\": { \"values\": [0, 50, 101], \"default\": 0 },/
        s/\"arguments\"/\"persisting\": $2, &/" "templates/$1/template.json"
    small "$1.json" '"genes": { "KEEP_X": [50] }'
    sed -i "s/\"softmax_rows\"/\".\/templates\/$1\"/" "$1.json"
}
keeping good '{ "x": "KEEP_X" }'
"$EVOTILE" run good.json --trials 1 --out run 2>&1 | tail -1
"$EVOTILE" export run --out frozen >/dev/null 2>&1
grep -A 4 'status = launch(' frozen/frozen.c | grep -o '(KEEP_X).*\|([0-9]*) > 0.*' | head -3
grep -A 2 'access policy window' frozen/frozen.h
grep -o 'PERSISTING = [01]' frozen/cases.h
(cd frozen && cc -Werror -Wall -I. -I/usr/local/cuda/include -c check.c -o /dev/null) && echo "its check compiles"
(cd frozen && cc -Werror -Wall -I. -I/usr/local/cuda/include -c frozen.c -o /dev/null) && echo "compiles"
sed -i 's/\[50\]/[0]/' good.json
"$EVOTILE" run good.json --trials 1 --out without >/dev/null 2>&1
"$EVOTILE" export without --out plain >/dev/null 2>&1
grep -c 'access policy window' plain/plain.h
grep -o 'PERSISTING = [01]' plain/cases.h
sed -i 's/\[0\]/[101]/' good.json
tell try good.json | grep -v '^ '
keeping both '{ "x": "KEEP_X", "y": "KEEP_X" }'
tell try both.json | grep -v '^ '
keeping unknown '{ "z": "KEEP_X" }'
tell space unknown.json | grep -v '^ '
