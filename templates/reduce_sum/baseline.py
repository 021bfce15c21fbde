"""What a user would run instead of reduce_sum: PyTorch's sum, as it is and compiled. torch_baseline.py times it."""
import torch

NAME = "torch.sum"


def inputs(case):
    return (torch.randn(case["N"], device="cuda"),)


def total(x):
    return x.sum()


IMPLEMENTATIONS = {"eager": total, "compiled": torch.compile(total, dynamic=False)}
