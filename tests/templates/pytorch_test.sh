#!/usr/bin/env bash
# The templates' CPU references, by which their GPU references are tested (trial/reference_test.c), against
# PyTorch's own operations. Skipped where PyTorch is not installed.
set -euo pipefail
python3 -c 'import torch' 2>/dev/null || exit 77
python3 -W ignore tests/templates/pytorch_test.py templates "${CC:-cc}" "$TMPDIR"
