"""FlashInfer-Trace and SOL-ExecBench objects: a Definition with Workloads becomes a problem, a Solution in CUDA is judged, and Traces
come back. docs/traces.md describes it.

    python3 -m evotile.flashinfer import rmsnorm.json workloads.jsonl --out FOLDER
    python3 -m evotile.flashinfer skeleton FOLDER SOLUTION.json
    python3 -m evotile.flashinfer judge FOLDER SOLUTION.json --device emulated:sm_90

It needs nothing but Python's standard library. The reference of a problem needs PyTorch where it runs.
"""
import argparse
import ast
import contextlib
import datetime
import json
import os
import random
import re
import struct
import sys
from pathlib import PurePosixPath

from . import problems
from .client import Client, EvotileError, RefusedError
from .problems import Expression, ImportRefused, bare, check_name

DTYPES = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "float8_e4m3fn": "f8_e4m3", "float8_e5m2": "f8_e5m2",
          "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8", "uint8": "u8", "bool": "bool"}
FLOATS = ("f64", "f32", "f16", "bf16", "f8_e4m3", "f8_e5m2")

# Their word for each verdict. None: the judge does not know, and no Trace is written.
STATUS = {"ok": "PASSED", "wrong": "INCORRECT_NUMERICAL", "racy": "INCORRECT_NUMERICAL", "invalid": "COMPILE_ERROR",
          "compile_failed": "COMPILE_ERROR", "over_limit": "RUNTIME_ERROR", "launch_failed": "RUNTIME_ERROR", "wrote_outside": "RUNTIME_ERROR",
          "changed_input": "RUNTIME_ERROR", "impossible": "RUNTIME_ERROR", "crashed": "RUNTIME_ERROR", "timeout": "TIMEOUT",
          "too_slow": "TIMEOUT", "filtered": None, "unverified": None, "lost": None}
# Words that SOL-ExecBench adds.
SOL_STATUS = {**STATUS, "changed_input": "REWARD_HACK", "impossible": "REWARD_HACK"}


def need(entry, key, where, kind=None):
    if not isinstance(entry, dict) or key not in entry:
        raise ImportRefused(f"{where}: the key {key!r} is missing")
    if kind is not None and not isinstance(entry[key], kind):
        raise ImportRefused(f"{where}.{key}: has the wrong type")
    return entry[key]


# ---- a Definition ----

