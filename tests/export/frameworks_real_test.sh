#!/usr/bin/env bash
# An export's operators with the real PyTorch and JAX, in a virtual environment of its own under $TMPDIR: only with
# EVOTILE_LONG=1, because it downloads them. Skipped where that fails. They run on the CPU, with launchers that stand in for
# the kernels.
#
#   tests/export/frameworks_real_test.sh      VENV=FOLDER: use this environment, make it if it is missing
set -eu
cd "$(dirname "$0")/../.."
[[ ${EVOTILE_LONG:-0} == 1 ]] || { echo "downloads PyTorch and JAX: only with EVOTILE_LONG=1"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
venv=${VENV:-$work/venv}
here=$PWD/tests/export/frameworks
export EVOTILE=${EVOTILE:-$PWD/build/evotile} EVOTILE_TEMPLATES=$PWD/templates EVOTILE_DEVICES=$PWD/configs/devices
[[ -x $venv/bin/pip ]] || python3 -m venv "$venv" || { echo "python3 has no venv: apt install python3-venv"; exit 77; }
"$venv/bin/python" -c 'import torch, jax' 2>/dev/null ||
    "$venv/bin/pip" install -q --disable-pip-version-check -r "$here/packages.txt" >"$work/pip.log" 2>&1 ||
    { echo "PyTorch and JAX cannot be installed here:"; tail -5 "$work/pip.log"; exit 77; }

cd "$work"
cuda=${CUDA_HOME:-/usr/local/cuda}/include
packages=$("$venv/bin/python" -c 'import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))')
torch=$packages/torch
flags="-O1 -Wall -Wextra -Wno-missing-field-initializers -Werror -fPIC -isystem $cuda"

# export_it NAME TEMPLATE CASE
export_it() {
    echo "{ \"template\": \"$2\", \"cases\": [ $3 ], \"device\": \"emulated:sm_90\", \"budget\": { \"trials\": 1 } }" >"$1.json"
    { "$EVOTILE" run "$1.json" --out "run_$1" && "$EVOTILE" export "run_$1" --with torch,jax --out "$1"; } >log 2>&1 ||
        { cat log; exit 1; }
}

# libNAME.so in a folder, with a launcher that stands in: stand_in NAME FOLDER SOURCE
stand_in() {
    mkdir -p "$2"
    gcc -std=gnu11 $flags -DNAME="$1" -DHEADER="$1.h" -I"$1" -shared -o "$2/lib$1.so" "$here/$3" "$1/$1_call.c" -lm
}

# NAME.py whose operators take tensors of the CPU: module_for_cpu NAME FOLDER
module_for_cpu() {
    cp "$1/$1_ctypes.py" "$2"
    sed -e 's/not \(.*\)\.is_cuda/not \1.is_cpu/' -e 's/, "CUDA")/, "CPU")/' \
        -e 's/return torch.cuda.device(device)/import contextlib; return contextlib.nullcontext()/' \
        -e 's/return torch.cuda.current_stream(device).cuda_stream/return 0x5eed/' "$1/$1.py" >"$2/$1.py"
}

export_it att attention_fwd '{ "B": 1, "H": 1, "S": 64, "D": 64 }'
stand_in att through_ctypes attention_stand_in.c
module_for_cpu att through_ctypes
"$venv/bin/python" "$here/torch_program.py" through_ctypes att ctypes

mkdir compiled
module_for_cpu att compiled
gcc -std=gnu11 $flags -DNAME=att -DHEADER=att.h -Iatt -c -o stand_in.o "$here/attention_stand_in.c"
gcc -std=c11 $flags -c -o call.o att/att_call.c
g++ -std=c++17 $flags -shared -DATT_DISPATCH_KEY=CPU -DTORCH_TARGET_VERSION=0x020a000000000000 -DUSE_CUDA \
    -isystem "$torch/include" -Iatt -o compiled/libatt_torch.so att/att_torch.cpp "$here/torch_cpu.cpp" stand_in.o call.o \
    -L"$torch/lib" -ltorch_cpu -lm
"$venv/bin/python" "$here/torch_program.py" compiled att compiled

stand_in att jax attention_stand_in.c
cp att/att_ctypes.py jax
sed 's/_platform = "CUDA"/_platform = "cpu"/' att/att_jax.py >jax/att_jax.py
xla=$("$venv/bin/python" -c 'import jax; print(jax.ffi.include_dir())')
g++ -std=c++17 $flags -fsyntax-only -isystem "$xla" -Iatt att/att_jax.cpp
g++ -std=c++17 $flags -shared -DATT_ON_HOST -isystem "$xla" -Iatt -o jax/libatt_jax.so att/att_jax.cpp -Ljax -latt -Wl,-rpath,'$ORIGIN'
JAX_PLATFORMS=cpu "$venv/bin/python" "$here/jax_program.py" jax att

export_it rms add_rms_norm '{ "ROWS": 4, "COLS": 64 }'
stand_in rms in_place stub.c
module_for_cpu rms in_place
"$venv/bin/python" "$here/in_place_program.py" in_place rms

# The wheel has what the environment has, and a fresh one takes it.
if command -v "${NVCC:-nvcc}" >/dev/null; then
    make -s -C att wheel PYTHON="$venv/bin/python" >log 2>&1 || { cat log; exit 1; }
    python3 -m venv fresh
    fresh/bin/pip install -q --disable-pip-version-check --no-index att/dist/att-*.whl
    ls fresh/lib/python*/site-packages/att/*.so | sed 's|.*/||' | tr '\n' ' ' | grep -qx 'libatt.so libatt_jax.so libatt_torch.so '
    echo "wheel: installed"
fi
