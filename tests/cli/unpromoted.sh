# What is exported has passed a champion's final checks. The kernel of CHEAT=1 is wrong only in a held-out case; slower
# than the champion, it never met that case in its search.
. "$ROOT/tests/cli/tell"
export EVOTILE_TEMPLATES=$PWD/templates CUDA_VISIBLE_DEVICES=
mkdir templates && cp -r "$ROOT"/templates/lib templates && cp -r "$ROOT/templates/softmax_rows" templates/cheating
sed -i 's/"name": "softmax_rows"/"name": "cheating"/
        s/"UNROLL": {/"CHEAT": { "about": "wrong at 77 columns", "values": [0, 1], "default": 0 },\n    &/' \
    templates/cheating/template.json
sed -i 's/exp_value.values\[i\] \*= inverse;/exp_value.values[i] *= CHEAT \&\& COLS == 77 ? 0.5f * inverse : inverse;/' \
    templates/cheating/kernel.cu
sed -i 's/softmax_rows_reference/cheating_reference/' templates/cheating/reference.c
small c.json '"search": { "strategy": "random" }, "held_out": [ { "ROWS": 2, "COLS": 77 } ]'
sed -i 's/"softmax_rows"/"cheating"/' c.json
# The default genome is the champion before the others are tried.
"$EVOTILE" run c.json --trials 1 --out run --seed-genome 'UNROLL=4; CHEAT=1,ROW_THREADS=4' >/dev/null 2>&1
"$EVOTILE" resume run --trials 3 >/dev/null 2>&1
ranked() { "$EVOTILE" board run --json | jq ".rows[] | select(.genome | test(\"$1\")) | .rank"; }
update() { python3 -c 'import sqlite3, sys
with sqlite3.connect("run/run.db") as run:
    run.execute(sys.argv[1])' "$1"; }

tell export run --rank "$(ranked UNROLL=4)" --out honest | sed 's/[0-9.]* us/N us/'
tell export run --rank "$(ranked CHEAT=1)" --out cheating
"$EVOTILE" replay run --rank "$(ranked CHEAT=1)" >/dev/null
echo "replay: status $?"
# A run.db in which it is the best.
update 'UPDATE trials SET score_us = 0.1 WHERE genome LIKE "%CHEAT=1%"'
tell export run --out cheating
ls -d cheating 2>&1
update 'UPDATE meta SET value = replace(replace(value, "NVIDIA L4, emulated", "NVIDIA None"), "emulated:sm_89", "cuda:0")
        WHERE name LIKE "device%"'
tell export run --out cheating
tell export run --out cheating --unchecked | sed 's/[0-9.]* us/N us/'
for folder in honest cheating; do
    jq -r '.units[0].checks' $folder/manifest.json | sed 's/ (. of .*//'
    sed -n '/What it passed/ { n; s/ (. of .*//; p }' $folder/$folder.h
done
