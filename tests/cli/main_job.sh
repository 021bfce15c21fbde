# The main workflow on the emulated device: search, board, replay, export, replay of the export.
. "$ROOT/tests/cli/tell"
small c.json
"$EVOTILE" run c.json --trials 8 --out run 2>/dev/null
"$EVOTILE" board run 2>/dev/null | head -n 1
"$EVOTILE" board run --csv 2>/dev/null | wc -l
"$EVOTILE" board run --json 2>/dev/null | tr -d ' \n' | cut -c 1-8
"$EVOTILE" replay run >/dev/null 2>&1
echo "replay of the run: status $?"
"$EVOTILE" export run --out frozen >/dev/null 2>&1
echo "export: status $?"
ls frozen
"$EVOTILE" export run --out frozen >/dev/null 2>&1
echo "export over it: status $?"
"$EVOTILE" export run --out frozen --force >/dev/null 2>&1
echo "export over it with --force: status $?"
"$EVOTILE" replay frozen >/dev/null 2>&1
echo "replay of the folder: status $?"
"$EVOTILE" resume run 2>&1 >/dev/null | tail -n 1
