#!/usr/bin/env bash
# A server that listens beyond loopback, used from another network namespace as from another host: with its token and
# its certificate; not without them, and not in the clear.
set -eu
command -v ip >/dev/null && [ "$(id -u)" = 0 ] || { echo "this needs root and iproute2"; exit 77; }
name=evotile$$
ip netns add "$name" 2>/dev/null || { echo "no network namespace can be made here"; exit 77; }
server=
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    ip netns del "$name"
    ip link del "e$$" 2>/dev/null || true
}
trap finish EXIT
ip link add "e$$" type veth peer name "p$$" 2>/dev/null || { echo "no pair of network devices can be made here"; exit 77; }
ip link set "p$$" netns "$name"
ip addr add 10.213.77.1/30 dev "e$$"
ip link set "e$$" up
ip netns exec "$name" ip addr add 10.213.77.2/30 dev "p$$"
ip netns exec "$name" ip link set "p$$" up
cd "$TMPDIR"
umask 077
token=$(openssl rand -hex 16)
echo "laptop $token" >tokens.txt
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=gpuhost -addext subjectAltName=IP:10.213.77.1 \
    -keyout key.pem -out cert.pem 2>/dev/null
mkfifo hello
"$ROOT/$BUILD/tests/serve/scripted_server" config.json --listen 10.213.77.1:0 --tokens tokens.txt --tls-cert cert.pem --tls-key key.pem >hello 2>log &
server=$!
url=$(head -n 1 hello | sed 's/.*"listen":"\([^"]*\)".*/\1/')
from_laptop() { ip netns exec "$name" "$@"; }
ask() { from_laptop curl -sS --max-time 60 -o answer -w '%{http_code}\n' "$@"; }
[ "$(ask --cacert cert.pem "$url/health")" = 200 ]
[ "$(ask --cacert cert.pem "$url/definitions")" = 401 ]
[ "$(ask --cacert cert.pem -H "Authorization: Bearer $token" --json '{"solution": {"name": "plain"}}' "$url/evaluate?timeout=60")" = 200 ]
grep -q '"verdict":"ok"' answer
# A folder is of the server's host, which this client is not on.
[ "$(ask --cacert cert.pem -H "Authorization: Bearer $token" --json '{"solution": {"folder": "/etc"}}' "$url/evaluate")" = 400 ]
grep -q 'send \\"files\\"' answer
! ask "$url/health" 2>/dev/null || { echo "a certificate that nothing vouches for was taken"; exit 1; }
! ask "${url/https/http}/health" 2>/dev/null || { echo "the server answers in the clear"; exit 1; }
PYTHONPATH=$ROOT/python from_laptop python3 - "$url" "$token" <<'PYTHON'
import sys
import time
from evotile import Client
with Client(sys.argv[1], token=sys.argv[2], ca="cert.pem") as client:
    client.health()
    start, count = time.monotonic(), 500
    for at in range(count):
        assert client.evaluate(solution="plain", genome=f"at={at}").data["request"]["genome"] == f"at={at}"
    print(f"{count / (time.monotonic() - start):.0f} evaluations/s over TLS from another network namespace, one after another")
PYTHON
kill "$server"
wait "$server"
server=
