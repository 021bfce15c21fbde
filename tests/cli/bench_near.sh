# make bench-near: when each goal of a search from nothing is near what an export has. Here the emulated device searches, and
# what is known is far above or far below what it can reach.
export PYTHONDONTWRITEBYTECODE=1
mkdir kernel
cat >kernel/manifest.json <<'JSON'
{ "template": { "name": "softmax_rows" }, "smem_limit": 49152, "cases": [
  { "name": "ROWS=4,COLS=40", "shape": { "ROWS": 4, "COLS": 40 }, "p50_us": 1000000 },
  { "name": "ROWS=8,COLS=80", "shape": { "ROWS": 8, "COLS": 80 }, "p50_us": 0.001 } ] }
JSON
near() { python3 "$ROOT/tests/bench/until_near.py" --evotile "$EVOTILE" --kernel kernel --device emulated:sm_89 --out out "$@" 2>>log; }
near --seconds 2 --variants apart,gain | sed 's/[0-9.][0-9.]*\.[0-9]/N/g; s/  */ /g'
jq -c '.search' out/apart.json out/gain.json
# The runs are read again: what took a moment, takes as long; and a case that is near enough is near.
near --table | sed 's/[0-9.][0-9.]*\.[0-9]/N/g; s/  */ /g' | tail -1
near --table --percent 100000000 | tail -1
# A run whose goals are all near ends.
near --seconds 600 --variants shared --percent 100000000 | tail -1
jq -r .phase out/shared/status.json
grep -c 'evotile run ' log
near --variants shared,alone
echo "status $?"
tail -1 log
near --kernel out
echo "status $?"
tail -1 log
rm -r out && mkdir -p out/gain && echo damaged >out/gain/run.db
near --variants gain
echo "status $?"
tail -1 log
