"""What a user would run instead of convolution_2d: cuDNN by PyTorch's conv2d, in float without TF32, as it is and
compiled. torch_baseline.py times it."""
import torch
import torch.nn.functional as functional

NAME = "conv2d in float"

torch.backends.cudnn.allow_tf32 = False  # ten bits of each number would be dropped
torch.backends.cudnn.benchmark = True  # the fastest algorithm that cuDNN has for the shape


def inputs(case):
    side = 2 * case["R"] + 1
    return (torch.randn(1, 1, case["H"], case["W"], device="cuda"), torch.randn(1, 1, side, side, device="cuda"))


def convolve(image, taps):
    return functional.conv2d(image, taps, padding=taps.shape[-1] // 2)


IMPLEMENTATIONS = {"eager": convolve, "compiled": torch.compile(convolve, dynamic=False)}
