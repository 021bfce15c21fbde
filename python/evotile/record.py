"""Records which operators a PyTorch program calls, with the shapes, strides and dtypes of their arguments.

    python3 -m evotile.record --out calls.jsonl program.py --its --arguments

runs a program and writes a line for each different call, with its count. From Python:

    with evotile.record.record("calls.jsonl"):
        model(x)

`evotile cases TEMPLATE --from-torch calls.jsonl` makes a config's cases of them. A call is

    {"operator": "aten::mm", "arguments": {"self": {"shape": [4, 8], "strides": [8, 1], "dtype": "f16"}, ...}, "count": 96}

with every argument of the operator's schema by name. Operators that PyTorch composes of others, such as scaled_dot_product_attention,
are recorded where Python calls them, and what they are composed of as well. What torch.compile has compiled calls no operators: record
the program without it.
"""
import argparse
import contextlib
import json
import runpy
import sys

# PyTorch's names of dtypes, and evotile's.
DTYPES = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "float8_e4m3fn": "f8_e4m3", "float8_e5m2": "f8_e5m2",
          "int64": "i64", "int32": "i32", "uint32": "u32", "int16": "i16", "int8": "i8", "uint8": "u8", "bool": "bool"}


def described(value):
    """An argument as JSON: a tensor's shape, strides and dtype; numbers, texts and lists of them as they are; other things by name."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)
    if hasattr(value, "shape") and hasattr(value, "dtype") and hasattr(value, "stride"):
        dtype = str(value.dtype).rsplit(".", maxsplit=1)[-1]
        return {"shape": [int(n) for n in value.shape], "strides": [int(n) for n in value.stride()], "dtype": DTYPES.get(dtype, dtype)}
    if isinstance(value, (list, tuple)):
        return [described(one) for one in value]
    return str(value)


def bound_arguments(schema, args, kwargs):
    """{name: value} of every argument of a schema, by its defaults where it is not given; None if the call is not of this schema."""
    names = [argument.name for argument in schema.arguments]
    if len(args) > sum(not argument.kwarg_only for argument in schema.arguments) or not set(kwargs) <= set(names[len(args):]):
        return None
    given = {**dict(zip(names, args)), **kwargs}
    bound = {}
    for argument in schema.arguments:
        if argument.name not in given and not argument.has_default_value():
            return None
        bound[argument.name] = given.get(argument.name, argument.default_value)
        if str(argument.type) == "Tensor" and not hasattr(bound[argument.name], "stride"):
            return None
    return bound


class Calls:
    """Counts calls, equal ones together."""

    def __init__(self, operators=None):
        self.operators = None if operators is None else set(operators)
        self.counts = {}

    def add(self, schema, args, kwargs):
        if self.operators is not None and schema.name not in self.operators:
            return True
        bound = bound_arguments(schema, args, kwargs)
        if bound is None:
            return False
        if any(hasattr(value, "stride") for value in bound.values()):
            text = json.dumps({"operator": schema.name, "arguments": {name: described(value) for name, value in bound.items()}})
            self.counts[text] = self.counts.get(text, 0) + 1
        return True

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            for text, count in sorted(self.counts.items(), key=lambda item: -item[1]):
                file.write(f'{text[:-1]}, "count": {count}}}\n')


def modes(calls):
    """What watches PyTorch: its dispatcher, and Python's calls of operators that never come there."""
    import torch
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    class Dispatched(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            calls.add(func._schema, args, kwargs or {})
            return func(*args, **(kwargs or {}))

    composed = {}

    def is_composed(operator):
        try:
            return torch._C._dispatch_has_kernel_for_dispatch_key(operator, "CompositeImplicitAutograd")
        except RuntimeError:  # the dispatcher does not have it, such as size
            return False

    def schemas_of(name):
        """Those of an operator's overloads that PyTorch composes of others."""
        if name not in composed:
            packet = getattr(torch.ops.aten, name, None) if name and not name.startswith("__") else None
            overloads = [getattr(packet, one) for one in packet.overloads()] if packet is not None else []
            composed[name] = [one._schema for one in overloads if is_composed(one.name())]
        return composed[name]

    class Called(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            any(calls.add(schema, args, kwargs or {}) for schema in schemas_of(getattr(func, "__name__", "")))
            return func(*args, **(kwargs or {}))

    return Called(), Dispatched()


@contextlib.contextmanager
def record(path, operators=None):
    """Records the calls within the block, also of one that raises. `operators`: names such as "aten::mm"; None: all."""
    calls = Calls(operators)
    called, dispatched = modes(calls)
    try:
        with called, dispatched:
            yield calls
    finally:
        calls.write(path)


def main():
    parser = argparse.ArgumentParser(prog="python3 -m evotile.record", description="Records the operators that a PyTorch program calls.")
    parser.add_argument("--out", default="calls.jsonl", help="the file of calls (default: calls.jsonl)")
    parser.add_argument("--operator", action="append", help="record only this one, as aten::mm; may be repeated")
    parser.add_argument("program", help="a Python file")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="of the program")
    given = parser.parse_args()
    try:
        import torch  # noqa: F401
    except ImportError:
        sys.exit("evotile.record: this Python has no PyTorch: run it by the one that runs the program")
    sys.argv = [given.program, *given.arguments]
    with record(given.out, given.operator) as calls:
        runpy.run_path(given.program, run_name="__main__")
    print(f"evotile.record: {sum(calls.counts.values())} calls, {len(calls.counts)} different ones, in {given.out}", file=sys.stderr)


if __name__ == "__main__":
    main()
