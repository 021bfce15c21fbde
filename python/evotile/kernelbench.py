"""KernelBench modules: `class Model(nn.Module)` with get_inputs and get_init_inputs becomes a problem whose reference is the module, and
a run's winner becomes a ModelNew that KernelBench's own evaluator can run. docs/traces.md describes it.

    python3 -m evotile.kernelbench import 1_Linear.py --out FOLDER --probe '{"batch_size": 3}'
    evotile run FOLDER/config.json --out RUN
    python3 -m evotile.kernelbench report FOLDER RUN --out WINNERS

It needs nothing but Python's standard library; the module runs in a python3 with PyTorch, as reference.py does later.
"""
import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile

from . import problems
from .client import EvotileError
from .problems import ImportRefused, check_name, choose

DTYPES = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8",
          "uint8": "u8", "bool": "bool"}

# Behind the module's own text in reference.py. `python3 reference.py` prints what the import needs to know.
RUNNER = '''

# ---- of evotile ----
EVOTILE_SETS = @SETS@
EVOTILE_SEED = @SEED@
EVOTILE_DOUBLE = @DOUBLE@
evotile_own = {name: globals()[name] for sizes in EVOTILE_SETS for name in sizes}
evotile_models = {}


def evotile_size(at):
    globals().update(evotile_own)
    globals().update(EVOTILE_SETS[at])


def evotile_model(at, double):
    """The module at a set of sizes; made once."""
    evotile_size(at)
    if at not in evotile_models:
        torch.manual_seed(EVOTILE_SEED)
        given = get_init_inputs()
        model = Model(**given) if isinstance(given, dict) else Model(*given)
        evotile_models[at] = model.double() if double else model
    return evotile_models[at]


def evotile_state(model):
    """Its parameters and buffers of real numbers, by the names of tensors."""
    named = list(model.named_parameters()) + list(model.named_buffers())
    return {"p_" + name.replace(".", "_"): tensor for name, tensor in named if tensor.dtype.is_floating_point}


def evotile_outputs(value):
    return list(value) if isinstance(value, (tuple, list)) else [value]


def evotile_array(value):
    value = value.detach().cpu()
    value = value.to(torch.float64) if value.dtype.is_floating_point else value.to(torch.uint8) if value.dtype == torch.bool else value
    return value.reshape(1) if value.dim() == 0 else value


def reference(case, **tensors):
    at = case["SET"]
    with torch.no_grad():
        model = evotile_model(at, EVOTILE_DOUBLE)
        for name, tensor in evotile_state(model).items():
            tensor.data.copy_(torch.from_numpy(tensors[name]).reshape(tensor.shape))
        taken = []
        for name, kind, value in @INPUTS@:
            if kind is None:
                taken.append(value)
            else:
                dtype = torch.float64 if EVOTILE_DOUBLE and kind.startswith(("float", "bfloat")) else getattr(torch, kind)
                taken.append(torch.from_numpy(tensors[name]).to(dtype))
        found = evotile_outputs(model(*taken))
    return dict(zip(@OUTPUTS@, map(evotile_array, found)))


def evotile_describe():
    """JSON: for each set of sizes the tensors, and whether the module computes in double."""
    import inspect
    import json

    def kind(tensor):
        return str(tensor.dtype).split(".")[-1]

    def numbers(tensor):
        values = tensor.detach().to(torch.float64)
        if values.numel() == 0:
            raise RuntimeError("a tensor is empty")
        return {"dtype": kind(tensor), "shape": list(tensor.shape), "least": values.min().item(), "most": values.max().item(),
                "mean": values.mean().item(), "deviation": (values - values.mean()).pow(2).mean().item() ** 0.5}

    def wider(values, double):
        return [value.double() if double and isinstance(value, torch.Tensor) and value.dtype.is_floating_point else value for value in values]

    names = [name for name in inspect.signature(Model.forward).parameters][1:]
    described, double, note = [], True, None
    for at in range(len(EVOTILE_SETS)):
        with torch.no_grad():
            model = evotile_model(at, False)
            torch.manual_seed(EVOTILE_SEED)
            inputs = list(get_inputs())
            state = {name: numbers(tensor) for name, tensor in evotile_state(model).items()}
            outputs = evotile_outputs(model(*inputs))
            again = evotile_outputs(model(*inputs))
            if not all(isinstance(one, torch.Tensor) for one in outputs):
                raise RuntimeError("an output is no tensor")
            random = not all(((one == other) | (one != one)).all().item() for one, other in zip(outputs, again))
            given = []
            for number, value in enumerate(inputs):
                name = names[number] if number < len(names) else "in%d" % number
                if isinstance(value, torch.Tensor):
                    given.append({"name": name, **numbers(value)})
                elif value is None or isinstance(value, (bool, int, float, str)):
                    given.append({"name": name, "value": value})
                else:
                    raise RuntimeError("input %s is a %s: a tensor or a number is needed" % (name, type(value).__name__))
            described.append({"inputs": given, "state": state, "random": random,
                              "outputs": [{"dtype": kind(one), "shape": list(one.shape)} for one in outputs]})
            try:
                evotile_models[at] = model.double()
                evotile_outputs(model(*wider(inputs, True)))
            except Exception as error:
                double, note = False, "%s: %s" % (type(error).__name__, " ".join(str(error).split())[:200])
            del evotile_models[at]
    print(json.dumps({"sets": described, "double": double, "note": note}))


if __name__ == "__main__":
    evotile_describe()
'''


