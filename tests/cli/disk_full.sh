# A full disk stops the run with one line; stored trials can still be read.
. "$ROOT/tests/cli/tell"
small c.json
sed -i 's/"trials": 3/"trials": 4000/' c.json
mkdir small
run() {
    mount -t tmpfs -o size=600k none small || exit 77
    "$EVOTILE" run c.json --out small/run 2>said
    echo "status $?"
    grep -vE ': (searching on|[0-9]+ trials,|champion:) ?' said
    "$EVOTILE" board small/run 2>/dev/null | head -n 1 | grep -o '^small/run, [1-9]'
    # A run does not start on a read-only file system.
    mount -o remount,ro small
    tell run c.json --out small/other
}
export -f run tell
unshare -rm true 2>/dev/null || { echo "no namespaces here" >&2; exit 77; }
unshare -rm bash -c run
# A file size limit is reported like a full disk and kills no process.
(ulimit -f 8 && "$EVOTILE" simulate "$ROOT/tests/spaces/pnpoly_RTX_3090.json.gz" --seeds 1 --json >scores.json) 2>&1
echo "status $?"
(ulimit -f 64 && "$EVOTILE" run c.json --out limited 2>&1) | grep 'cannot write'
