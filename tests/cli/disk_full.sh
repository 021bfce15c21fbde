# A disk that fills up stops the run with one line; what was stored can still be read.
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
    # Nor does it begin on one that is read-only.
    mount -o remount,ro small
    tell run c.json --out small/other
}
export -f run tell
unshare -rm true 2>/dev/null || { echo "no namespaces here" >&2; exit 77; }
unshare -rm bash -c run
# A limit of file sizes is told like a full disk, and kills nobody.
(ulimit -f 8 && "$EVOTILE" simulate "$ROOT/tests/spaces/pnpoly_RTX_3090.json.gz" --seeds 1 --json >scores.json) 2>&1
echo "status $?"
(ulimit -f 64 && "$EVOTILE" run c.json --out limited 2>&1) | grep 'cannot write'
