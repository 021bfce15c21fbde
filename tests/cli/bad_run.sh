# Runs that were edited, belong to another device or block a new run; and kernels that cannot be compared.
. "$ROOT/tests/cli/tell"
small c.json '"search": { "strategy": "evolve" }'
"$EVOTILE" run c.json --out run >/dev/null 2>&1
"$EVOTILE" export run --out frozen >/dev/null 2>&1
long=$(printf 'x%.0s' {1..5000})
# An installed tool that fails.
mkdir bin
printf '#!/bin/sh\necho "%s: I will not" >&2\nexit 1\n' compute-sanitizer >bin/compute-sanitizer
chmod +x bin/compute-sanitizer
changed() { # NAME: a copy of the run
    rm -rf "$1"
    cp -r run "$1"
}

mkdir folder && touch folder/config.json
tell run c.json --out folder
changed run2 && rm run2/config.json
tell resume run2 --trials 9
changed run2 && rm -r run2/template/softmax_rows
tell resume run2 --trials 9
changed run2 && echo >>run2/template/softmax_rows/kernel.cu
tell resume run2 --trials 9
changed run2 && echo 'this is no CUDA;' >>run2/template/softmax_rows/kernel.cu
tell export run2 --out elsewhere
tell resume run --trials 9 --device emulated:sm_90
for line in '{"kind": "toaster"}' '{"kind": "failure", "text": "no device either", "input": false}'; do
    changed run2
    python3 -c 'import sqlite3, sys
with sqlite3.connect("run2/run.db") as run:
    run.execute("UPDATE meta SET value = ? WHERE name = \"device_info\"", sys.argv[1:])' "$line"
    tell resume run2 --trials 9
    tell export run2 --out elsewhere
done

cp -r frozen broken
echo 'this is no CUDA;' >>broken/kernel.cu
tell duel broken frozen
tell profile broken --json
sed 's/"COLS": 40/"COLS": 50/' c.json >other.json
"$EVOTILE" run other.json --out other >/dev/null 2>&1
tell duel run other
tell duel run run --json --markdown
tell duel run "$long" | sed "s/$long/LONG/"
TMPDIR=/nowhere tell replay frozen
tell try c.json --goal 3
PATH=$PWD/bin:$PATH tell sanitize run
tell record c.json --trials 1 --out .json
(mkdir -p results && cd results && mkdir c && seq -f 'c-%.0f' 2 9999 | xargs mkdir)
tell run c.json
rm -r results

# Initial genomes.
many() { printf 'THREADS=32;%.0s' $(seq "$1"); }
"$EVOTILE" run c.json --out warm --seed-genome "$(many 65)" 2>&1
echo "65: status $?"
"$EVOTILE" run c.json --out warm --seed-genome "THREADS=$(printf '%05000d' 32)" 2>&1
echo "too long: status $?"

# Values of options.
tell run c.json --trials -1
tell run c.json --trials 1x
tell run c.json --device emulated:sm_89,emulated:sm_89 --compile-workers 300 --out many
tell run c.json --target fast
tell run c.json --target 1e999
tell run c.json --target-ratio -1
tell run c.json --target 0
tell run c.json --max-temperature 4294967376
tell resume run --max-temperature 151
tell resume run --target -1
tell run c.json --verbose=yes
tell board run --top
for verb in replay profile ablate; do tell $verb run --rank 0; done
tell export run --rank 0 --out kernel

# simulate
space=$ROOT/tests/spaces/pnpoly_RTX_3090.json.gz
printf '{"tune_params_keys": ["a"], "cache": {"1": {"a": 1, "time": "CompilationFailedConfig"}, "2": {"a": 2, "time": 1.5}}}' >failed.json
tell simulate failed.json --against a=1 --strategy random
"$EVOTILE" simulate "$space" --strategy "$(printf 'random,%.0s' {1..40})" 2>&1
tell simulate failed.json --seeds 0
"$EVOTILE" simulate failed.json --strategy random --seeds 1 --trials 2 --picture "$long" 2>&1 >/dev/null
echo "status $?"
