#!/usr/bin/env bash
# An export of attention_fwd as operators of PyTorch, compiled and through ctypes, and as a function of JAX, on a GPU:
# searches for SEARCH_S (60) seconds, exports, builds and runs torch_operators.py, which prints a table. Skipped without a GPU or
# PyTorch 2.10; JAX is optional.
#
#   tests/gpu/frameworks_test.sh            PYTHON=python3 with torch and perhaps jax; OUT=FOLDER keeps the exported folder;
#                                           TEMPLATE=attention_fwd/mma for other GPUs than Hopper
#   tests/gpu/frameworks_test.sh FOLDER     of an export --with torch (or torch,jax) that is there already
set -eu
cd "$(dirname "$0")/../.."
here=$PWD
python=${PYTHON:-python3}
export EVOTILE=${EVOTILE:-$PWD/build/evotile} EVOTILE_TEMPLATES=$PWD/templates EVOTILE_DEVICES=$PWD/configs/devices
version=$("$python" -c 'import torch; assert torch.cuda.is_available(); print(*torch.__version__.split(".")[:2])' 2>/dev/null) ||
    { echo "$python has no PyTorch that finds a GPU"; exit 77; }
read -r major minor <<<"$version"
((major > 2 || minor >= 10)) || { echo "PyTorch is older than 2.10"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

folder=${1:-${OUT:-$work}/attention}
if [[ $# == 0 ]]; then
    cases=
    for d in 64 128; do
        for causal in 0 1; do
            for bf16 in 0 1; do
                for shape in '1, "H": 1, "S": 128' '4, "H": 32, "S": 2048'; do
                    cases+="${cases:+, }{ \"B\": $shape, \"D\": $d, \"CAUSAL\": $causal, \"BF16\": $bf16 }"
                done
            done
        done
    done
    # One genome for all: what it has verified is the range of all of them.
    echo "{ \"template\": \"${TEMPLATE:-attention_fwd/hopper}\", \"limits\": { \"smem_bytes\": 232448 }, \"objective\": \"joint\", \"cases\": [ $cases ] }" >"$work/c.json"
    "$EVOTILE" run "$work/c.json" --time "${SEARCH_S:-60}s" --out "$work/run" >"$work/log" 2>&1 &&
        "$EVOTILE" export "$work/run" --unchecked --with torch,jax --force --out "$folder" >>"$work/log" 2>&1 ||
        { tail -20 "$work/log"; exit 1; }
fi
name=$(basename "$folder")
make -s -C "$folder" shared torch PYTHON="$python" || exit 1
"$python" "$here/tests/gpu/torch_operators.py" "$folder"

mkdir -p "$work/ctypes/$name"
cp "$folder/$name.py" "$folder/${name}_ctypes.py" "$folder/lib$name.so" "$work/ctypes/$name"
"$python" "$here/tests/gpu/torch_operators.py" "$work/ctypes/$name"

if "$python" -c 'import jax; assert jax.default_backend() == "gpu"' 2>/dev/null; then
    make -s -C "$folder" jax PYTHON="$python"
    "$python" "$here/tests/gpu/jax_function.py" "$folder"
else
    echo "JAX: not checked: $python has none that finds a GPU"
fi
