#!/usr/bin/env python3
"""evotile.record. The schemas are PyTorch's where it is installed, else stand-ins of the same members."""
import dataclasses
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.realpath(os.path.join(HERE, "../.."))
sys.path.insert(0, os.path.join(ROOT, "python"))
if HERE in sys.path:
    sys.path.remove(HERE)

from evotile import record  # noqa: E402

PROGRAM = os.path.join(HERE, "record_program.py")
RECORDED = os.path.join(ROOT, "tests/calls/recorded.jsonl")
OPERATORS = ("_softmax", "rms_norm", "scaled_dot_product_attention", "linear", "gelu")
HAS_TORCH = importlib.util.find_spec("torch") is not None


@dataclasses.dataclass
class Argument:
    name: str
    type: str = "Tensor"
    default_value: object = None
    has_default: bool = False
    kwarg_only: bool = False

    def has_default_value(self):
        return self.has_default


@dataclasses.dataclass
class Schema:
    name: str
    arguments: list


class Tensor:
    def __init__(self, shape, dtype="torch.float16"):
        self.shape, self.dtype = shape, dtype

    def stride(self):
        strides = [1]
        for extent in reversed(self.shape[1:]):
            strides.insert(0, strides[0] * extent)
        return tuple(strides[:len(self.shape)])


SCHEMA = Schema("aten::f", [Argument("self"), Argument("dim", "int"), Argument("p", "float", 0.5, True),
                            Argument("mask", "Optional[Tensor]", None, True, True)])


class Describing(unittest.TestCase):
    def test_values(self):
        self.assertEqual(record.described(Tensor((2, 3))), {"shape": [2, 3], "strides": [3, 1], "dtype": "f16"})
        self.assertEqual(record.described(Tensor((), "torch.bfloat16")), {"shape": [], "strides": [], "dtype": "bf16"})
        self.assertEqual(record.described(Tensor((1,), "torch.complex64"))["dtype"], "complex64")
        self.assertEqual(record.described([1, (2.5, None)]), [1, [2.5, None]])
        self.assertEqual([record.described(value) for value in (True, "a", float("inf"), float("nan"), object)],
                         [True, "a", "inf", "nan", "<class 'object'>"])

    def test_arguments_by_name(self):
        x = Tensor((2, 3))
        self.assertEqual(record.bound_arguments(SCHEMA, (x, 1), {}), {"self": x, "dim": 1, "p": 0.5, "mask": None})
        self.assertEqual(record.bound_arguments(SCHEMA, (x,), {"dim": 1, "mask": x}), {"self": x, "dim": 1, "p": 0.5, "mask": x})
        for args, kwargs in (((x,), {}), ((x, 1, 0.5, None), {}), ((x, 1), {"self": x}), ((x, 1), {"other": 1}), ((1, 1), {})):
            self.assertIsNone(record.bound_arguments(SCHEMA, args, kwargs))

    def test_equal_calls_are_counted(self):
        calls = record.Calls()
        for shape in ((2, 3), (4, 3), (4, 3)):
            self.assertTrue(calls.add(SCHEMA, (Tensor(shape), 1), {}))
        self.assertFalse(calls.add(SCHEMA, (), {}))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "calls.jsonl")
            calls.write(path)
            with open(path, encoding="utf-8") as file:
                lines = [json.loads(line) for line in file]
        self.assertEqual([(line["operator"], line["arguments"]["self"]["shape"], line["count"]) for line in lines],
                         [("aten::f", [4, 3], 2), ("aten::f", [2, 3], 1)])

    def test_operators_that_are_not_asked_for(self):
        calls = record.Calls(["aten::g"])
        calls.add(SCHEMA, (Tensor((2, 3)), 1), {})
        self.assertEqual(calls.counts, {})


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class OfPyTorch(unittest.TestCase):
    def test_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "calls.jsonl")
            command = [sys.executable, "-m", "evotile.record", "--out", path]
            for operator in OPERATORS:
                command += ["--operator", "aten::" + operator]
            ran = subprocess.run([*command, PROGRAM, "3"], env={**os.environ, "PYTHONPATH": os.path.join(ROOT, "python")}, capture_output=True,
                                 text=True, check=False)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertRegex(ran.stderr, r"evotile.record: \d+ calls, \d+ different ones, in ")
            with open(path, encoding="utf-8") as file:
                actual = file.read()
        if os.environ.get("RECORD"):
            with open(RECORDED, "w", encoding="utf-8") as file:
                file.write(actual)
        with open(RECORDED, encoding="utf-8") as file:
            self.assertEqual(sorted(actual.splitlines()), sorted(file.read().splitlines()))

    def test_a_program_that_fails(self):
        import torch
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "calls.jsonl")
            with self.assertRaises(ZeroDivisionError), record.record(path, ["aten::mm"]):
                torch.mm(torch.ones(2, 3), torch.ones(3, 4))
                1 / 0
            with open(path, encoding="utf-8") as file:
                self.assertEqual(json.loads(file.read())["arguments"]["mat2"]["shape"], [3, 4])
            self.assertEqual(torch.mm(torch.ones(1, 1), torch.ones(1, 1)).item(), 1)  # nothing watches any more


if __name__ == "__main__":
    unittest.main(verbosity=1)
