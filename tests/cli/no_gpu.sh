# --device cuda:0 on a machine without a GPU.
. "$ROOT/tests/cli/tell"
if ls /dev/nvidia[0-9]* >/dev/null 2>&1; then echo "there is a GPU" >&2; exit 77; fi
small c.json
tell run c.json --device cuda:0 --out results
tell try c.json --device cuda:0
ls
