"""Kernel Tuner's tune_kernel, on evotile: change the import, and keep the rest of the script.

    from evotile_kernel_tuner import tune_kernel    # was: from kernel_tuner import tune_kernel

docs/moving.md has the differences.
"""
from .tune import tune_kernel

__all__ = ["tune_kernel"]
