# A baseline is a program that times something else; this one makes its times up.
. "$ROOT/tests/cli/tell"
cp "$ROOT/tests/cli/baseline_program.py" .
with() { small "$1.json" "\"baseline\": { \"command\": [$2], \"limit_s\": ${3:-60} }"; }
with good '"python3", "baseline_program.py"'
"$EVOTILE" run good.json --out run >/dev/null 2>&1
tell baseline run
"$EVOTILE" board run | grep -A 3 estimated
"$EVOTILE" board run --cases --json | grep -c '"ratio_to_baseline":	[0-9]'
# The ratio to the baseline is about 3, so the target is reached; to the default genome it is smaller.
tell resume run --trials 30 --target-ratio 2.5
"$EVOTILE" baseline good.json --json 2>/dev/null | grep -E '"(baseline|device|name|fastest|p50_us|cold_p50_us|unable)"' | tr -d '\t,'
"$EVOTILE" export run --out frozen >/dev/null 2>&1
grep -E '"(baseline|ratio_to_baseline)"' frozen/manifest.json | sed 's/[0-9.]*,$/*/' | tr -d '\t'
tell duel run baseline --implementation plain --markdown
"$EVOTILE" board run --json | grep -c '"ratio_low":	[0-9]' # only the fastest implementation is the baseline
tell duel run baseline
"$EVOTILE" board run | grep -A 3 -B 1 "rank "
"$EVOTILE" report run --markdown | grep -o '[0-9.]* times as fast.* in a duel.*'
"$EVOTILE" export run --out frozen --force >/dev/null 2>&1
grep -E '"ratio' frozen/manifest.json | sed 's/[0-9.]*,$/*/' | tr -d '\t'
"$EVOTILE" gate run --against baseline | grep -E '"(passed|against|verdict)"' | tr -d '\t,'
with fast '"python3", "baseline_program.py", "fast"'
"$EVOTILE" run fast.json --out fast >/dev/null 2>&1
"$EVOTILE" gate fast --against baseline | grep -E '"(passed|reason)"' | tr -d '\t,'
"$EVOTILE" gate fast --against baseline >/dev/null
echo "slower than it: status $?"
# One baseline process serves all duels of a worker.
with both '"python3", "baseline_program.py"'
sed -i 's/"cases": .*/"objective": "per_case", "cases": [ { "ROWS": 4, "COLS": 40 }, { "ROWS": 8, "COLS": 40 } ],/' both.json
"$EVOTILE" run both.json --trials 4 --out both >/dev/null 2>&1
rm begun
"$EVOTILE" duel both baseline | grep -c 'A is faster$'
wc -l <begun
# Calls of a second in a graph of many would take minutes.
with slow '"python3", "baseline_program.py", "slow"'
"$EVOTILE" run slow.json --out slow >/dev/null 2>&1
spent() { awk -v most="$1" '{ s += $1 } END { print (s < most ? "less than " most : s), "s of GPU time" }' spent && rm spent; }
"$EVOTILE" duel slow baseline | grep -o "fused .*"
spent 12
"$EVOTILE" baseline slow | grep -E "plain|fused"
spent 60
# Failures.
for fault in talks dies few negative device error unable; do
    with $fault "\"python3\", \"baseline_program.py\", \"$fault\""
    echo "$fault"
    tell baseline $fault.json
done 2>&1 | grep -v '^evotile: made up'
# The limit is that of its other answers, too: a shell starts sooner than Python on a loaded machine.
cat >hangs.sh <<'SH'
read -r begin && echo '{ "baseline": "made up 1.0", "device": "NVIDIA L4, emulated", "implementations": ["plain"] }'
read -r capture && echo '{ "captured": true }'
exec sleep 600
SH
with hangs '"sh", "hangs.sh"' 1
tell baseline hangs.json
with nowhere '"no-such-program"'
tell baseline nowhere.json
tell baseline good.json --python no-such-python
tell baseline nowhere.json --python python3
with empty ''
tell baseline empty.json
small none.json
sed -i s/softmax_rows/softmax_f32/ none.json # which has no baseline
tell baseline none.json
"$EVOTILE" run none.json --out other >/dev/null 2>&1
tell duel other baseline
tell duel run baseline --implementation narrow
tell duel run baseline --implementation wide
tell duel run run --python python3
tell baseline
# Without PyTorch or a GPU the attention template's script reports what is missing.
cat >attention.json <<JSON
{ "template": "attention_fwd", "cases": [ { "B": 1, "H": 1, "S": 64, "D": 64 } ], "device": "emulated:sm_89" }
JSON
tell baseline attention.json
# A run has its own copy of the template and of the library, where the same script is.
cat >softmax.json <<JSON
{ "template": "softmax_rows", "cases": [ { "ROWS": 4, "COLS": 64 } ], "budget": { "trials": 1 }, "device": "emulated:sm_89" }
JSON
"$EVOTILE" run softmax.json --out softmax >/dev/null 2>&1
tell baseline softmax
mkdir without && echo 'raise ImportError("none here")' >without/torch.py
echo '{"ask": "begin", "protocol": 1, "device": "cuda:0", "device_name": "NVIDIA H200"}' |
    PYTHONPATH=without python3 "$ROOT/templates/lib/torch_baseline.py" baseline.py | sed 's/for [^ ]* (/for PYTHON (/'
# In a duel it gets the lengths and page tables of the kernel's own sets of inputs, each time the same; else none.
cat >paged.json <<JSON
{ "template": "$ROOT/tests/templates/paged_gather", "cases": [ { "SEQUENCES": 3, "PAGES": 2, "WIDTH": 4 } ], "budget": { "trials": 1 },
  "device": "emulated:sm_89", "baseline": { "command": ["python3", "paged.py"], "limit_s": 60 } }
JSON
cat >paged.py <<'PY'
import json
import sys

for line in sys.stdin:
    question = json.loads(line)
    if question["ask"] == "capture":
        sets = question.get("inputs")
        fits = sets and all(len(one["lengths"]) == 3 and len(one["page_table"]) == 6 and set(one) == {"lengths", "page_table"} and
                            all((page >= 0) == (number % 2 * 8 < one["lengths"][number // 2])
                                for number, page in enumerate(one["page_table"])) for one in sets)
        print(sets and len(sets) == question["sets"], fits, json.dumps(sets), file=open("given", "a"))
    print(json.dumps({"begin": {"baseline": "made up", "device": question.get("device_name"), "implementations": ["one"]},
                      "capture": {"captured": True}}.get(question["ask"], {"samples_us": [9.0] * question.get("samples", 1)})), flush=True)
PY
"$EVOTILE" run paged.json --out paged >/dev/null 2>&1
"$EVOTILE" duel paged baseline --implementation one >/dev/null 2>&1
cut -d ' ' -f 1,2 given | sort | uniq -c | sed 's/^ *[0-9]* /captures: /'
cut -d ' ' -f 3- given | grep -v null | sort -u | wc -l
