# A server whose workers are on a queue: what it takes beside --queue, and an answer on its pipe. Its worker has neither the
# problem nor the solution but from the queue.
. "$ROOT/tests/cli/tell"
command -v nats-server >/dev/null || { echo "there is no nats-server: make deps-test" >&2; exit 77; }
small c.json
tell serve c.json --queue nats://192.0.2.1:4222
tell serve c.json --queue nats://localhost:1
tell serve c.json --queue nats://localhost:1 --device emulated:sm_89
tell serve c.json --queue nats://localhost:1 --compile-workers 2
tell serve c.json --credentials token
tell serve c.json --ca cert.pem
tell serve c.json --insecure
tell serve c.json --redeliver 5s

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
nats-server -js -sd "$PWD/jetstream" -a 127.0.0.1 -p "$port" --auth sesame >server.log 2>&1 &
server=$!
for ((tries = 0; tries < 100; tries++)); do
    (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
    sleep 0.1
done
to=(--queue "nats://127.0.0.1:$port" --credentials token)
echo sesame >token
chmod 600 token
(cd / && EVOTILE_TEMPLATES=/nowhere exec "$EVOTILE" worker --queue "nats://127.0.0.1:$port" --credentials "$OLDPWD/token" \
    --device emulated:sm_89 --compile-workers 0 --device-workers 1) 2>worker.log &
worker=$!
timeout 60 "$EVOTILE" serve c.json "${to[@]}" 2>serve.log <<'JSON' | jq -c '[.type, .id, .answer.verdict, .answer.level, .answer.predicted]'
{"type": "evaluate", "id": 1, "solution": {"name": "softmax_rows"}, "level": "device"}
JSON
sed -E "s/a worker on [^:]*:/a worker on HOST:/; s/:$port/:PORT/" serve.log
for ((tries = 0; tries < 300; tries++)); do
    grep -q "has no more work" worker.log && break
    sleep 0.1
done
kill $worker
wait $worker
echo "the worker: status $?"
sed -E 's/run [0-9a-f]{16}/run ID/' worker.log
kill $server
wait $server
ls
