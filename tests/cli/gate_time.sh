# The gate of a wisdom store: what comes first, and what it does not reach in a limited time.
# A gate of limited time says what it did not reach, and the next one begins with that: no entry is tried again before all have been.
jq -nc '{ template: "softmax_rows", objective: "per_case", cases: [range(8) | { ROWS: 4, COLS: (40 + .) }], device: "emulated:sm_89" }' >many.json
"$EVOTILE" run many.json --trials 8 --out many >/dev/null 2>&1
"$EVOTILE" wisdom add many --store many.db >/dev/null 2>&1
python3 - "$EVOTILE" <<'END'
import json, sqlite3, subprocess, sys
store = sqlite3.connect("many.db")
count = lambda what: store.execute(f"SELECT count(*) FROM figures {what}").fetchone()[0]
total, reached, seconds = count(""), 0, 0
while count("WHERE checked_at > 0") < total and seconds < 60:
    seconds += 1
    gate = subprocess.run([sys.argv[1], "gate", "many.db", "--device", "emulated:sm_89", "--tolerance", "7", "--time", f"{seconds}s"], capture_output=True, text=True)
    answer = json.loads(gate.stdout)
    reached += answer["entries"]
    said = f"{answer['not_reached']} of {total} entries were not reached in {seconds} s: the next gate of this store begins with them" in gate.stderr
    if (count("WHERE checked_at > 0") != min(reached, total) or answer["entries"] + answer["not_reached"] != total
            or answer["entries"] == 0 or said != (answer["not_reached"] > 0) or not answer["passed"] or gate.returncode != 0):
        sys.exit(f"{seconds} s: {reached} of {total} reached: {gate}")
print(f"{total} entries, all reached: {count('WHERE checked_at > 0') == total}")
END
echo 'the order in which entries are found stale, by when they were checked last with this driver; a moment after now is none'
python3 - <<'END'
import sqlite3
store = sqlite3.connect("many.db")
store.execute("UPDATE figures SET p50_us = p50_us / 2, low_us = 0, high_us = 0, checked_at = 1 + id * 5 % 9")
store.execute("UPDATE figures SET checked_driver = 'another' WHERE id = 3")
store.execute("UPDATE figures SET checked_at = 1 << 40 WHERE id = 6")
store.commit()
rows = store.execute("SELECT id IN (3, 6), checked_at, case_name FROM figures").fetchall()
print(*(name for first, checked_at, name in sorted(rows, key=lambda row: (0 if row[0] else row[1], row[2]))))
END
"$EVOTILE" gate many.db --device emulated:sm_89 2>&1 >/dev/null | sed -n 's/^evotile: softmax_rows, \([^:]*\): now takes .*/\1/p' | xargs
