"""What evotile.flashinfer and evotile.kernelbench share: expressions, the files of a problem, and the skeleton of a solution.

Nothing here runs code of what is imported.
"""
import ast
import json
import os
import re
import shutil
import struct

from .client import EvotileError

DIMENSIONS_MAX, TENSORS_MAX, CASES_MAX = 24, 16, 64  # template/template.h, outcome/outcome.h
FILE_BYTES_MAX = 256 << 20

# dtype: (bytes of an element, what kernel.cu of a skeleton calls it)
DTYPES = {"f64": (8, "double"), "f32": (4, "float"), "f16": (2, "__half"), "bf16": (2, "__nv_bfloat16"),
          "f8_e4m3": (1, "unsigned char"), "f8_e5m2": (1, "unsigned char"), "i64": (8, "long long"), "i32": (4, "int"),
          "u32": (4, "unsigned"), "i16": (2, "short"), "i8": (1, "signed char"), "u8": (1, "unsigned char"),
          "bool": (1, "unsigned char")}

KEYWORDS = frozenset("""auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while asm bool catch class
constexpr delete explicit export false friend mutable namespace new operator private protected public template this throw true try
typename using virtual""".split())


class ImportRefused(EvotileError):
    """What is given cannot be expressed as a problem: the text names the key and the reason."""


def check_name(name, where):
    """A name becomes one of C and of an expression."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,59}", name) or name in KEYWORDS or name.startswith("__"):
        raise ImportRefused(f"{where}: {name!r} cannot be a name in C: rename it")
    return name


# ---- expressions ----

class Expression:
    """An expression of Python over whole numbers, as evotile writes it. `text` is None if evotile cannot express it."""
    OPERATORS = {ast.Add: ("+", lambda a, b: a + b), ast.Sub: ("-", lambda a, b: a - b), ast.Mult: ("*", lambda a, b: a * b),
                 ast.FloorDiv: ("/", lambda a, b: a // b), ast.Div: ("/", lambda a, b: a // b), ast.Mod: ("%", lambda a, b: a % b)}
    COMPARISONS = {ast.Eq: ("==", lambda a, b: a == b), ast.NotEq: ("!=", lambda a, b: a != b), ast.Lt: ("<", lambda a, b: a < b),
                   ast.LtE: ("<=", lambda a, b: a <= b), ast.Gt: (">", lambda a, b: a > b), ast.GtE: (">=", lambda a, b: a >= b)}

    def __init__(self, source, known):
        self.source, self.known, self.names = source, known, set()
        try:
            self.tree = ast.parse(source.strip(), mode="eval").body
            self.text = self.print(self.tree)
        except (SyntaxError, ValueError):
            self.tree = self.text = None

    def print(self, node):
        if isinstance(node, ast.Constant) and type(node.value) in (int, bool):
            return str(int(node.value))
        if isinstance(node, ast.Name) and node.id in self.known:
            self.names.add(node.id)
            return node.id
        if isinstance(node, ast.BinOp) and type(node.op) in self.OPERATORS:
            return f"({self.print(node.left)} {self.OPERATORS[type(node.op)][0]} {self.print(node.right)})"
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant) and node.right.value in (1, 2, 3, 4):
            return "(" + " * ".join([self.print(node.left)] * node.right.value) + ")"
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd, ast.Not)):
            sign = {ast.USub: "-", ast.UAdd: "", ast.Not: "!"}[type(node.op)]
            return f"({sign}{self.print(node.operand)})"
        if isinstance(node, ast.BoolOp):
            return "(" + (" && " if isinstance(node.op, ast.And) else " || ").join(map(self.print, node.values)) + ")"
        if isinstance(node, ast.Compare) and all(type(op) in self.COMPARISONS for op in node.ops):
            sides = list(map(self.print, [node.left, *node.comparators]))
            parts = [f"({a} {self.COMPARISONS[type(op)][0]} {b})" for a, op, b in zip(sides, node.ops, sides[1:])]
            return parts[0] if len(parts) == 1 else "(" + " && ".join(parts) + ")"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("min", "max") and node.args and not node.keywords:
            return f"{node.func.id}({', '.join(map(self.print, node.args))})"
        raise ValueError(ast.dump(node))

    def value(self, values, node=None):
        """Its value where the names have these values."""
        node = self.tree if node is None else node
        if isinstance(node, ast.Constant):
            return int(node.value)
        if isinstance(node, ast.Name):
            return values[node.id]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            return self.value(values, node.left) ** node.right.value
        if isinstance(node, ast.BinOp):
            return self.OPERATORS[type(node.op)][1](self.value(values, node.left), self.value(values, node.right))
        if isinstance(node, ast.UnaryOp):
            operand = self.value(values, node.operand)
            return -operand if isinstance(node.op, ast.USub) else int(not operand) if isinstance(node.op, ast.Not) else operand
        if isinstance(node, ast.BoolOp):
            return int((all if isinstance(node.op, ast.And) else any)(self.value(values, part) for part in node.values))
        if isinstance(node, ast.Call):
            return {"min": min, "max": max}[node.func.id](self.value(values, part) for part in node.args)
        sides = [self.value(values, part) for part in [node.left, *node.comparators]]
        return int(all(self.COMPARISONS[type(op)][1](a, b) for a, op, b in zip(sides, node.ops, sides[1:])))

    def defines(self):
        """(name, expression) if it says name == expression and the expression does not read the name."""
        if not (isinstance(self.tree, ast.Compare) and len(self.tree.ops) == 1 and isinstance(self.tree.ops[0], ast.Eq)):
            return None
        for name, other in ((self.tree.left, self.tree.comparators[0]), (self.tree.comparators[0], self.tree.left)):
            if isinstance(name, ast.Name):
                found = Expression(ast.get_source_segment(self.source.strip(), other), self.known)
                if found.text is not None and name.id not in found.names:
                    return name.id, found
        return None


def bare(text):
    """An expression without the brackets around the whole of it."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and at < len(text) - 1:
            return text
    return text[1:-1] if text.startswith("(") else text


