# A duel between two recorded kernels, on an emulated device by their predictions.
. "$ROOT/tests/cli/tell"
small c.json '"search": { "strategy": "evolve" }'
"$EVOTILE" run c.json --out run >/dev/null 2>&1
"$EVOTILE" duel run run
"$EVOTILE" duel run:1 run:2 | sed 's/  time of A .*: 0\.[0-9]* .*: A is faster/  A is faster/'
"$EVOTILE" duel run:2 run --json --blocks 20 | grep -E '"(a|b|verdict|blocks|predicted|part)"' | tr -d '\t,'
"$EVOTILE" duel run run --markdown 2>/dev/null | grep -o 'B p[59]0 [a-z]* us'
tell duel run run:999
tell duel run run:x
tell duel run
tell duel run nowhere
