# `new` writes a template that runs at once, and overwrites nothing.
. "$ROOT/tests/cli/tell"
tell new mine
find mine mine.json -type f | sort
# The default genome passes every gate; so do its search and its export.
tell try mine.json --device emulated:sm_90 | grep -e FAILED -e '^ROWS' -e '^status'
"$EVOTILE" run mine.json --device emulated:sm_90 --trials 3 --compile-workers 1 --out run >/dev/null 2>&1
tell export run --out frozen | grep -c 'predicted, variant 1 of 1'
ls frozen/Makefile frozen/check.c
# A config may name the solution, and every genome is right.
"$EVOTILE" space mine.json --device emulated:sm_90 --json | jq -c '.goals[0].valid'
sed 's|"./mine"|"./mine/first"|' mine.json >first.json
tell try first.json --device emulated:sm_90 --genome THREADS=1024,ITEMS=8 | tail -n 1

tell new mine
rm mine.json
tell new mine
for name in 3x 'a b' a/b '' ../up "$(printf 'n%.0s' {1..40})"; do
    tell new "$name"
done
tell new other --dir frozen/Makefile
tell new other --dir place/of/mine
tell try place/of/mine/other.json --device emulated:sm_90 | tail -n 1
tell new
