#!/usr/bin/env bash
# The shipped server configuration: coordinator and worker connect over TLS as different users; the worker's user cannot
# put a run, and therefore no template, on the queue. Also NKeys: a seed without its key is not sent as a token.
set -u
for program in nats-server openssl; do
    command -v $program >/dev/null || { echo "there is no $program: make deps-test"; exit 77; }
done
cd "$TMPDIR" || exit 1
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
    -keyout key.pem -out cert.pem 2>/dev/null || exit 1
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
sed "s|/etc/evotile|$PWD|; s|/var/lib/evotile|$PWD|; s|^port: 4222|port: $port|; s|CHANGE-ME-1|one|; s|CHANGE-ME-2|two|" \
    "$ROOT/configs/queue/nats-server.conf" >server.conf
nats-server -c server.conf -a 127.0.0.1 >server.log 2>&1 &
server=$!
worker=
trap 'kill $server $worker 2>/dev/null' EXIT
for ((tries = 0; tries < 100; tries++)); do
    (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
    sleep 0.1
done
umask 077
echo coordinator:one >coordinator
echo worker:two >worker
failed=0
expect() { # WHAT, what grep finds in LOG
    grep -q "$2" "$3" && return
    echo "$1: '$2' is not in $3:"
    tail -n 20 "$3" server.log
    failed=1
}
to=(--queue "tls://localhost:$port" --ca cert.pem --credentials)
space=recorded:$ROOT/tests/spaces/pnpoly_RTX_3090.json.gz
"$EVOTILE" worker "${to[@]}" worker --device recorded 2>worker.log &
worker=$!
timeout 60 "$EVOTILE" run "$space" --trials 60 "${to[@]}" coordinator --out run 2>run.log
expect "a run" "60 trials are stored" run.log
expect "its worker" "working for run" worker.log
kill $worker
wait $worker
cat >served.json <<'JSON'
{ "template": "softmax_rows", "cases": [ { "ROWS": 4, "COLS": 40 } ] }
JSON
"$EVOTILE" worker "${to[@]}" worker --device emulated:sm_89 --compile-workers 1 --device-workers 1 2>server_worker.log &
worker=$!
echo '{"type": "evaluate", "solution": {"name": "softmax_rows"}, "level": "static"}' |
    timeout 60 "$EVOTILE" serve served.json "${to[@]}" coordinator >answers.jsonl 2>serve.log
expect "a server" '"verdict":"ok"' answers.jsonl
grep Violation server.log && { echo "the server's permissions rejected a regular run or server"; failed=1; }
timeout 30 "$EVOTILE" run "$space" --trials 60 "${to[@]}" worker --out theft 2>theft.log &&
    { echo "a worker's user could put a run on the queue"; failed=1; }
expect "a worker's run" "evotile: the queue accepts no files\|the run cannot be put on the queue\|cannot use JetStream" theft.log
expect "a worker's run" 'Publish Violation - User "worker", Subject "$KV.evotile_files' server.log
timeout 30 "$EVOTILE" worker --queue "nats://localhost:$port" --ca cert.pem --device recorded 2>plain.log
expect "without credentials" "cannot connect" plain.log
timeout 30 "$EVOTILE" worker --queue "tls://localhost:$port" --credentials worker --device recorded 2>no_ca.log
expect "its own certificate" "cannot trust the queue's server: .*--ca FILE: .*self-signed" no_ca.log
plain_port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
nats-server -js -sd "$PWD/plain" -a 127.0.0.1 -p "$plain_port" --auth sesame >plain_server.log 2>&1 &
plain_server=$!
trap 'kill $server $plain_server $worker 2>/dev/null' EXIT
echo sesame >token
for ((tries = 0; tries < 100; tries++)); do
    (: <"/dev/tcp/127.0.0.1/$plain_port") 2>/dev/null && break
    sleep 0.1
done
timeout 10 "$EVOTILE" worker --queue "tls://localhost:$plain_port" --credentials token --device recorded 2>no_tls.log
expect "tls:// to a server without TLS" "Secure Connection not available" no_tls.log
# Generated for this test. This server has no JetStream: that error shows that the login succeeded.
key=UCLQO2U4LC5LJDNUAEI3OEOQSBEFIXLMJPRIZAXFGAECI6YAOQ36PMTY
seed=SUAFEJZO2U4YKYI6UTU2RGUNI336MPQO5QR5LQQL4YEM3PYLGM2BU4BL6Q
nkey_port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
echo "authorization { users: [ { nkey: $key } ] }" >nkey.conf
nats-server -c nkey.conf -a 127.0.0.1 -p "$nkey_port" >nkey_server.log 2>&1 &
nkey_server=$!
trap 'kill $server $plain_server $nkey_server $worker 2>/dev/null' EXIT
for ((tries = 0; tries < 100; tries++)); do
    (: <"/dev/tcp/127.0.0.1/$nkey_port") 2>/dev/null && break
    sleep 0.1
done
as_nkey() { # LOG: logs in with the NKey on standard input
    cat >nkey
    timeout 30 "$EVOTILE" worker --queue "nats://localhost:$nkey_port" --credentials nkey --device recorded --idle 1s 2>"$1"
}
printf '%s\n' $key $seed | as_nkey nkey.log
expect "an NKey" "cannot use JetStream on the queue's server" nkey.log
printf '%s\n' "# the seed first" $seed $key | as_nkey nkey_reversed.log
expect "an NKey, its seed first" "cannot use JetStream on the queue's server" nkey_reversed.log
printf '%s\n' $key "${seed/%????/AAAA}" | as_nkey nkey_false.log
expect "a seed that is none" "invalid checksum" nkey_false.log
echo $seed | as_nkey nkey_seed.log
expect "a seed alone" "nkey holds only an NKey's seed: it must hold both" nkey_seed.log
echo $key | as_nkey nkey_key.log
expect "a key alone" "nkey holds only an NKey's public key: it must hold both" nkey_key.log
kill $worker
wait $worker || { echo "the worker: status $?"; failed=1; }
exit $failed