def choose(selector, values):
    """An expression that gives values[i] where the dimension `selector` is i."""
    if len(set(values)) == 1:
        return str(values[0])
    text = str(values[-1])
    for at in reversed(range(len(values) - 1)):
        text = f"{selector} == {at} ? {values[at]} : ({text})" if "?" in text else f"{selector} == {at} ? {values[at]} : {text}"
    return text


def product(extents):
    return " * ".join(f"({extent})" if re.search(r"\W", extent) else extent for extent in extents) or "1"


# ---- files ----

def read_text(path, what):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise ImportRefused(f"{path}: {getattr(error, 'strerror', None) or 'is not UTF-8'}: give the file of {what}") from error


def read_json(path, what):
    try:
        return json.loads(read_text(path, what))
    except json.JSONDecodeError as error:
        raise ImportRefused(f"{path}:{error.lineno}: is no JSON ({error.msg}): give the file of {what}") from error


def read_jsonl(path, what):
    """The objects of a file with one a line, or of a JSON list or object."""
    text, found = read_text(path, what), []
    try:
        whole = json.loads(text)
        return whole if isinstance(whole, list) else [whole]
    except json.JSONDecodeError:
        pass
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                found.append(json.loads(line))
            except json.JSONDecodeError as error:
                raise ImportRefused(f"{path}:{number}: is no JSON ({error.msg}): give the file of {what}, one a line") from error
    return found


SAFETENSORS_DTYPES = {"F64": "f64", "F32": "f32", "F16": "f16", "BF16": "bf16", "F8_E4M3": "f8_e4m3", "F8_E5M2": "f8_e5m2", "I64": "i64",
                      "I32": "i32", "U32": "u32", "I16": "i16", "I8": "i8", "U8": "u8", "BOOL": "bool"}


def read_safetensor(path, key):
    """(dtype, shape, bytes) of a tensor of a file."""
    try:
        with open(path, "rb") as file:
            size = struct.unpack("<Q", file.read(8))[0]
            if size > 100 << 20:
                raise ValueError
            header = json.loads(file.read(size))
            if key not in header:
                raise ImportRefused(f"{path} has no tensor {key!r}: it has {', '.join(sorted(set(header) - {'__metadata__'}))[:200]}")
            entry = header[key]
            first, last = entry["data_offsets"]
            file.seek(8 + size + first)
            data = file.read(last - first)
            if len(data) != last - first:
                raise ValueError
            return SAFETENSORS_DTYPES.get(entry["dtype"], entry["dtype"]), list(entry["shape"]), data
    except OSError as error:
        raise ImportRefused(f"{path}: {error.strerror}: the data set's files are needed beside it; --root names their folder") from error
    except (ValueError, KeyError, struct.error) as error:
        raise ImportRefused(f"{path} is no file of safetensors, or is not complete: fetch it again (Git LFS leaves a pointer)") from error


