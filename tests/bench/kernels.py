"""Compares products and norms with every rival, as attention.py compares attention, whose options it has: each algorithm of
cuBLASLt's heuristic, what PyTorch calls, torch.compile, cuDNN's front end. `make bench-kernels` runs it. kernel_rows.py has the rows."""
import sys

import kernel_rows

sys.modules["attention_rows"] = kernel_rows  # the same program, of other rows

import attention  # noqa: E402: it imports its rows

if __name__ == "__main__":
    attention.main()
