"""What a user would run instead of add_rms_norm: PyTorch's addition in place and rms_norm, as they are and compiled.
torch_baseline.py times it."""
import torch
import torch.nn.functional as functional

NAME = "add_ and rms_norm"


def inputs(case):
    dtype = torch.bfloat16 if case["BF16"] else torch.float16
    x, residual = (torch.randn(case["ROWS"], case["COLS"], device="cuda").to(dtype) for _ in range(2))
    return x, residual, torch.randn(case["COLS"], device="cuda").to(dtype), case["EPSILON"]


def add_rms_norm(x, residual, weight, epsilon):
    x.add_(residual)
    return functional.rms_norm(x, weight.shape, weight, epsilon)


IMPLEMENTATIONS = {"eager": add_rms_norm, "compiled": torch.compile(add_rms_norm, dynamic=False)}