def write(folder, name, content):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if not isinstance(content, (str, bytes)):
        content = json.dumps(content, indent=2) + "\n"
    with open(path, "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)


MARK = "import.json"


def start_folder(folder, force):
    """A folder that is new or, with `force`, of an earlier import."""
    if os.path.isdir(folder) and os.listdir(folder):
        if not force:
            raise ImportRefused(f"{folder} is not empty: give another --out, or --force to replace an earlier import")
        if not os.path.exists(os.path.join(folder, MARK)):
            raise ImportRefused(f"{folder} holds no earlier import: give another --out")
        shutil.rmtree(folder)
    os.makedirs(folder, exist_ok=True)


def read_import(folder, kind):
    path = os.path.join(folder, MARK)
    found = read_json(path, "an import") if os.path.exists(path) else {}
    if found.get("kind") != kind:
        raise ImportRefused(f"{folder} holds no import of evotile.{kind}: make one with `python3 -m evotile.{kind} import`")
    return found


def torch_guard(what):
    return f'''try:
    import torch
except ImportError as error:
    raise RuntimeError("this reference is {what}: install torch for the python3 that runs references (pip install torch numpy)") from error
'''


# ---- the skeleton of a solution ----

def arguments_of(problem):
    """Of a launch: tensors in their order, then dimensions, as a kernel's arguments: [(JSON, declaration)]."""
    found = []
    for name, tensor in problem["tensors"].items():
        if tensor["role"] in ("input", "output"):
            constant = "const " if tensor["role"] == "input" else ""
            found.append((name, f"{constant}{DTYPES[tensor['dtype']][1]} *{name}"))
    for name, dimension in problem["dimensions"].items():
        if dimension.get("real"):
            found.append(({"f32": name}, f"float {name}"))
        elif name not in specialised_of(problem):
            found.append(({"i32": name}, f"int {name}"))
    return found


def specialised_of(problem):
    """Dimensions of one value, which the source gets as #defines. Headers of the toolkit use short names, such as h and N, of their own."""
    return [name for name, dimension in problem["dimensions"].items() if len(dimension.get("values", [0, 0])) == 1 and len(name) > 3]


def skeleton_of(problem, kernels=("kernel",), source="kernel.cu", about=None):
    """The solution.json of a problem: right but for the grids, which its author chooses."""
    arguments = [argument for argument, _ in arguments_of(problem)]
    return {
        "format": 2,
        "about": about or f"a solution of {problem['name']}",
        "specialised": specialised_of(problem),
        "genes": {"THREADS": {"about": "threads a block", "values": [128, 256], "default": 128}},
        "source": source,
        "launches": [{"kernel": kernel, "grid": ["1", "1", "1"], "block": ["THREADS", "1", "1"], "arguments": arguments}
                     for kernel in kernels],
    }


def skeleton_kernel(problem):
    """A kernel.cu with the arguments of that solution.json. It writes nothing."""
    dtypes = {tensor["dtype"] for tensor in problem["tensors"].values()}
    lines = ["// The arguments of a solution. This kernel writes no output: the judge says that it is wrong."]
    lines += [f"#include <{header}>" for dtype, header in (("f16", "cuda_fp16.h"), ("bf16", "cuda_bf16.h")) if dtype in dtypes]
    declared = ",\n                                  ".join(text for _, text in arguments_of(problem))
    lines += ["", f'extern "C" __global__ void kernel({declared}) {{', "}", ""]
    return "\n".join(lines)


def write_problem(folder, problem, files, cases, about):
    """FOLDER/NAME with problem.json, its files and the solution `skeleton`, and FOLDER/config.json (and config_2.json ...). Returns
    the configs' names."""
    name = problem["name"]
    for key, most in (("dimensions", DIMENSIONS_MAX), ("tensors", TENSORS_MAX)):
        if len(problem[key]) > most:
            raise ImportRefused(f"{key}: the problem would have {len(problem[key])}, and a template has {most} at most: split the problem")
    write(folder, f"{name}/problem.json", problem)
    for file, content in files.items():
        write(folder, f"{name}/{file}", content)
    write(folder, f"{name}/skeleton/solution.json", skeleton_of(problem, about="the arguments alone: write the kernel"))
    write(folder, f"{name}/skeleton/kernel.cu", skeleton_kernel(problem))
    configs = []
    for first in range(0, len(cases), CASES_MAX):
        config = "config.json" if first == 0 else f"config_{first // CASES_MAX + 1}.json"
        write(folder, config, {"about": about, "template": f"./{name}/skeleton", "objective": "per_case",
                               "cases": cases[first:first + CASES_MAX], "device": "auto"})
        configs.append(config)
    return configs
