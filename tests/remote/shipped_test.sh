#!/usr/bin/env bash
# The shipped systemd unit and Slurm script: evotile accepts the options they pass, and a SIGTERM from Slurm reaches the
# worker, which the script waits for.
set -u
cd "$TMPDIR" || exit 1
failed=0
expect() { # WHAT, what grep finds in LOG
    grep -q "$2" "$3" && return
    echo "$1: '$2' is not in $3:"
    cat "$3"
    failed=1
}
# There is no GPU and no server: a connection error shows that all options were accepted.
mkdir bin
cat >bin/evotile <<X
#!/bin/bash
exec "$EVOTILE" "\${@/cuda:all/recorded}"
X
cat >bin/srun <<'X'
#!/bin/bash
while [[ $1 == --* ]]; do shift; done
trap 'kill -TERM $!' TERM # first: the task shows that it runs before this script goes on
"$@" &
wait $! || wait $!
X
chmod +x bin/*
PATH=$PWD/bin:$PATH
touch cert.pem
echo worker:secret >worker.credentials
chmod 600 worker.credentials
export EVOTILE_CA=$PWD/cert.pem EVOTILE_CREDENTIALS=$PWD/worker.credentials
unconnected="TLS\|SSL\|certificate\|cannot connect"

script=$ROOT/configs/queue/slurm-workers.sh
bash "$script" tls://localhost:1 >slurm.log 2>&1 && { echo "the script: status 0 without a server"; failed=1; }
expect "the Slurm script" "$unconnected" slurm.log
bash "$script" >usage.log 2>&1 && { echo "the script: status 0 without an address"; failed=1; }
expect "the Slurm script" "address of the queue" usage.log
cat >bin/evotile <<'X'
#!/bin/bash
trap 'echo "gave back"; exit 0' TERM
echo "$@"
for ((i = 0; i < 300; i++)); do sleep 0.1; done
exit 1
X
bash "$script" tls://head:4222 >term.log 2>&1 &
script_pid=$!
for ((tries = 0; tries < 100; tries++)); do
    grep -q "tls://head:4222" term.log && break
    sleep 0.1
done
kill -TERM $script_pid
wait $script_pid
echo "status $?" >>term.log
expect "the Slurm script" "gave back" term.log
expect "the Slurm script" "status 0" term.log

unit=$ROOT/configs/queue/evotile-worker.service
command=$(sed -n '/^ExecStart=/,/[^\\]$/p' "$unit" | sed 's/^ExecStart=//; s/\\$//' | tr '\n' ' ')
[[ $command == */bin/evotile\ worker* ]] || { echo "the unit's command: $command"; failed=1; }
command=${command//\/etc\/evotile/$PWD}
command=${command/cuda:all/recorded}
command=${command/tls:\/\/head:4222/tls:\/\/localhost:1}
# shellcheck disable=SC2086 # its words
"$EVOTILE" ${command#* } >unit.log 2>&1
expect "the unit" "$unconnected" unit.log
if command -v systemd-analyze >/dev/null; then
    sed "s|/usr/local/bin/evotile|$EVOTILE|" "$unit" >evotile-worker.service
    systemd-analyze verify ./evotile-worker.service >verify.log 2>&1 || { cat verify.log; failed=1; }
fi
exit $failed
