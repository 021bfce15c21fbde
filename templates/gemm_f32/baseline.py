"""What a user would run instead of gemm_f32: cuBLAS by PyTorch's matmul, in float without TF32, as it is and compiled.
torch_baseline.py times it."""
import torch

NAME = "matmul in float"

torch.backends.cuda.matmul.allow_tf32 = False  # ten bits of each number would be dropped


def inputs(case):
    return (torch.randn(case["M"], case["K"], device="cuda"), torch.randn(case["K"], case["N"], device="cuda"))


IMPLEMENTATIONS = {"eager": torch.matmul, "compiled": torch.compile(torch.matmul, dynamic=False)}
