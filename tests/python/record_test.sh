#!/usr/bin/env bash
# evotile.record: what it writes of a call, with a stand-in for PyTorch's schemas; and, where python3 or VENV=FOLDER has PyTorch, the
# program of tests/python/record_program.py.
python=${VENV:+$VENV/bin/}python3
PYTHONDONTWRITEBYTECODE=1 exec "$python" tests/python/record.py
