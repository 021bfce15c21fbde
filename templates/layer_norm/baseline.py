"""What a user would run instead of layer_norm: PyTorch's layer_norm, as it is and compiled. torch_baseline.py times it."""
import torch
import torch.nn.functional as functional

NAME = "layer_norm"


def inputs(case):
    dtype = torch.float32 if case["F32"] else torch.bfloat16
    weight, bias = (torch.randn(case["COLS"], device="cuda").to(dtype) for _ in range(2))
    return torch.randn(case["ROWS"], case["COLS"], device="cuda").to(dtype), weight, bias, case["EPSILON"]


def layer_norm(x, weight, bias, epsilon):
    return functional.layer_norm(x, weight.shape, weight, bias, epsilon)


IMPLEMENTATIONS = {"eager": layer_norm, "compiled": torch.compile(layer_norm, dynamic=False)}
