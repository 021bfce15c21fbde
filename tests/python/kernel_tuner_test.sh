#!/usr/bin/env bash
# python/evotile_kernel_tuner on the emulated device, in a python3 that has NumPy. Where kernel_tuner is installed, or VENV=FOLDER names an
# environment that has it, signatures, spaces and grids are compared with Kernel Tuner's own. With EVOTILE_LONG=1 it is downloaded.
set -euo pipefail
python=python3
"$python" -c 'import numpy' 2>/dev/null || python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || { echo "needs NumPy: apt install python3-numpy"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
status=0
if [[ -n ${VENV:-} ]]; then
    python=$VENV/bin/python
elif [[ ${EVOTILE_LONG:-0} == 1 ]]; then
    python3 -m venv "$TMPDIR/venv" && "$TMPDIR/venv/bin/pip" -q install --disable-pip-version-check -r tests/python/kernel_tuner.txt &&
        python=$TMPDIR/venv/bin/python || status=77
fi
"$python" tests/python/kernel_tuner.py
exit $status # 77: right, but Kernel Tuner could not be had
