"""What a user would run instead of transpose: PyTorch's copy of a transposed view, as it is and
compiled. torch_baseline.py times it."""
import torch

NAME = "transposed copy"


def inputs(case):
    dtype = torch.float32 if case["F32"] else torch.float16
    return (torch.randn(case["ROWS"], case["COLS"], device="cuda", dtype=dtype),)


def transposed(x):
    return x.t().contiguous()


IMPLEMENTATIONS = {"eager": transposed, "compiled": torch.compile(transposed, dynamic=False)}
