"""Runs an export of add_rms_norm, which writes x in place, with the real PyTorch and a launcher that does nothing:
in_place_program.py FOLDER NAME."""
import ctypes
import importlib
import os
import sys

import torch

folder, name = sys.argv[1:]
sys.path.insert(0, folder)
kernel = importlib.import_module(name)
calls = ctypes.c_int.in_dll(ctypes.CDLL(os.path.join(folder, f"lib{name}.so")), "stand_in_calls")
schema = getattr(torch.ops, name).forward.default._schema
assert "forward(Tensor(a!) x, Tensor residual, Tensor weight, *, float EPSILON=1.0" in str(schema), schema


def step(x, residual, weight):
    return kernel.forward(x, residual, weight, EPSILON=1e-6).relu() + x


x, residual, weight = (torch.randn(shape, dtype=torch.bfloat16) for shape in ((4, 64), (4, 64), (64,)))
assert step(x, residual, weight).shape == (4, 64) and calls.value == 1
compiled = torch.compile(step, fullgraph=True, backend="aot_eager", dynamic=True)
assert compiled(x, residual, weight).shape == (4, 64) and calls.value == 2
# What is read is copied where the kernel cannot read it; what is written in place cannot be.
kernel.forward(x, residual.T.contiguous().T, weight)
assert calls.value == 3
try:
    kernel.forward(x.T.contiguous().T, residual, weight)
except RuntimeError as error:
    assert "x is written in place" in str(error), error
else:
    raise AssertionError("a copy of x was written")
print("in place: all calls are right")
