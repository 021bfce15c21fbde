# Every option of run that sets a key of the config ends up in the run's config.json, and those of resume change it.
. "$ROOT/tests/cli/tell"
small c.json '"search": { "initial": 8 }, "limits": { "smem_bytes": 4096 }'
keys() { jq -c '[.budget, .search, .seed, .device]' "$1/config.json"; }
"$EVOTILE" run c.json --out plain >/dev/null 2>&1
cmp c.json plain/config.json && echo "without options config.json is the file"
while read -r option value key expected; do
    [ "$value" = - ] && value=
    # The option --trials ends each run; the last one counts.
    "$EVOTILE" run c.json --trials 1 "$option" $value --out "run$option" >/dev/null 2>&1 || echo "$option fails"
    jq -ce "$key == $expected" "run$option/config.json" | sed "s/^/$option: $key is $expected: /"
done <<'END'
--trials 2 .budget.trials 2
--time 1h30m .budget.time "5400s"
--patience 7 .budget.patience 7
--target 0.25 .budget.target_us 0.25
--target-ratio 1.5 .budget.target_ratio 1.5
--strategy evolve .search.strategy "evolve"
--nice - .search.nice true
--max-temperature 80 .search.max_temperature_c 80
--seed 9007199254740993 .seed "9007199254740993"
--device emulated:sm_90 .device "emulated:sm_90"
END
jq -c 'keys_unsorted, .search' run--nice/config.json
"$EVOTILE" resume plain --trials 4 --time 1h --patience 8 --target 0.001 --target-ratio 99 --nice --max-temperature 70 \
    2>&1 | grep -o '4 trials are stored'
keys plain
"$EVOTILE" resume plain 2>&1 | grep -o 'finished after 4 trials'
# record: no budget, random genomes.
"$EVOTILE" record c.json --trials 2 --out rows.json.gz 2>/dev/null
keys rows
