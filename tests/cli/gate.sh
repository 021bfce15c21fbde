# The gate for CI: right and no slower passes; slower, or wrong, is exit status 3.
. "$ROOT/tests/cli/tell"
small c.json
"$EVOTILE" run c.json --trials 8 --out run >/dev/null 2>&1
"$EVOTILE" export run --out frozen >/dev/null 2>&1
rows() { grep -E '"(passed|verdict|predicted|ratio)"' | tr -d '\t,'; }
"$EVOTILE" gate run --against run | rows
"$EVOTILE" gate run --against frozen/manifest.json | rows
"$EVOTILE" gate frozen --against run >/dev/null
echo "a frozen kernel: status $?"
"$EVOTILE" gate run:5 --against run | sed 's/"ratio":.*/"ratio":/' | rows
"$EVOTILE" gate run:5 --against run >/dev/null
echo "a slower one: status $?"
"$EVOTILE" gate run:5 --against run --tolerance 10000 >/dev/null
echo "with patience: status $?"
cp -r frozen broken
echo 'this is no CUDA;' >>broken/kernel.cu
"$EVOTILE" gate broken --against frozen 2>/dev/null | grep -E '"(passed|verdict)"' | tr -d '\t,'
tell gate run
tell gate run --against nowhere
