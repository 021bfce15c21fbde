#!/usr/bin/env bash
# Compares the templates' CPU references, which verify their GPU references (evaluate/reference_test.c), with
# PyTorch's operations. Skipped if PyTorch is not installed.
set -euo pipefail
python3 -c 'import torch' 2>/dev/null || exit 77
python3 -W ignore tests/templates/pytorch_test.py templates "${CC:-cc}" "$TMPDIR"
