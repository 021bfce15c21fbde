# The weights of cases decide which genome a joint run finds, and how cases with champions of their own share the trials. The emulated
# device predicts that one of two genomes is faster for the one case, and the other for the other.
. "$ROOT/tests/cli/tell"
config() { # FILE OBJECTIVE WEIGHT WEIGHT
    cat >"$1" <<JSON
{ "template": "softmax_rows", "objective": "$2",
  "cases": [ { "ROWS": 2, "COLS": 1024$3 }, { "ROWS": 512, "COLS": 16$4 } ],
  "genes": { "THREADS": [256], "ROW_THREADS": $5, "VECTOR": [1], "KEEP": [1], "UNROLL": [1] } }
JSON
}
search() { "$EVOTILE" run "$1.json" --device emulated:sm_89 --trials 8 --out "$1" 2>&1 | grep -v -e trials -e searching -e champion; }

config plain.json joint '' '' '[8, 256]'
config many.json joint '' ', "weight": 20' '[8, 256]'
for name in plain many; do
    search $name
    "$EVOTILE" board $name --json | jq -r '.rows[0].genome'
    jq -c '.cases' $name/config.json
    sqlite3 $name/run.db 'SELECT cases FROM settings'
done

# A score is the weighted mean of the cases' latencies, on the board, too; a key names the weights, where there are any.
"$EVOTILE" try many.json --genome ROW_THREADS=8,THREADS=256,KEEP=1 --device emulated:sm_89 --json |
    jq -c '[.cases[].p50_us] as [$a, $b] | ((($a | log) + 20 * ($b | log)) / 21 | exp) / .score_us | . * 1e6 | round / 1e6'

# Trials of other weights do not mix.
cp -r many edited && sed -i 's/"weight": 20/"weight": 2/' edited/config.json
tell resume edited --trials 9 2>&1 | tail -2
tell resume many --trials 9 2>&1 | tail -2

# Three of four trials for the case of weight 3.
config share.json per_case ', "weight": 3' '' '[4, 8, 16, 32, 64, 128, 256]'
search share
"$EVOTILE" report share --csv 2>/dev/null | cut -d, -f2 | sort | uniq -c