class Definition:
    """Its axes as dimensions and derived quantities, its tensors and scalars."""

    def __init__(self, data):
        self.data = data
        self.name = check_name(re.sub(r"[^A-Za-z0-9_]", "_", need(data, "name", "Definition", str)), "Definition.name")
        self.notes = []
        if data.get("op_type") == "sampling":
            raise ImportRefused('Definition.op_type: "sampling": its outputs are random, and evotile compares outputs with those of a reference')
        self.read_axes()
        self.read_tensors()
        self.read_constraints()
        self.read_reference()

    def read_axes(self):
        axes = need(self.data, "axes", "Definition", dict)
        self.const, self.var, self.expr = {}, [], {}
        for name, axis in axes.items():
            check_name(name, f"Definition.axes.{name}")
            kind = need(axis, "type", f"Definition.axes.{name}")
            if kind == "const":
                self.const[name] = need(axis, "value", f"Definition.axes.{name}", int)
                if self.const[name] < 1:
                    raise ImportRefused(f"Definition.axes.{name}.value: is {self.const[name]}, and a dimension is at least 1")
            elif kind == "var":
                self.var.append(name)
            elif kind == "expr":
                self.expr[name] = need(axis, "expression", f"Definition.axes.{name}", str)
            else:
                raise ImportRefused(f"Definition.axes.{name}.type: {kind!r} is not known: const, var or expr")
        known = set(self.const) | set(self.var)
        for name in list(self.expr):
            self.expr[name] = Expression(self.expr[name], known)
            if self.expr[name].text is None:
                raise ImportRefused(f"Definition.axes.{name}.expression: {self.expr[name].source!r} reads more than axes, or has an operator "
                                    "that evotile's expressions lack")

    def read_tensor(self, group, name, entry):
        where = f"Definition.{group}.{name}"
        check_name(name, where)
        dtype, shape = need(entry, "dtype", where, str), need(entry, "shape", where)
        if dtype not in DTYPES:
            raise ImportRefused(f"{where}.dtype: {dtype!r} is no dtype of a template")
        if shape is not None:
            for axis in shape:
                if axis not in self.const and axis not in self.var and axis not in self.expr:
                    raise ImportRefused(f"{where}.shape: there is no axis {axis!r}")
        return DTYPES[dtype], shape

    def read_tensors(self):
        self.inputs, self.scalars, self.outputs = {}, {}, {}
        for name, entry in need(self.data, "inputs", "Definition", dict).items():
            dtype, shape = self.read_tensor("inputs", name, entry)
            if shape is None:
                self.scalars[name] = dtype
            else:
                self.inputs[name] = (dtype, shape)
        for name, entry in need(self.data, "outputs", "Definition", dict).items():
            dtype, shape = self.read_tensor("outputs", name, entry)
            if shape is None:
                raise ImportRefused(f"Definition.outputs.{name}.shape: null: a kernel in destination-passing style cannot write a Python scalar; "
                                    "write a tensor of shape []")
            self.outputs[name] = (dtype, shape)
        clash = (set(self.inputs) | set(self.scalars) | set(self.outputs)) & (set(self.data["axes"]) | {"case", "workload"})
        if clash:
            raise ImportRefused(f"Definition: {sorted(clash)[0]!r} names both an axis and a tensor, or is a name that the import needs: rename it")
        if not self.outputs:
            raise ImportRefused("Definition.outputs: there is none")

    def read_constraints(self):
        known = set(self.const) | set(self.var)
        self.constraints, self.follows = [], {}
        for source in self.data.get("constraints") or []:
            found = Expression(source, known)
            if found.text is None:
                self.notes.append(f"constraint {source!r} reads more than axes: nothing but the workloads' own data keeps it")
                continue
            self.constraints.append(found)
            defined = found.defines()
            if defined and defined[0] in self.var and defined[0] not in self.follows and not any(
                    name in self.follows for name in defined[1].names):
                if not any(defined[0] in other.names for other in self.follows.values()):
                    self.follows[defined[0]] = defined[1]

    def read_reference(self):
        self.reference = need(self.data, "reference", "Definition", str)
        try:
            self.tree = ast.parse(self.reference)
        except SyntaxError as error:
            raise ImportRefused(f"Definition.reference: line {error.lineno}: {error.msg}: it must be Python") from error
        if not any(isinstance(node, ast.FunctionDef) and node.name == "run" for node in self.tree.body):
            raise ImportRefused("Definition.reference: has no function `run`")
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"cuda(:\d+)?", node.value):
                self.notes.append(f"reference, line {node.lineno}: it names the device {node.value!r}, but runs on the CPU")

    def extents(self, shape):
        return [axis for axis in shape] or ["1"]

    def extents_of(self, shape, axes):
        """Numbers, where the var axes have these values."""
        values = {**self.const, **axes}
        return [values[axis] if axis in values else self.expr[axis].value(values) for axis in shape]


# ---- the reference ----

def in_double(source, tree):
    """(source, note) with float32, float16 and bfloat16 of PyTorch replaced by float64; unchanged if it looks at bits."""
    edits = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "view" and any(
                isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == "torch" for part in node.args):
            return source, f"reference, line {node.lineno}: it looks at the bits of numbers: it computes as it stands, not in double"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "torch" and node.attr in (
                "float32", "float", "float16", "half", "bfloat16"):
            edits.append((node.end_lineno, node.end_col_offset, node.attr, "float64"))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args and node.func.attr in ("float", "half", "bfloat16"):
            edits.append((node.func.end_lineno, node.func.end_col_offset, node.func.attr, "double"))
    lines = source.encode().splitlines(keepends=True)
    for number, end, old, new in sorted(edits, reverse=True):
        line = lines[number - 1]
        lines[number - 1] = line[:end - len(old)] + new.encode() + line[end:]
    return b"".join(lines).decode(), None


TORCH_DTYPES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "f8_e4m3": "float8_e4m3fn", "f8_e5m2": "float8_e5m2",
                "i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8", "u8": "uint8", "bool": "bool"}


