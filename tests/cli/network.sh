# A run on a network file system logs that and uses a rollback journal, because a write-ahead log is not safe there;
# all verbs work on it. A preloaded statfs reports NFS for every folder.
. "$ROOT/tests/cli/tell"
gcc -shared -fPIC -o nfs.so -x c - <<'C' || exit 1
#include <linux/magic.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>
int statfs(const char *path, struct statfs *status)
{
    int result = (int)syscall(SYS_statfs, path, status);
    status->f_type = NFS_SUPER_MAGIC;
    return result;
}
C
on_nfs() { # COMMAND ...: AddressSanitizer must accept the library that is loaded before it
    ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 LD_PRELOAD=$PWD/nfs.so "$@"
}
journal() { # prints the database's journal mode (1 1: rollback, 2 2: write-ahead log) and its files
    od -An -tu1 -j18 -N2 "$1/run.db"
    ls "$1" | grep '^run\.db'
}
small c.json
sed -i 's/"trials": 3/"time": "60s"/' c.json

# Starts a run, lists its files while it stores trials, and interrupts it.
pass() { # FOLDER COMMAND-PREFIX ...
    local folder=$1
    shift
    "$@" "$EVOTILE" run c.json --out "$folder" 2>said &
    local run=$!
    wait_for "$folder"
    journal "$folder"
    kill -INT $run
    wait $run
    echo "status $?"
    grep -c 'network file system' said
    ls "$folder" | grep '^run\.db'
}
echo "here:"
pass here env
echo "on NFS:"
pass there on_nfs exec
grep 'network file system' said
on_nfs exec "$EVOTILE" resume there --trials 1000000 2>again &
resumed=$!
while kill -0 $resumed && ! grep -qs "trials," again; do sleep 0.1; done
journal there
kill -INT $resumed
wait $resumed
echo "resumed: status $?"
ls there | grep '^run\.db'
on_nfs "$EVOTILE" board there --top 1 | head -n 1
