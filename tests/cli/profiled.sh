# A resumed search uses the profiler metrics of elites in the insights that read them. There is no profiler here: the
# metrics are inserted into the profile that `profile` stored for the champion.
. "$ROOT/tests/cli/tell"
cp -r "$EVOTILE_TEMPLATES" templates
python3 - <<'PYTHON'
import re
path = "templates/softmax_rows/template.json"
text = open(path).read()
rule = """"insights": [
    { "when": "PROFILED_SM_ACTIVE < 80 && PROFILED_WAVEFRONTS > 99", "favour": { "UNROLL": "lower", "VECTOR": "higher", "KEEP": "lower" }, "because": "idle" },
    { "when": "PROFILED_SM_ACTIVE >= 80", "favour": { "UNROLL": "lower", "VECTOR": "higher", "KEEP": "lower" }, "because": "busy" }
  ],"""
open(path, "w").write(re.sub(r'"insights": \[.*?\n  \],', lambda _: rule, text, flags=re.S))
PYTHON
export EVOTILE_TEMPLATES=$PWD/templates
small c.json '"search": { "strategy": "full", "population": 4, "initial": 4 }'
"$EVOTILE" run c.json --trials 8 --out run >/dev/null 2>&1
"$EVOTILE" profile run >/dev/null || echo "profile: status $?"
cp -r run plain
# Inserts metrics for all trials, because the elites are not known in advance: counted ACTIVE DEVICE
counted() {
    python3 - "$1" "$2" <<'PYTHON'
import json, sqlite3, sys
with sqlite3.connect("run/run.db") as run:
    (kept,), = run.execute("SELECT value FROM meta WHERE name LIKE 'profile:%' LIMIT 1")
    profile = json.loads(kept)
    device, = run.execute("SELECT value FROM meta WHERE name = 'device_name'").fetchone()
    assert profile["measures"]["MEASURED_REGISTERS"] > 0
    profile["measures"].update(PROFILED_SM_ACTIVE=int(sys.argv[1]), PROFILED_WAVEFRONTS=100)
    profile["device"] = sys.argv[2] or device
    for (trial,) in run.execute("SELECT number FROM trials").fetchall():
        run.execute("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", (f"profile:{trial}", json.dumps(profile)))
PYTHON
}
# Prints the rules that were applied so far: credited RUN
credited() {
    "$EVOTILE" summary "$1" --json | jq -r '[.operators[].operator | select(startswith("rule"))] | sort | join(" ") | "'"$1"': " + .'
}
# Resumes until a rule is applied, for at most TRIALS more trials: go_on RUN TRIALS RULE
go_on() {
    local trials=$("$EVOTILE" summary "$1" --json | jq .trials)
    local last=$((trials + $2))
    while ((trials < last)) && [[ $(credited "$1") != *$3* ]]; do
        trials=$((trials + 10))
        "$EVOTILE" resume "$1" --trials "$trials" >/dev/null 2>&1 || echo "resume: status $?"
    done
    credited "$1"
}
go_on plain 20 rule
counted 40 'another device'
go_on run 10 rule
counted 40 ''
go_on run 120 rule:1
# Other metrics replace the first ones.
counted 95 ''
go_on run 120 rule:2
# Damaged profiles are reported.
counted 95 ''
python3 -c 'import sqlite3; run = sqlite3.connect("run/run.db"); run.execute("UPDATE meta SET value = 2 WHERE name LIKE \"profile:%\""); run.commit()'
"$EVOTILE" resume run --trials 1000 2>&1 | sed 's/profile:[0-9]*/profile:N/'
