# The program of wisdom/example.c, built once against a driver that launches nothing, runs faster kernels from later
# files. The device is said to be an H200; the figures are predictions for the emulated one.
. "$ROOT/tests/cli/tell"
export EVOTILE_WISDOM=wisdom.db
cuda=${CUDA_HOME:-/usr/local/cuda}
config() { echo "{ \"template\": \"softmax_rows\", \"cases\": [ $2 ], \"genes\": { $3 }, \"device\": \"emulated:sm_90\" }" >"$1"; }
config slow.json '{ "ROWS": 4, "COLS": 40 }' '"THREADS": [256], "ROW_THREADS": [32], "VECTOR": [1], "KEEP": [0], "UNROLL": [1]'
config fast.json '{ "ROWS": 4, "COLS": 40 }, { "ROWS": 64, "COLS": 40 }' '"THREADS": [32], "ROW_THREADS": [32], "VECTOR": [2], "KEEP": [8], "UNROLL": [1]'
for name in slow fast; do "$EVOTILE" run $name.json --trials 2 --out $name >/dev/null 2>&1; done
gcc -std=gnu11 -fPIC -shared -I"$ROOT/tests" -I"$cuda/include" -Wl,-soname,libcuda.so.1 -o libcuda.so.1 "$ROOT/tests/wisdom/stand_in_cuda.c"
ln -s libcuda.so.1 libcuda.so
gcc -std=gnu11 -Wall -Wextra -Werror -I"$cuda/include" -o example "$ROOT"/wisdom/{example.c,evotile_wisdom.c} -L. -lcuda -ldl -lm -lpthread
example() { echo "\$ example $*"; LD_LIBRARY_PATH=. ./example "$@" 2>&1 || echo "status $?"; }

"$EVOTILE" wisdom add slow 2>/dev/null && "$EVOTILE" wisdom pack -o app.wisdom 2>/dev/null
example app.wisdom 4 40
example app.wisdom 64 40
"$EVOTILE" wisdom add fast 2>/dev/null && "$EVOTILE" wisdom pack -o app.wisdom 2>/dev/null
example app.wisdom 4 40
example app.wisdom 64 40
example app.wisdom 100000 40
example app.wisdom 4 -1
example fast.json 4 40
example nowhere.wisdom 4 40

# The library, as a stranger builds it: shared, and from C++ without a warning. It needs the C library alone, or a
# sanitizer, which needs more itself.
readelf -d "$ROOT/$BUILD/wisdom/libevotile_wisdom.so" | grep NEEDED | grep -v -e libc.so -e libm.so -e ld-linux -e libdl -e libpthread -e san || true
nm -D --defined-only "$ROOT/$BUILD/wisdom/libevotile_wisdom.so" | awk '$3 !~ /^evotile_wisdom_/ && $2 == "T" { print "exported:", $3 }'
echo '#include "evotile_wisdom.h"
int main() { evotile_wisdom_choice choice{}; return choice.how == EVOTILE_WISDOM_EXACT && evotile_wisdom_real(0.0f) == 0 ? 0 : 1; }' >user.cpp
g++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -I"$ROOT/wisdom" -o user user.cpp && ./user && echo 'C++ without warnings'
