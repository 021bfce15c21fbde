# Workers on a queue: the template is sent with the run, workers with another device model get a run of their own, and
# a server on another host requires credentials.
. "$ROOT/tests/cli/tell"
command -v nats-server >/dev/null || { echo "there is no nats-server: make deps-test" >&2; exit 77; }
small run.json
tell run run.json --queue nats://192.0.2.1:4222 --out none
tell worker --queue tls://192.0.2.1:4222
for name in localhost.example 127.example 127.0.0.1.example; do # which only look like the local host
    tell worker --queue "nats://$name:4222"
done
tell worker --queue nats://localhost:1
tell worker
tell worker --queue nats://localhost:1 --device emulated:sm_12
tell run run.json --queue nats://localhost:1 --device cuda:all --out none
tell run run.json --queue nats://localhost:1 --out none
echo "  " >empty
tell worker --queue nats://localhost:1 --credentials empty
chmod 600 empty
tell worker --queue nats://localhost:1 --credentials empty

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
nats-server -js -sd "$PWD/jetstream" -a 127.0.0.1 -p "$port" --auth sesame >server.log 2>&1 &
server=$!
for ((tries = 0; tries < 100; tries++)); do
    (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
    sleep 0.1
done
url=nats://127.0.0.1:$port
echo sesame >token
chmod 600 token
tell worker --queue "$url" 2>&1 | sed "s/:$port/:PORT/"

# The worker can get the template only from the queue.
(cd / && EVOTILE_TEMPLATES=/nowhere exec "$EVOTILE" worker --queue "$url" --credentials "$OLDPWD/token" --device emulated:sm_89 \
    --compile-workers 1 --device-workers 1) 2>right.log &
right=$!
"$EVOTILE" run run.json --queue "$url" --credentials token --trials 10000 --time 12s --redeliver 5s --nice --out run 2>run.log &
run=$!
until grep -q "a worker on" run.log; do sleep 0.1; kill -0 $run || break; done
for ((tries = 0; tries < 100; tries++)); do # workers are listed by host
    "$EVOTILE" watch run --once 2>/dev/null | grep -E "^workers +$(hostname | cut -c 1-16) (busy|idle) *$" >workers.txt && break
    sleep 0.1
done
wc -l <workers.txt
rm workers.txt
"$EVOTILE" worker --queue "$url" --credentials token --device emulated:sm_90,emulated:sm_80 --compile-workers 2 --device-workers 1 2>other.log &
other=$!
wait $run
echo "the run: status $?"
sed -E "s/a worker on [^:]*:/a worker on HOST:/; s/:$port/:PORT/; s/[0-9]+ trials are/some trials are/
    /champion/d; /trials?, .*\/s/d; /worker on .* left$/d" run.log | LC_ALL=C sort
for ((tries = 0; tries < 300; tries++)); do # both notice that the run has ended
    grep -q "has no more work" right.log && grep -q "not NVIDIA L4" other.log && break
    sleep 0.1
done
kill $right $other
wait $right
echo "the first worker: status $?"
wait $other
echo "the others: status $?"
head -n 2 right.log | sed -E 's/run [0-9a-f]{16}/run ID/'
grep "this worker skips run" other.log | grep "not NVIDIA L4" | sed -E 's/run [0-9a-f]{16}/run ID/' | LC_ALL=C sort
for run in run run-*; do
    "$EVOTILE" board $run --json 2>/dev/null | grep -c '"genome"' | sed "s/[1-9][0-9]*/$run: some genomes/"
    python3 -c 'import sqlite3, sys
print(*sqlite3.connect(sys.argv[1] + "/run.db").execute("SELECT value FROM meta WHERE name = \"device_name\"").fetchone())' $run
done
"$EVOTILE" report run --markdown 2>/dev/null | grep -A 4 "Trials by device" | sed -E "s|$(hostname)/|HOST/|; s/ [0-9]+ \| [0-9]+ \|/ some | some |/"
kill $server
wait $server
ls
