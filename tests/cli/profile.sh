# On an emulated device there are no counters; the findings from timing and resources are printed.
. "$ROOT/tests/cli/tell"
small c.json
"$EVOTILE" run c.json --trials 1 --out run >/dev/null 2>&1
tell profile run | sed 's/[0-9][0-9.]* us/* us/; s/[0-9.]* TFLOP.*GB\/s/* TFLOP\/s, * GB\/s/'
"$EVOTILE" profile run --json | grep -cE '"(missing|findings|advice|kernels|operations|waves)"'
"$EVOTILE" export run --out frozen >/dev/null 2>&1
"$EVOTILE" profile frozen | grep 'multiprocessors busy'
# The findings are stored with the trial.
python3 - <<'PYTHON'
import json, sqlite3
with sqlite3.connect("run/run.db") as run:
    (kept,), = run.execute("SELECT value FROM meta WHERE name = 'profile:0'")
    print(json.loads(kept)["cases"][0]["findings"][0]["finding"])
PYTHON
tell profile run --rank 5
tell profile frozen --goal 2
tell profile nowhere
tell profile run --time soon
