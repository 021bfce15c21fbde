"""Calls an export of attention_fwd through NAME_ctypes.py, with a launcher that stands in for the kernel
(attention_stand_in.c) and arrays that have nothing but DLPack: ctypes_program.py FOLDER NAME."""
import ctypes
import importlib
import math
import random
import struct
import sys

folder, name = sys.argv[1:]
sys.path.insert(0, folder)
kernel = importlib.import_module(f"{name}_ctypes")


class Managed(ctypes.Structure):  # DLManagedTensor
    _fields_ = [("tensor", kernel._DLTensor), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Array:
    """Memory of the host with extents and strides; f16 unless a code and bits of DLPack say otherwise."""

    def __init__(self, extents, strides=None, dtype=(2, 16), offset=0):
        self.extents, self.dtype = list(extents), dtype
        self.strides = strides or [math.prod(extents[axis + 1 :]) for axis in range(len(extents))]
        count = 1 + sum((extent - 1) * stride for extent, stride in zip(self.extents, self.strides)) if 0 not in extents else 0
        self.memory = ctypes.create_string_buffer((count + offset) * dtype[1] // 8 + 64)
        self.data = (ctypes.addressof(self.memory) + 63) // 64 * 64 + offset * dtype[1] // 8
        values = [random.uniform(-1, 1) for _ in range(count)]
        ctypes.memmove(self.data, struct.pack(f"{count}e", *values), 2 * count if dtype == (2, 16) else 0)

    def __dlpack__(self, stream=None):
        rank = len(self.extents)
        self.managed = Managed(kernel._DLTensor(
            self.data, 1, 0, rank, self.dtype[0], self.dtype[1], 1, (ctypes.c_int64 * rank)(*self.extents),
            (ctypes.c_int64 * rank)(*self.strides), 0))
        return new_capsule(ctypes.addressof(self.managed), b"dltensor", None)

    def __getitem__(self, at):
        offset = sum(index * stride for index, stride in zip(at, self.strides))
        form = "e" if self.dtype == (2, 16) else "f"
        return struct.unpack(form, ctypes.string_at(self.data + offset * self.dtype[1] // 8, self.dtype[1] // 8))[0]


def expected(q, k, v, b, h, i, d):
    scores = [sum(q[b, h, i, c] * k[b, h, j, c] for c in range(64)) / 8 for j in range(k.extents[2])]
    weights = [math.exp(score) for score in scores]
    return sum(weight * v[b, h, j, d] for j, weight in enumerate(weights)) / sum(weights), math.log(sum(weights))


def check(q, k, v):
    given = {"q": q, "k": k, "v": v}
    results, workspace_bytes = kernel.describe(given, LSE=1)
    assert results["lse"] == ([2 * 3 * 5], [1], "float32") and workspace_bytes == 48
    extents, strides, dtype = results["o"]
    assert (extents, dtype) == ([2, 3, 5, 64], "float16")
    returned = {"o": Array(extents, strides), "lse": Array([30], None, (2, 32))}
    kernel.launch(given, returned, Array([48], None, (1, 8)), stream=5, LSE=1)
    for at in ((0, 0, 0, 0), (1, 2, 4, 63), (0, 1, 3, 20)):
        o, lse = expected(q, k, v, *at)
        assert abs(returned["o"][at] - o) < 1e-3, at
        assert abs(returned["lse"][(at[0] * 15 + at[1] * 5 + at[2],)] - lse) < 1e-3, at
    return strides


def refused(words, given, returned=None, workspace=None, **numbers):
    try:
        kernel.launch(given, returned or {}, workspace, **numbers)
    except ValueError as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"launch accepts it: {words}")


random.seed(26)
packed = [2, 3, 5, 64]
rows_first = [960, 64, 192, 1]
q, k, v = (Array(packed) for _ in range(3))
assert check(q, k, v) == [960, 320, 64, 1]
assert check(Array(packed, rows_first), Array(packed, rows_first), v) == rows_first
results = {"o": Array(packed), "lse": Array([0])}
space = Array([48], None, (1, 8))
refused("there is no tensor x", {"x": q})
refused("q is missing", {"k": k, "v": v})
refused("k has another dtype", {"q": q, "k": Array(packed, None, (2, 32)), "v": v})
refused("k has another dtype", {"q": q, "k": Array(packed, None, (5, 64)), "v": v})
refused("extent 0 of k is 1, and not 2", {"q": q, "k": Array([1, 3, 5, 64]), "v": v})
refused("the kernel cannot read k where it is", {"q": q, "k": Array(packed, None, (2, 16), 3), "v": v}, results, space)
refused("the kernel cannot read k where it is", {"q": q, "k": Array(packed, [320, 0, 64, 1]), "v": v}, results, space)
refused("o must be float16 [2, 3, 5, 64] with strides [960, 320, 64, 1]", {"q": q, "k": k, "v": v},
        {"o": Array(packed, rows_first)}, space)
refused("o must be", {"q": q, "k": k, "v": v}, {"o": Array(packed, None, (2, 32))}, space)
refused("error", {"q": q, "k": k, "v": v}, results)  # without a workspace
refused("no kernel for B=2,H=3", {"q": q, "k": k, "v": v}, results, space, WINDOW=4)
refused("not verified", {name: Array([1, 1, 201, 64]) for name in "qkv"}, results, space)
assert kernel._library is not None and kernel.Call().read() == "q is missing"
print("ctypes: all calls are right")
