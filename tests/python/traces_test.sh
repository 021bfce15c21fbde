#!/usr/bin/env bash
# evotile.flashinfer and evotile.kernelbench on the emulated device. The references run in PyTorch if a python3 with NumPy has it,
# else over the stand-in of tests/python/standin. With EVOTILE_LONG=1 the Traces are validated by flashinfer-bench's own models, which
# are downloaded then.
set -euo pipefail
python=python3
"$python" -c 'import numpy' 2>/dev/null || python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || exit 77
export PYTHONPATH=$ROOT/python${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1
"$python" -c 'import torch' 2>/dev/null || export PYTHONPATH=$PYTHONPATH:$ROOT/tests/python/standin
models= status=0
if [ "${EVOTILE_LONG:-0}" = 1 ]; then
    models=$TMPDIR/models/bin/python
    python3 -m venv "$TMPDIR/models" && "$TMPDIR/models/bin/pip" -q install pydantic &&
        "$TMPDIR/models/bin/pip" -q install --no-deps flashinfer-bench==0.1.2 || { models= status=77; }
fi
"$python" tests/python/traces.py "$python" "$TMPDIR" ${models:+"$models"}
exit $status # 77: right, but the models could not be had