def reference_text(source, sizes, seed, double=True, inputs=(), outputs=()):
    future = [line for line in source.splitlines() if line.startswith("from __future__")]
    body = "\n".join("" if line.startswith("from __future__") else line for line in source.splitlines())
    runner = RUNNER
    for mark, value in (("@SETS@", sizes), ("@SEED@", seed), ("@DOUBLE@", double), ("@INPUTS@", list(inputs)), ("@OUTPUTS@", list(outputs))):
        runner = runner.replace(mark, repr(value))
    return "\n".join(future) + "\n# A module of KernelBench as a reference.\n" + problems.torch_guard("a PyTorch module") + "\n" + body + runner


def check_module(path, source, sizes):
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise ImportRefused(f"{path}:{error.lineno}: {error.msg}: give a module of KernelBench") from error
    defined = {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    for name in ("Model", "get_inputs", "get_init_inputs"):
        if name not in defined:
            raise ImportRefused(f"{path}: has no {name}: a module of KernelBench has the class Model and the functions get_inputs and get_init_inputs")
    assigned = {target.id for node in tree.body if isinstance(node, ast.Assign) for target in node.targets if isinstance(target, ast.Name)}
    for name in {name for one in sizes for name in one}:
        if name not in assigned:
            raise ImportRefused(f"{path}: has no number {name!r} at its top: --size and --probe name such numbers, as {', '.join(sorted(assigned)) or 'none'}")


def describe(python, text):
    """Runs the module in that python3; its tensors."""
    with tempfile.TemporaryDirectory() as folder:
        problems.write(folder, "reference.py", text)
        try:
            ran = subprocess.run([python, os.path.join(folder, "reference.py")], capture_output=True, text=True, check=False)
        except OSError as error:
            raise ImportRefused(f"{python}: {error.strerror}: --python names a python3 with PyTorch") from error
    if ran.returncode != 0:
        last = (ran.stderr.strip().splitlines() or ["it prints nothing"])[-1]
        raise ImportRefused(f"the module does not run: {last}" + (" (--python names another python3)" if "torch" in last else ""))
    return json.loads(ran.stdout.strip().splitlines()[-1])


# ---- the problem ----

def fill_of(name, found, notes):
    """A fill from the numbers that get_inputs or the module's own initialisation gave."""
    dtype, least, most = DTYPES[found["dtype"]], found["least"], found["most"]
    if dtype == "bool":
        return "normal"
    if least == most:
        return {"constant": least if dtype.startswith(("f", "bf")) else int(least)}
    if not dtype.startswith(("f", "bf")):
        notes.append(f"input {name}: whole numbers from {least:.0f} to {most:.0f}, which is what get_inputs gave once")
        return {"uniform": [int(least), int(most)]}
    if name.startswith("p_"):
        return {"uniform": [least, most]}
    if least >= 0 and most <= 1:
        return {"uniform": [0, 1]}
    if abs(found["mean"]) < 0.3 and 0.7 < found["deviation"] < 1.4:
        return "normal"
    notes.append(f"input {name}: is neither torch.rand's nor torch.randn's: uniform numbers from {least:g} to {most:g}")
    return {"uniform": [least, most]}


def shape_of(all_sets, key, name):
    """A tensor's extents, as expressions that read SET, checked to be of one rank and dtype."""
    every = [one[key][name] for one in all_sets]
    if len({(found["dtype"], len(found["shape"])) for found in every}) != 1:
        raise ImportRefused(f"{name}: has another dtype or rank with the sizes of --probe: give other sizes")
    return [choose("SET", extents) for extents in zip(*(found["shape"] or [1] for found in every))]


def problem_of(name, source, described, options, notes):
    sets = described["sets"]
    if any(one["random"] for one in sets):
        raise ImportRefused("Model: two calls with the same inputs differ (dropout?): evotile compares outputs with those of a reference")
    for one in sets:
        one["inputs"] = {given["name"]: given for given in one["inputs"]}
        one["outputs"] = {"out" if len(one["outputs"]) == 1 else f"out{at}": given for at, given in enumerate(one["outputs"])}
    first = sets[0]
    if any(list(one[key]) != list(first[key]) for one in sets for key in ("inputs", "state", "outputs")):
        raise ImportRefused("Model: has other tensors with the sizes of --probe: give other sizes")
    tensors, derived, order = {}, {}, []
    for given, found in first["inputs"].items():
        if "value" in found:
            order.append((given, None, found["value"]))
            notes.append(f"input {given}: {found['value']!r}: a constant of the problem, no argument")
            continue
        check_name(given, f"forward's {given}")
        order.append((given, found["dtype"], None))
        shape = []
        for at, extent in enumerate(shape_of(sets, "inputs", given)):
            derived[f"{given}_{at}"] = extent
            shape.append(f"{given}_{at}")
        tensors[given] = {"dtype": dtype_of(given, found), "shape": shape, "role": "input", "fill": fill_of(given, found, notes)}
    for given, found in first["state"].items():
        tensors[given] = {"dtype": dtype_of(given, found), "shape": shape_of(sets, "state", given), "role": "input", "fill": fill_of(given, found, notes)}
    for given, found in first["outputs"].items():
        tensors[given] = {"dtype": dtype_of(given, found), "shape": shape_of(sets, "outputs", given), "role": "output"}
        if options.precision:
            tensors[given]["precision"] = options.precision
    if not described["double"]:
        notes.append(f"the module does not compute in double ({described['note']}): its reference has its own dtypes")
    count = {given: problems.product(tensor["shape"]) for given, tensor in tensors.items()}
    if not options.operations:
        notes.append("a module does not count operations: `operations` is one for each element of an output; --operations gives another")
    clash = set(tensors) & set(derived)
    if clash:
        raise ImportRefused(f"{sorted(clash)[0]!r} names both a tensor and an extent: rename forward's argument")
    problem = {
        "format": 2, "name": name, "about": f"KernelBench's {name}", "default_solution": "skeleton",
        "dimensions": {"SET": {"about": "which sizes: 0 the module's own, then those of --probe", "values": list(range(len(sets))), "default": 0}},
        "derived": derived,
        "tensors": tensors,
        "reference": {"python": "reference.py", "limit_s": options.limit},
        "operations": options.operations or " + ".join(count[given] for given in first["outputs"]),
        "bytes": options.bytes or " + ".join(f"{problems.DTYPES[tensor['dtype']][0]} * {count[given]}" for given, tensor in tensors.items()
                                             if tensor["role"] == "output" or all(t["dtype"].startswith(("f", "bf")) for t in tensors.values())),
        "probe_cases": [{"SET": at} for at in range(1, len(sets))],
    }
    text = reference_text(source, options.sets, options.seed, described["double"], order, list(first["outputs"]))
    return problem, {"reference.py": text}, order


def dtype_of(name, found):
    if found["dtype"] not in DTYPES:
        raise ImportRefused(f"{name}: {found['dtype']} is no dtype of a template")
    return DTYPES[found["dtype"]]


def import_module(path, folder, options):
    source = problems.read_text(path, "a module of KernelBench")
    check_module(path, source, options.sets)
    stem = os.path.splitext(os.path.basename(path))[0]
    number = re.match(r"(\d+)_", stem)
    name = check_name(re.sub(r"[^A-Za-z0-9_]", "_", stem[number.end() if number else 0:]).strip("_") or "module", path)
    notes = []
    described = describe(options.python, reference_text(source, options.sets, options.seed))
    problem, files, order = problem_of(name, source, described, options, notes)
    problems.start_folder(folder, options.force)
    problems.write_problem(folder, problem, files, [{"SET": 0}], f"KernelBench's {name}")
    problems.write(folder, "module.py", source)
    problems.write(folder, problems.MARK, {"kind": "kernelbench", "problem": name, "problem_id": int(number[1]) if number else None,
                                           "inputs": order, "sizes": options.sets[0], "seed": options.seed})
    return {"problem": name, "tensors": len(problem["tensors"]), "probe_cases": len(problem["probe_cases"]), "notes": notes}


# ---- the report ----

MODEL_NEW = '''

# ---- of evotile: @ABOUT@ ----
import ctypes
import os

import torch


class EvotileShape(ctypes.Structure):
    _fields_ = [("SET", ctypes.c_int64)]


class EvotileTensors(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in @TENSORS@]


def evotile_library():
    library = ctypes.CDLL(os.environ.get("EVOTILE_LIBRARY_@NAME@", @LIBRARY@), mode=os.RTLD_LAZY)
    library.@NAME@_workspace_bytes.restype = ctypes.c_int64
    library.@NAME@_workspace_bytes.argtypes = [ctypes.POINTER(EvotileShape)]
    library.@NAME@_launch.argtypes = [ctypes.POINTER(EvotileShape), ctypes.POINTER(EvotileTensors), ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    library.@NAME@_error_string.restype = ctypes.c_char_p
    return library


class ModelNew(Model):
    """The same parameters, and the exported kernel in place of forward."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.evotile = evotile_library()
        self.evotile_shape = EvotileShape(0)
        self.evotile_workspace = self.evotile.@NAME@_workspace_bytes(ctypes.byref(self.evotile_shape))

    def forward(self, *inputs):
        given = {name: value for name, value in zip(@INPUTS@, inputs) if name is not None}
        for name, tensor in list(self.named_parameters()) + list(self.named_buffers()):
            given["p_" + name.replace(".", "_")] = tensor
        taken, device = {}, None
        for name, dtype, shape in @TAKEN@:
            tensor = given[name].detach().contiguous()
            if tensor.dtype != getattr(torch, dtype) or list(tensor.shape) != shape:
                raise ValueError("%s is %s %s, and the kernel takes %s %s" % (name, tensor.dtype, list(tensor.shape), dtype, shape))
            taken[name], device = tensor, tensor.device
        made = [(name, torch.empty(shape, dtype=getattr(torch, dtype), device=device)) for name, dtype, shape in @MADE@]
        taken.update(made)
        workspace = torch.empty(max(self.evotile_workspace, 1), dtype=torch.uint8, device=device)
        tensors = EvotileTensors(**{name: tensor.data_ptr() for name, tensor in taken.items()})
        status = self.evotile.@NAME@_launch(ctypes.byref(self.evotile_shape), ctypes.byref(tensors), workspace.data_ptr(), self.evotile_workspace,
                                            torch.cuda.current_stream(device).cuda_stream)
        if status != 0:
            raise RuntimeError(self.evotile.@NAME@_error_string(status).decode())
        return made[0][1] if len(made) == 1 else tuple(tensor for _, tensor in made)
'''

TORCH = {dtype: name for name, dtype in DTYPES.items()}


def extent_value(text):
    """An extent where SET is 0: a number, or the first branch of a choice."""
    found = re.match(r"(?:SET == 0 \? )?(\d+)", text)
    return int(found[1])


def export_of(run, folder, name, evotile):
    """The exported folder of a run, or the folder itself if it is one."""
    if os.path.exists(os.path.join(run, "manifest.json")):
        return os.path.abspath(run)
    out = os.path.abspath(os.path.join(folder, "kernels", name))
    ran = subprocess.run([evotile, "export", run, "--out", out, "--force"], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise ImportRefused((ran.stderr.strip().splitlines() or [f"{run} cannot be exported"])[-1])
    return out


def build_library(export, name, nvcc):
    """lib NAME.so of an exported launcher, from the machine code that was judged."""
    command = [nvcc, "-O3", "-shared", "-Xcompiler", "-fPIC", "-o", f"lib{name}.so", f"{name}.c", "-lcudart", "-lcuda"]
    stubs = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(nvcc))), "lib64", "stubs")
    command += [f"-L{stubs}"] if os.path.isdir(stubs) else []
    try:
        ran = subprocess.run(command, cwd=export, capture_output=True, text=True, check=False)
    except OSError as error:
        raise ImportRefused(f"{nvcc}: {error.strerror}: --nvcc names the CUDA Toolkit's compiler") from error
    if ran.returncode != 0 and "cannot find -lcuda" in ran.stderr:  # no driver and no stub here: the program that loads it has the driver
        ran = subprocess.run([word for word in command if word != "-lcuda"], cwd=export, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise ImportRefused(f"{export}: {(ran.stderr.strip().splitlines() or ['nvcc fails'])[0]}")
    return os.path.join(export, f"lib{name}.so")


def model_new(folder, found, export, library):
    """The text of a module with Model, get_inputs, get_init_inputs and ModelNew."""
    problem = problems.read_json(os.path.join(folder, found["problem"], "problem.json"), "a problem")
    manifest = problems.read_json(os.path.join(export, "manifest.json"), "an exported kernel")
    if manifest["template"]["name"] != found["problem"]:
        raise ImportRefused(f"{export}: is a kernel of {manifest['template']['name']}, and {folder} has {found['problem']}")
    extents = {name: extent_value(text) for name, text in problem["derived"].items()}
    listed = [(name, tensor["role"], TORCH[tensor["dtype"]], [extents.get(extent) or extent_value(extent) for extent in tensor["shape"]])
              for name, tensor in problem["tensors"].items()]
    source = problems.read_text(os.path.join(folder, "module.py"), "a module")
    sizes = "".join(f"\n{name} = {value!r}" for name, value in found["sizes"].items())
    text = MODEL_NEW
    for mark, value in (("@ABOUT@", f"{manifest['units'][0]['genome']}, of {manifest['device']['name']}"), ("@NAME@", manifest["name"]),
                        ("@TENSORS@", repr([name for name, *_ in listed])), ("@LIBRARY@", repr(library)),
                        ("@INPUTS@", repr([name if kind else None for name, kind, _ in found["inputs"]])),
                        ("@TAKEN@", repr([(name, dtype, shape) for name, role, dtype, shape in listed if role == "input"])),
                        ("@MADE@", repr([(name, dtype, shape) for name, role, dtype, shape in listed if role == "output"]))):
        text = text.replace(mark, value)
    return source + sizes + text, manifest


def entry_of(found, export, library, module, manifest):
    case = next(case for case in manifest["cases"] if case["shape"].get("SET", 0) == 0)
    unit = manifest["units"][case["unit"]]
    return {"problem": found["problem"], "problem_id": found["problem_id"], "module": module, "export": export, "library": library,
            "seed": found["seed"], "sizes": found["sizes"], "genome": unit["genome"], "device": manifest["device"]["name"], "predicted": manifest["predicted"],
            "latency_us": case["p50_us"], "errors": case["errors"], "bound": case["tolerance"], "checks": unit["checks"], "key": unit["key"]}


def report(pairs, out, options):
    os.makedirs(out, exist_ok=True)
    entries = []
    for folder, run in pairs:
        found = problems.read_import(folder, "kernelbench")
        export = export_of(run, out, found["problem"], options.evotile)
        manifest = problems.read_json(os.path.join(export, "manifest.json"), "an exported kernel")
        library = build_library(export, manifest["name"], options.nvcc)
        text, manifest = model_new(folder, found, export, library)
        module = f"{found['problem']}.py"
        problems.write(out, module, text)
        entries.append(entry_of(found, export, library, module, manifest))
    problems.write(out, "kernelbench_report.json", {"format": 1, "winners": entries})
    return entries


# ---- the command line ----

def read_sizes(text, option):
    try:
        sizes = json.loads(text)
        if isinstance(sizes, dict) and all(isinstance(value, (int, float)) for value in sizes.values()):
            return sizes
    except json.JSONDecodeError:
        pass
    raise ImportRefused(f"{option} {text}: write {option} '{{\"batch_size\": 3}}'")


def parse(arguments):
    parser = argparse.ArgumentParser(prog="python3 -m evotile.kernelbench", description="KernelBench's modules for evotile (docs/traces.md)")
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("import", help="a module becomes a problem")
    one.add_argument("module")
    one.add_argument("--out", required=True, metavar="FOLDER")
    one.add_argument("--force", action="store_true", help="replace an earlier import")
    one.add_argument("--size", default="{}", metavar="JSON", help="other values of numbers at the module's top")
    one.add_argument("--probe", action="append", default=[], metavar="JSON", help="the same for a small case that every candidate must pass first")
    one.add_argument("--seed", type=int, default=42, help="of the module's initialisation (42)")
    one.add_argument("--precision", metavar="DTYPE", help="a coarser dtype that suffices for the outputs, such as f16")
    one.add_argument("--operations", metavar="EXPRESSION", help="of one call")
    one.add_argument("--bytes", metavar="EXPRESSION", help="that one call reads and writes at least")
    one.add_argument("--limit", type=int, default=300, metavar="SECONDS", help="of each answer of the reference (300)")
    one.add_argument("--python", default="python3", metavar="PROGRAM", help="a python3 with PyTorch and NumPy (python3)")
    two = verbs.add_parser("report", help="kernelbench_report.json of runs' winners, with a ModelNew for each")
    two.add_argument("pairs", nargs="+", metavar="FOLDER RUN", help="an import, and its run or exported folder; any number of pairs")
    two.add_argument("--out", required=True, metavar="FOLDER")
    two.add_argument("--nvcc", default=os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin", "nvcc"), metavar="PROGRAM")
    two.add_argument("--evotile", default=os.environ.get("EVOTILE", "evotile"), metavar="PROGRAM")
    options = parser.parse_args(arguments)
    if options.verb == "import":
        size = read_sizes(options.size, "--size")
        options.sets = [size] + [{**size, **read_sizes(text, "--probe")} for text in options.probe]
    elif len(options.pairs) % 2:
        parser.error("give pairs of an import and its run")
    return options


def main(arguments=None):
    try:
        options = parse(arguments)
        if options.verb == "import":
            found = import_module(options.module, options.out, options)
            for note in found["notes"]:
                print(f"note: {note}", file=sys.stderr)
            print(f"{options.out}: the problem {found['problem']}: {found['tensors']} tensors, {found['probe_cases']} probe cases")
        else:
            for entry in report(list(zip(options.pairs[::2], options.pairs[1::2])), options.out, options):
                print(f"{options.out}/{entry['module']}: {entry['latency_us']:.3f} us{' predicted' if entry['predicted'] else ''}")
        return 0
    except ImportRefused as error:
        print(f"evotile.kernelbench: {error}", file=sys.stderr)
        return 2
    except (EvotileError, OSError) as error:
        print(f"evotile.kernelbench: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
