"""What a user would run instead of add_rms_norm: PyTorch's addition in place and rms_norm, as they are and compiled, and
with the norm of cuDNN's front end. torch_baseline.py times it."""
import torch
import torch.nn.functional as functional

import cudnn_graph

NAME = "add_ and rms_norm"
PACKAGES = cudnn_graph.PACKAGES


def inputs(case):
    dtype = torch.bfloat16 if case["BF16"] else torch.float16
    x, residual = (torch.randn(case["ROWS"], case["COLS"], device="cuda").to(dtype) for _ in range(2))
    return x, residual, torch.randn(case["COLS"], device="cuda").to(dtype), case["EPSILON"]


def add_rms_norm(x, residual, weight, epsilon):
    x.add_(residual)
    return functional.rms_norm(x, weight.shape, weight, epsilon)


class CudnnNorm:
    """cuDNN's norm has no addition before it: that is a kernel of PyTorch."""

    @staticmethod
    def prepare(x, residual, weight, epsilon):
        y = torch.empty_like(x).view(*x.shape, 1, 1)

        def describe(graph):
            constant = torch.full((1, 1, 1, 1), epsilon, dtype=torch.float32)  # on the host: passed by value
            tensors = [x.view(*x.shape, 1, 1), weight.view(1, -1, 1, 1), constant]
            x_in, scale, epsilon_in = described = [graph.tensor_like(one) for one in tensors]
            answer = graph.rmsnorm(norm_forward_phase=cudnn_graph.load().norm_forward_phase.INFERENCE, input=x_in,
                                   scale=scale, epsilon=epsilon_in)
            answer[0].set_output(True)
            return dict(zip(described, tensors)) | {answer[0]: y}, y

        return x, residual, cudnn_graph.new_graph(x.dtype == torch.bfloat16, describe)

    def __call__(self, x, residual, norm):
        x.add_(residual)
        return norm().view(x.shape)


def check(result, x, residual, weight, epsilon):
    """Whether the last call's result is the norm of x as that call left it."""
    expected = functional.rms_norm(x.float(), weight.shape, weight.float(), epsilon)
    error = ((result.float() - expected).norm() / expected.norm()).item()
    return None if error < 0.01 else f"an error of {error:.2g} of the norm"


IMPLEMENTATIONS = {"eager": add_rms_norm, "compiled": torch.compile(add_rms_norm, dynamic=False),
                   "cudnn_frontend": CudnnNorm()}
