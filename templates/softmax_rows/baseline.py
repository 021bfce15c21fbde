"""What a user would run instead of softmax_rows: PyTorch's softmax, as it is and compiled. torch_baseline.py times it."""
import torch

NAME = "torch.softmax"


def inputs(case):
    dtype = torch.float32 if case["F32"] else torch.float16
    return (torch.randn(case["ROWS"], case["COLS"], device="cuda", dtype=dtype),)


def softmax(x):
    return torch.softmax(x, dim=-1)


IMPLEMENTATIONS = {"eager": softmax, "compiled": torch.compile(softmax, dynamic=False)}
