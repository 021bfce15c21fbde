#!/usr/bin/env bash
# The tests of a server's judge (evaluation_judge_test.c) with its workers on a queue; EVOTILE_LONG=1: also the attempts to get
# out of a worker (break_out_test.c).
command -v nats-server >/dev/null || { echo "there is no nats-server: make deps-test"; exit 77; }
TMPDIR=${TMPDIR:-/tmp}
folder=$(mktemp -d "$TMPDIR/evotile-queued-XXXXXX")
nats-server -js -sd "$folder/jetstream" -a 127.0.0.1 -p -1 --ports_file_dir "$folder" -l "$folder/server.log" &
server=$!
trap 'kill $server $worker 2>/dev/null; wait; rm -rf "$folder"' EXIT
until url=$(jq -r '.nats[0]' "$folder"/*.ports 2>/dev/null) && [ -n "$url" ]; do
    kill -0 $server || exit 1
    sleep 0.05
done
export EVOTILE_INTERVALS=run_poll=0.2,heartbeat=0.2,describe=0.5
failed=0
for part in evaluation_judge ${EVOTILE_LONG:+break_out}; do
    mkdir -p "$folder/home"
    HOME=$folder/home XDG_CACHE_HOME=$folder/home/cache "$EVOTILE" worker --queue "$url" --device emulated:sm_90 --compile-workers 1 \
        2>"$folder/worker.log" &
    worker=$!
    SERVE_QUEUE=$url "$BUILD/tests/serve/${part}_test" >"$folder/$part.log" 2>&1 || { failed=1; cat "$folder/$part.log" "$folder/worker.log"; }
    kill $worker
    wait $worker
done
exit $failed
