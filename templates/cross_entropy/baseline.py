"""What a user would run instead of cross_entropy: PyTorch's cross_entropy, as it is and compiled. torch_baseline.py
times it."""
import torch
import torch.nn.functional as functional

NAME = "cross_entropy"


def inputs(case):
    """One label of 16 is ignored, as setup.cu has it."""
    dtype = torch.float32 if case["F32"] else torch.bfloat16
    labels = torch.randint(case["VOCABULARY"], (case["ROWS"],), device="cuda")
    labels[::16] = -100
    return torch.randn(case["ROWS"], case["VOCABULARY"], device="cuda").to(dtype), labels


def cross_entropy(logits, labels):
    """In float, as training code computes it of logits in bfloat16."""
    return functional.cross_entropy(logits.float(), labels, ignore_index=-100, reduction="none")


IMPLEMENTATIONS = {"eager": cross_entropy, "compiled": torch.compile(cross_entropy, dynamic=False)}
