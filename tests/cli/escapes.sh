# Texts of a run may hold a terminal's escape sequences: nothing prints them.
. "$ROOT/tests/cli/tell"
small c.json '"search": { "strategy": "random" }'
"$EVOTILE" run c.json --trials 3 --out run >/dev/null 2>&1
python3 - <<'PYTHON'
import json, sqlite3
evil = "A\x1b[2J\x1b]0;B\x07C\x7fD\x9b31mE\r\nF"
with sqlite3.connect("run/run.db") as run:
    run.execute("UPDATE trials SET worker = ?", [evil])
    run.execute("UPDATE trials SET verdict = 'wrong', reason = ? WHERE number = 1", [evil])
    run.execute("UPDATE meta SET value = ? WHERE name = 'device_name'", [evil])
with open("run/status.json") as file:
    status = json.load(file)
status["reason"] = evil
status["phase"] = "failed"
with open("run/status.json", "w") as file:
    json.dump(status, file)
PYTHON
# Everything but line ends and tabs, and what the verbs themselves write to no terminal.
controls() { LC_ALL=C grep -c -a -P '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$1"; }
tried() {
    "$EVOTILE" "$@" >out 2>&1
    echo "$1: status $?, $(controls out) lines with control characters, $(grep -c -F 'A\x1b[2J\x1b]0;B\x07C\x7fD\x9b31mE' out) escaped"
}
tried board run --all
tried board run --all --json
tried summary run
tried watch run --once
tried report run --csv
tried report run --json
tried replay run
tried report run
echo "report.html: $(controls run/report.html) lines with control characters"
