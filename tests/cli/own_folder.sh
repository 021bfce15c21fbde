# A template in a folder of the user's own includes the library; a config names it by its path.
. "$ROOT/tests/cli/tell"
mkdir -p place/mine/kernels elsewhere
cp -r "$ROOT/tests/templates/scaled_add" place/mine/kernels/
sed -i '1i #include "lib/pdl.cuh"' place/mine/kernels/scaled_add/kernel.cu
for name in ./kernels/scaled_add kernels/scaled_add "$PWD/place/mine/kernels/scaled_add" ./kernels/none; do
    cat >place/mine/c.json <<JSON
{ "template": "$name", "device": "emulated:sm_90", "cases": [{"ROWS": 3, "COLS": 40}] }
JSON
    echo "${name#"$PWD"}: $("$EVOTILE" space place/mine/c.json 2>&1 | tail -n 1)"
done
sed -i 's/none/scaled_add/' place/mine/c.json
cd elsewhere || exit 1
"$EVOTILE" try ../place/mine/c.json --json | jq -r .verdict
"$EVOTILE" run ../place/mine/c.json --trials 2 --compile-workers 1 --out run >/dev/null 2>&1
tell export run --out frozen | tail -n 1
ls -d run/template/lib frozen/template/lib
# Both have their own copy of the library.
EVOTILE_TEMPLATES=/nowhere "$EVOTILE" replay frozen --json | jq -c '[.rows[].passed]'
sed -i 's|lib/pdl.cuh|lib/none.cuh|' ../place/mine/kernels/scaled_add/kernel.cu
tell try ../place/mine/c.json | tail -n 2