def reference_text(definition, as_is):
    """reference.py: the Definition's code, and a function that calls it."""
    source, note = (definition.reference, None) if as_is else in_double(definition.reference, definition.tree)
    as_is = as_is or note is not None
    if note:
        definition.notes.append(note)
    future = [node.lineno for node in definition.tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    lines = source.splitlines()
    hoisted = [lines[number - 1] for number in future]
    body = "\n".join("" if number in future else line for number, line in enumerate(lines, 1))
    order = list(need(definition.data, "inputs", "Definition"))
    taken = []
    for name in order:
        if name in definition.scalars:
            taken.append({"bool": f"bool(case[{name!r}])"}.get(definition.scalars[name], f"case[{name!r}]"))
        else:
            dtype, shape = definition.inputs[name]
            kind = TORCH_DTYPES[dtype] if as_is or dtype not in FLOATS else "float64"
            taken.append(f"evotile_tensor(inputs[{name!r}], torch.{kind}, {len(shape)})")
    outputs = {name: len(shape) for name, (_, shape) in definition.outputs.items()}
    arguments = ",\n            ".join(taken)
    how = "as it stands" if as_is else "in double: float64 stands where it had float32, float16 or bfloat16"
    return "\n".join(hoisted) + f'''
# The reference of {definition.data["name"]}, {how}.
{problems.torch_guard("PyTorch code")}
{body}


def evotile_tensor(array, dtype, rank):
    tensor = torch.from_numpy(array).to(dtype)
    return tensor if rank > 0 else tensor.reshape(())


def evotile_array(value):
    value = torch.as_tensor(value).detach().cpu()
    if value.dtype.is_floating_point:
        value = value.to(torch.float64)
    elif value.dtype == torch.bool:
        value = value.to(torch.uint8)
    return value.reshape(1) if value.dim() == 0 else value


def reference(case, **inputs):
    with torch.no_grad():
        found = run(
            {arguments})
    outputs = {outputs!r}
    if not isinstance(found, dict):
        found = list(found) if isinstance(found, (tuple, list)) else [found]
        if len(found) != len(outputs):
            raise ValueError("run returned %d values for the outputs %s" % (len(found), ", ".join(outputs)))
        found = dict(zip(outputs, found))
    return {{name: evotile_array(found[name]) for name in outputs}}
'''


# ---- Workloads ----

COPY_SLICE = '''// Copies what a workload holds of a file that has the data of all of them. `table` has an offset and a number of bytes for
// each workload and tensor.
extern "C" __global__ void copy_slice(const unsigned char *all, const long long *table, unsigned char *to, int workload, int tensors,
                                      int tensor) {
    const long long offset = table[2 * (workload * tensors + tensor)], bytes = table[2 * (workload * tensors + tensor) + 1];
    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < bytes; i += (long long)gridDim.x * blockDim.x)
        to[i] = all[offset + i];
}
'''


class Workloads:
    """Checked workloads of a definition, the data of their files, and their cases."""

    def __init__(self, definition, entries, root):
        self.definition, self.root = definition, root
        self.entries, self.notes = [], []
        for number, entry in enumerate(entries):
            where = f"Workload {number}"
            if isinstance(entry, dict) and "workload" in entry:  # a Trace without solution and evaluation
                if entry.get("definition") != definition.data["name"]:
                    continue
                entry = entry["workload"]
            need(entry, "uuid", where, str)
            self.check(entry, f"Workload {entry['uuid']}")
            self.entries.append(entry)
        if not self.entries:
            raise ImportRefused(f"there is no workload of {definition.data['name']}: give the workloads' file of this Definition")
        self.read_files()
        self.make_cases()

    def check(self, entry, where):
        definition, axes = self.definition, need(entry, "axes", where, dict)
        for name in definition.var:
            if not isinstance(axes.get(name), int) or axes[name] < 1:
                raise ImportRefused(f"{where}.axes.{name}: must be a number of at least 1")
        values = {**definition.const, **{name: axes[name] for name in definition.var}}
        for constraint in definition.constraints:
            if not constraint.value(values):
                raise ImportRefused(f"{where}.axes: the Definition's constraint {constraint.source!r} does not hold")
        inputs = need(entry, "inputs", where, dict)
        for name in inputs:
            if name not in definition.inputs and name not in definition.scalars:
                raise ImportRefused(f"{where}.inputs.{name}: the Definition has no such input")
        for name in list(definition.inputs) + list(definition.scalars):
            kind = inputs.get(name, {"type": "random"}).get("type")
            if kind == "custom":
                raise ImportRefused(f'{where}.inputs.{name}: "custom": what makes it is code, which the import does not run; store its tensors '
                                    'as safetensors, and name them with "type": "safetensors"')
            allowed = ("random", "safetensors") if name in definition.inputs else ("random", "scalar")
            if kind not in allowed:
                raise ImportRefused(f"{where}.inputs.{name}.type: {kind!r}: this input can be {' or '.join(allowed)}")

    def scalar(self, entry, name):
        """A scalar's value; of a random one a number that follows from the workload's uuid."""
        given, dtype = entry["inputs"].get(name, {"type": "random"}), self.definition.scalars[name]
        if given["type"] == "random":
            draw = random.Random(f"{entry['uuid']} {name}")
            self.notes.append(f"scalar {name}: random: a number that follows from the workload's uuid, the same in all sets of inputs")
            return draw.gauss(0, 1) if dtype in FLOATS else draw.randint(0, 1) if dtype == "bool" else draw.randint(*random_range(dtype))
        value = need(given, "value", f"Workload {entry['uuid']}.inputs.{name}")
        if dtype not in FLOATS and value != int(value):
            raise ImportRefused(f"Workload {entry['uuid']}.inputs.{name}.value: {value} is no {dtype}")
        return float(value) if dtype in FLOATS else int(value)

    def find(self, path):
        return os.path.join(self.root, path) if self.root else path

    def read_files(self):
        """The data of safetensors files: for each such input the data of all workloads; the same data is stored once."""
        self.data, self.slices, self.groups = {}, {}, []
        known, self.group_of = {}, []
        for entry in self.entries:
            named = {name: given for name, given in entry["inputs"].items() if given.get("type") == "safetensors"}
            axes = {name: entry["axes"][name] for name in self.definition.var}
            key = json.dumps([named, axes if named else None], sort_keys=True)
            if key not in known:
                known[key] = len(self.groups)
                self.groups.append((axes if named else None, {name: self.read_slice(entry, name, given) for name, given in named.items()}))
            self.group_of.append(known[key])
        # A group without files is number 0, if there is one.
        order = sorted(range(len(self.groups)), key=lambda at: self.groups[at][0] is not None)
        self.groups = [self.groups[at] for at in order]
        self.group_of = [order.index(at) for at in self.group_of]
        self.of_files = [name for name in self.definition.inputs if name in self.data]

    def read_slice(self, entry, name, given):
        where = f"Workload {entry['uuid']}.inputs.{name}"
        path, key = need(given, "path", where, str), need(given, "tensor_key", where, str)
        dtype, shape, data = problems.read_safetensor(self.find(path), key)
        wanted, axes = self.definition.inputs[name]
        extents = self.definition.extents_of(axes, entry["axes"])
        if dtype != wanted or shape != extents:
            raise ImportRefused(f"{where}: the file has {dtype} {shape}, and the Definition says {wanted} {extents}")
        stored = self.data.setdefault(name, bytearray())
        if (name, path, key) not in self.slices:
            self.slices[name, path, key] = (len(stored), len(data))
            stored += data
            if len(stored) > problems.FILE_BYTES_MAX:
                raise ImportRefused(f"{where}: the workloads' data of this input has more than 256 MB: import fewer workloads")
        return self.slices[name, path, key]

    def make_cases(self):
        """The cases, and for each workload its case: some are equal but for their uuid."""
        self.cases, self.case_of = [], []
        for at, entry in enumerate(self.entries):
            case = {name: entry["axes"][name] for name in self.definition.var}
            case.update({name: self.scalar(entry, name) for name in self.definition.scalars})
            if self.of_files:
                case["workload"] = self.group_of[at]
            if not case:
                case = {next(iter(self.definition.const)): next(iter(self.definition.const.values()))}
            if case not in self.cases:
                self.cases.append(case)
            self.case_of.append(self.cases.index(case))


def random_range(dtype):
    """Of FlashInfer-Bench's random numbers."""
    return {"i8": (-128, 127), "u8": (0, 255), "bool": (0, 1)}.get(dtype, (-1024, 1023))


# ---- the problem ----

def dimensions_of(definition, workloads):
    found = {}
    for name in definition.const:
        found[name] = {"about": about_of(definition, "axes", name), "values": [definition.const[name]], "default": definition.const[name]}
    for name in [name for name in definition.var if name not in definition.follows] + list(definition.follows):
        largest = max(entry["axes"][name] for entry in workloads.entries)
        found[name] = {"about": about_of(definition, "axes", name), "minimum": 1, "maximum": 1 << (2 * largest - 1).bit_length()}
        if name in definition.follows:
            found[name]["default"] = bare(definition.follows[name].text)
    for name, dtype in definition.scalars.items():
        values = sorted({case[name] for case in workloads.cases})
        found[name] = {"about": about_of(definition, "inputs", name), "default": workloads.cases[0][name]}
        found[name].update({"real": True} if dtype in FLOATS else {"values": values})
    if workloads.of_files:
        first = 0 if workloads.groups[0][0] is None else next(case["workload"] for case in workloads.cases)
        found["workload"] = {"about": "whose data the inputs have that come from files", "values": list(range(len(workloads.groups))), "default": first}
    return found


def about_of(definition, group, name):
    return (definition.data[group][name].get("description") or name).splitlines()[0][:200]


def fill_of(definition, name, dtype, fills, only_files):
    """(fill, note) of an input."""
    if name in fills:
        return fills[name], None
    if dtype in FLOATS or dtype == "bool":
        return "normal", None
    if only_files:
        return {"constant": 0}, None
    least, most = random_range(dtype)
    note = (f"input {name}: nothing says which numbers it may hold: {least} to {most}, as in FlashInfer-Bench; if it is an index, "
            f"say --fill '{name}={{\"integers\": \"AXIS\"}}', or \"sorted\"")
    return {"uniform": [least, most]}, note


def tensors_of(definition, workloads, fills):
    found = {}
    for name, (dtype, shape) in definition.inputs.items():
        only_files = all(entry["inputs"].get(name, {}).get("type") == "safetensors" for entry in workloads.entries)
        fill, note = fill_of(definition, name, dtype, fills, only_files)
        if note:
            definition.notes.append(note)
        found[name] = {"dtype": dtype, "shape": definition.extents(shape), "role": "input", "fill": fill}
    for name, (dtype, shape) in definition.outputs.items():
        found[name] = {"dtype": dtype, "shape": definition.extents(shape), "role": "output"}
    for name in workloads.of_files:
        found[f"{name}_data"] = {"dtype": "u8", "shape": [str(len(workloads.data[name]))], "role": "setup", "fill": {"file": f"{name}.bin"}}
    if workloads.of_files:
        count = 2 * len(workloads.groups) * len(workloads.of_files)
        found["slices"] = {"dtype": "i64", "shape": [str(count)], "role": "setup", "fill": {"file": "slices.bin"}}
    return found


def setup_of(workloads):
    """({"setup": ...}, files) that put the files' data into inputs."""
    names = workloads.of_files
    if not names:
        return {}, {}
    table = [number for _, slices in workloads.groups for name in names for number in slices.get(name, (0, 0))]
    files = {f"{name}.bin": bytes(workloads.data[name]) for name in names}
    files.update({"slices.bin": struct.pack(f"<{len(table)}q", *table), "setup.cu": COPY_SLICE})
    launches = [{"kernel": "copy_slice", "grid": ["16", "1", "1"], "block": ["128", "1", "1"],
                 "arguments": [f"{name}_data", "slices", name, {"i32": "workload"}, {"i32": str(len(names))}, {"i32": str(at)}]}
                for at, name in enumerate(names)]
    return {"setup": {"source": "setup.cu", "launches": launches}}, files


def probes_of(definition, workloads, given):
    """Small cases: every var axis 1, and small numbers that no vector divides. None where all data is of files."""
    if given is not None:
        return given
    if workloads.of_files and workloads.groups[0][0] is not None:
        return []
    found, free = [], [name for name in definition.var if name not in definition.follows]
    for numbers in ([1] * len(free), [(3, 5, 7, 2, 11)[at % 5] for at in range(len(free))], [(5, 3, 2, 7, 13)[at % 5] for at in range(len(free))]):
        values = {**definition.const, **dict(zip(free, numbers))}
        try:
            values.update({name: follow.value(values) for name, follow in definition.follows.items()})
            holds = all(constraint.value(values) for constraint in definition.constraints)
        except (ZeroDivisionError, KeyError):
            holds = False
        case = {name: values.get(name, 0) for name in definition.var}
        if holds and case and min(case.values()) >= 1 and case not in found:
            found.append(case)
    if not found and free:
        definition.notes.append("no small case that the constraints allow was found: --probe '{\"AXIS\": 3}' gives some")
    return found


def problem_of(definition, workloads, options):
    tensors = tensors_of(definition, workloads, options.fills)
    setup, files = setup_of(workloads)
    derived = {name: bare(expression.text) for name, expression in definition.expr.items()}
    size = {name: (problems.product(tensor["shape"]), problems.DTYPES[tensor["dtype"]][0]) for name, tensor in tensors.items()}
    moved = [name for name, tensor in tensors.items() if tensor["role"] == "output"]
    if not any(dtype not in FLOATS for dtype, _ in definition.inputs.values()):
        moved += list(definition.inputs)
    else:
        definition.notes.append("an input of integers may say which parts of the others are read: `bytes` counts the outputs alone; --bytes gives another")
    problem = {
        "format": 2, "name": definition.name, "about": (definition.data.get("description") or definition.data["name"]).splitlines()[0][:200],
        "default_solution": "skeleton",
        "dimensions": dimensions_of(definition, workloads),
        **({"derived": derived} if derived else {}),
        "constraints": [{"require": bare(constraint.text), "because": f"the Definition says {constraint.source}"} for constraint in definition.constraints]
        + [{"require": f"workload != {at} || (" + " && ".join(f"{name} == {value}" for name, value in axes.items()) + ")",
            "because": "the data of this workload has these sizes"} for at, (axes, _) in enumerate(workloads.groups) if axes],
        "tensors": tensors, **setup,
        "reference": {"python": "reference.py", "limit_s": options.limit_s},
        "operations": options.operations or " + ".join(size[name][0] for name in definition.outputs),
        "bytes": options.bytes or " + ".join(f"{width} * {count}" for count, width in (size[name] for name in moved)),
        "probe_cases": probes_of(definition, workloads, options.probes),
    }
    if not options.operations:
        definition.notes.append("a Definition does not count operations: `operations` is one for each element of an output; --operations gives another")
    for name, tolerance in options.tolerances.items():
        if name not in definition.outputs:
            raise ImportRefused(f"--tolerance {name}: the Definition has no such output")
        tensors[name]["tolerance"] = tolerance
    for name in options.fills:
        if name not in definition.inputs:
            raise ImportRefused(f"--fill {name}: the Definition has no such input")
    files["reference.py"] = reference_text(definition, options.as_is)
    return problem, files


def root_of(workloads_path, entries):
    """The folder from which the paths of safetensors count: the nearest above the workloads that has the first of them."""
    for entry in entries:
        entry = entry.get("workload", entry) if isinstance(entry, dict) else {}
        for given in (entry.get("inputs") or {}).values():
            if given.get("type") == "safetensors" and not os.path.isabs(given.get("path", "/")):
                folder = os.path.dirname(os.path.abspath(workloads_path))
                while folder != "/" and not os.path.exists(os.path.join(folder, given["path"])):
                    folder = os.path.dirname(folder)
                return folder if folder != "/" else os.path.dirname(os.path.abspath(workloads_path))
    return None


def import_definition(definition_path, workloads_path, folder, options):
    """Writes the problem of a Definition; returns what it found out."""
    definition = Definition(problems.read_json(definition_path, "a Definition"))
    entries = problems.read_jsonl(workloads_path, "the workloads")
    workloads = Workloads(definition, entries, options.root or root_of(workloads_path, entries))
    problem, files = problem_of(definition, workloads, options)
    problems.start_folder(folder, options.force)
    about = f"the workloads of {definition.data['name']}"
    configs = problems.write_problem(folder, problem, files, workloads.cases, about)
    problems.write(folder, "definition.json", definition.data)
    problems.write(folder, "workloads.jsonl", "".join(json.dumps(entry) + "\n" for entry in workloads.entries))
    goals = [[configs[case // problems.CASES_MAX], case % problems.CASES_MAX] for case in workloads.case_of]
    problems.write(folder, problems.MARK, {"kind": "flashinfer", "definition": definition.data["name"], "problem": definition.name, "goals": goals})
    return {"problem": definition.name, "workloads": len(workloads.entries), "cases": len(workloads.cases), "probe_cases": len(problem["probe_cases"]),
            "notes": list(dict.fromkeys(definition.notes + workloads.notes))}


# ---- a Solution ----

def kernels_of(sources):
    """Names of __global__ functions, in their order."""
    text = "\n".join(sources.values())
    text = re.sub(r"\b__launch_bounds__\s*\([^)]*\)", "", text)
    return list(dict.fromkeys(re.findall(r"__global__\s+(?:static\s+)?void\s+(\w+)\s*\(", text)))


def read_solution(path, found):
    """(Solution, its files). What evotile does not judge is refused."""
    solution = problems.read_json(path, "a Solution")
    spec = need(solution, "spec", "Solution", dict)
    name = need(solution, "name", "Solution", str)
    if need(solution, "definition", "Solution") != found["definition"]:
        raise ImportRefused(f"Solution.definition: {solution['definition']!r}, but the folder has {found['definition']!r}: import that Definition")
    languages = spec.get("languages") or [need(spec, "language", "Solution.spec")]  # SOL-ExecBench has a list
    if not set(languages) <= {"cuda", "cuda_cpp"}:
        raise ImportRefused(f"Solution.spec.language: {', '.join(languages)}: evotile judges kernels in CUDA alone")
    if not spec.get("destination_passing_style", True):
        raise ImportRefused("Solution.spec.destination_passing_style: false: a kernel must write outputs that it is given")
    files = {}
    for source in need(solution, "sources", "Solution", list):
        file = need(source, "path", "Solution.sources", str)
        if PurePosixPath(file).is_absolute() or ".." in PurePosixPath(file).parts or file in files:
            raise ImportRefused(f"Solution.sources: the path {file!r} is not relative, or comes twice")
        files[str(PurePosixPath(file))] = need(source, "content", "Solution.sources", str)
    return {"name": name, "spec": spec}, files


def skeleton(folder, path):
    """The solution.json that a Solution lacks, with the kernels of its sources."""
    found = problems.read_import(folder, "flashinfer")
    problem = problems.read_json(os.path.join(folder, found["problem"], "problem.json"), "a problem")
    if path is None:
        return problems.skeleton_of(problem)
    solution, files = read_solution(path, found)
    code = {name: text for name, text in files.items() if name.endswith((".cu", ".cuh"))}
    with_kernels = [name for name, text in code.items() if kernels_of({name: text}) and name.endswith(".cu")]
    return problems.skeleton_of(problem, kernels_of(code) or ["kernel"], (with_kernels or ["kernel.cu"])[0], solution["name"])


MISSING = ("{name}: evotile runs no host code, so the Solution needs a source \"solution.json\" with the launches of its kernels: add the text "
           "below, with the right grid, block and arguments for each (docs/traces.md)")


# ---- Traces ----

def number_of(value):
    """JSON has no NaN: the package writes and reads it as a text."""
    return "NaN" if value is None or value != value else value


def correctness_of(answer):
    """What the judge measured: of a kernel that is right in its case, of a wrong one in the first wrong elements."""
    extra = {"verdict": answer["verdict"], "max_relative_error_is": "the relative L2 error of the worst row", "checks": answer.get("checks", "")}
    if answer["verdict"] == "ok":
        case = answer["cases"][0]
        errors, bound = case["errors"] or {}, case["bound"] or {}
        extra.update({"relative_l2": errors.get("relative_l2"), "bound_relative_l2": bound.get("relative_l2"),
                      "bound_row_relative_l2": bound.get("row_relative_l2")})
        return {"max_relative_error": number_of(errors.get("row_relative_l2")), "max_absolute_error": number_of(errors.get("max_absolute")),
                "extra": extra}
    wrong = (answer.get("wrong") or {}).get("elements") or []
    pairs = [(float(one["got"]), float(one["wanted"])) for one in wrong]
    off = [abs(got - wanted) for got, wanted in pairs]
    extra["max_relative_error_is"] = "that of the first wrong elements"
    if not off or any(one != one or one == float("inf") for one in off):
        return {"max_relative_error": "NaN", "max_absolute_error": "NaN", "extra": extra}
    return {"max_relative_error": max(one / (abs(wanted) + 1e-8) for one, (_, wanted) in zip(off, pairs)), "max_absolute_error": max(off),
            "extra": extra}


def performance_of(answer):
    case = answer["cases"][0]
    timed = case["cold"] or case["warm"]
    return {"latency_ms": timed["p50_us"] / 1000, "reference_latency_ms": 0.0, "speedup_factor": 0.0}


def latencies_of(answer):
    case = answer["cases"][0]
    return {"latency_is": ("predicted" if answer["predicted"] else "cold" if case["cold"] else "warm"),
            **{f"{kind}_us": case[kind]["p50_us"] for kind in ("warm", "cold") if case[kind]}}


def log_of(answer):
    lines = [f"evotile: {answer['verdict']}" + (f": {answer['reason']}" if answer.get("reason") else "")]
    lines += [f"{gate['gate']}: {'ok' if gate['passed'] else 'failed'}: {gate['text']}" for gate in answer.get("gates", [])]
    return "\n".join(lines + ([answer["log"]] if answer["verdict"] == "compile_failed" and answer.get("log") else []))


def trace_of(definition, workload, solution, answer, environment, words, now=None):
    """The Trace of an answer, or None where the judge does not know."""
    table = SOL_STATUS if words == "sol" else STATUS
    status = table.get(answer["verdict"])
    if answer["verdict"] == "invalid" and answer.get("stage") == "template":  # the reference, not the kernel
        status = "INVALID_REFERENCE" if words == "sol" else None
    if status is None:
        return None
    evaluation = {"status": status, "environment": environment, "timestamp": (now or datetime.datetime.now(datetime.timezone.utc)).isoformat(),
                  "log": log_of(answer), "correctness": None, "performance": None}
    if status in ("PASSED", "INCORRECT_NUMERICAL"):
        evaluation["correctness"] = correctness_of(answer)
    if status == "PASSED":
        evaluation["performance"] = performance_of(answer)
        evaluation["correctness"]["extra"].update(latencies_of(answer))
    return {"definition": definition, "workload": workload, "solution": solution, "evaluation": evaluation}


def server_of(config, options):
    """A client of the server that is named, or of one that it starts."""
    if options.url:
        return Client(options.url, token=os.environ.get("EVOTILE_TOKEN"), ca=options.ca)
    return Client.start([options.evotile, "serve", config] + (["--device", options.device] if options.device else []))


def judge(folder, paths, options, write):
    """Writes the Traces of Solutions; returns how many workloads have none."""
    found = problems.read_import(folder, "flashinfer")
    workloads = problems.read_jsonl(os.path.join(folder, "workloads.jsonl"), "the workloads")
    solutions, missing = [], 0
    for path in paths:
        solution, files = read_solution(path, found)
        if "solution.json" not in files:
            raise ImportRefused(MISSING.format(name=solution["name"]) + "\n" + json.dumps(skeleton(folder, path), indent=2))
        solutions.append((solution["name"], files))
    configs = list(dict.fromkeys(config for config, _ in found["goals"]))
    if options.url and len(configs) > 1:
        raise ImportRefused(f"--url: {folder} has {len(configs)} configs, and a server judges one: leave --url out, or import fewer workloads")
    for config in configs:
        with server_of(os.path.join(folder, config), options) as client:
            described = client.definitions()[0]
            if described["problem"] != found["problem"] or len(described["goals"]) != sum(of == config for of, _ in found["goals"]):
                raise ImportRefused(f"{options.url}: that server judges {described['problem']} of {len(described['goals'])} cases: start it with "
                                    f"`evotile serve {os.path.join(folder, config)}`")
            environment = {"hardware": described["device"], "libs": {"evotile": client.health()["version"]}}
            asked = [(name, workload, client.submit(files=files, goal=goal, level=options.level)) for name, files in solutions
                     for workload, (of, goal) in zip(workloads, found["goals"]) if of == config]
            for name, workload, task in asked:
                answer = client.result(task, options.timeout).data
                trace = trace_of(found["definition"], workload, name, answer, environment, options.words)
                if trace is None:
                    missing += 1
                    print(f"evotile.flashinfer: {name}, workload {workload['uuid']}: no Trace: {answer['verdict']}: {answer['reason']}", file=sys.stderr)
                else:
                    write(json.dumps(trace))
    return missing


# ---- the command line ----

def read_named(texts, option):
    found = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            found[name] = json.loads(value)
        except json.JSONDecodeError:
            raise ImportRefused(f"{option} {text}: write {option} 'NAME=JSON'") from None
    return found


def parse(arguments):
    parser = argparse.ArgumentParser(prog="python3 -m evotile.flashinfer", description="FlashInfer-Trace objects for evotile (docs/traces.md)")
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("import", help="a Definition with Workloads becomes a problem")
    one.add_argument("definition")
    one.add_argument("workloads")
    one.add_argument("--out", required=True, metavar="FOLDER")
    one.add_argument("--force", action="store_true", help="replace an earlier import")
    one.add_argument("--root", metavar="FOLDER", help="where the paths of safetensors start (default: the nearest folder above the workloads)")
    one.add_argument("--fill", action="append", default=[], metavar="NAME=JSON", help="what an input holds, as \"fill\" of a template")
    one.add_argument("--tolerance", action="append", default=[], metavar="NAME=JSON", help="of an output, in place of evotile's own bound")
    one.add_argument("--probe", action="append", metavar="JSON", help="a small case, in place of those that are chosen")
    one.add_argument("--operations", metavar="EXPRESSION", help="of one call")
    one.add_argument("--bytes", metavar="EXPRESSION", help="that one call reads and writes at least")
    one.add_argument("--as-is", action="store_true", help="run the reference in its own dtypes, not in double")
    one.add_argument("--limit", type=int, default=300, metavar="SECONDS", help="of each answer of the reference (300)")
    two = verbs.add_parser("skeleton", help="print the solution.json that a Solution lacks")
    two.add_argument("folder")
    two.add_argument("solution", nargs="?")
    three = verbs.add_parser("judge", help="judge Solutions: a Trace for each workload, one a line")
    three.add_argument("folder")
    three.add_argument("solutions", nargs="+")
    three.add_argument("--device", help="such as emulated:sm_90 (default: the config's)")
    three.add_argument("--url", help="of a server for the folder's config, such as http://127.0.0.1:8000; its token is in EVOTILE_TOKEN")
    three.add_argument("--ca", metavar="FILE", help="the certificate of an https server")
    three.add_argument("--level", choices=("device", "champion"), default="device")
    three.add_argument("--words", choices=("flashinfer", "sol"), default="flashinfer", help="whose status words (flashinfer)")
    three.add_argument("--out", metavar="FILE", help="append the Traces to this file")
    three.add_argument("--timeout", type=float, metavar="SECONDS", help="of each answer")
    three.add_argument("--evotile", default=os.environ.get("EVOTILE", "evotile"), metavar="PROGRAM")
    options = parser.parse_args(arguments)
    if options.verb == "import":
        options.fills = read_named(options.fill, "--fill")
        options.tolerances = read_named(options.tolerance, "--tolerance")
        options.probes = None if options.probe is None else [read_named([f"case={text}"], "--probe")["case"] for text in options.probe]
        options.limit_s = options.limit
    return options


def main(arguments=None):
    try:
        options = parse(arguments)
        if options.verb == "import":
            found = import_definition(options.definition, options.workloads, options.out, options)
            for note in found["notes"]:
                print(f"note: {note}", file=sys.stderr)
            print(f"{options.out}: the problem {found['problem']}: {found['workloads']} workloads, {found['cases']} cases, "
                  f"{found['probe_cases']} probe cases")
            return 0
        if options.verb == "skeleton":
            print(json.dumps(skeleton(options.folder, options.solution), indent=2))
            return 0
        with open(options.out, "a", encoding="utf-8") if options.out else contextlib.nullcontext(sys.stdout) as file:
            return 1 if judge(options.folder, options.solutions, options, lambda line: print(line, file=file, flush=True)) else 0
    except (ImportRefused, RefusedError) as error:
        print(f"evotile.flashinfer: {error}", file=sys.stderr)
        return 2
    except (EvotileError, OSError) as error:
        print(f"evotile.flashinfer: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
