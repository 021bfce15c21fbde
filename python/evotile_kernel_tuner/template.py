"""Writes the template of a call of tune_kernel: a T1 description for `evotile import`, then what T1 cannot say: the arrays themselves,
their shapes, and the answer.
"""
import json
import os
import re
import subprocess

import numpy

from evotile import EvotileError

from . import launch
from .functions import as_text, called

LANGUAGES = ("CUDA", "CUPY", "NVCUDA")
OF_OTHERS = ("__kernel ", "hipLaunchKernel", "subroutine ", "#include <hip")
RELATIVE = 1e-5  # of numpy.allclose, by which Kernel Tuner compares


# ---- the source ----

def is_file_name(text):
    return len(text) <= 250 and not re.search(r"[(){};\\\n]", text) and "." in text


def read_file(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise EvotileError(f"kernel_source: {path} cannot be read: {error}")


def read_source(kernel_source):
    """(text, {name: text} of the files that it may include)."""
    if callable(kernel_source):
        raise EvotileError("kernel_source is a function: evotile compiles one source for all configurations; let its macros choose, and give "
                           "the text or the file")
    if isinstance(kernel_source, (list, tuple)):
        if not kernel_source:
            raise EvotileError("kernel_source is an empty list")
        return read_source(kernel_source[0])[0], {os.path.basename(path): read_file(path) for path in kernel_source[1:]}
    if isinstance(kernel_source, os.PathLike):
        return read_file(kernel_source), {}
    if not isinstance(kernel_source, str):
        raise EvotileError(f"kernel_source is a {type(kernel_source).__name__}: give the text, or the name of a file")
    return (read_file(kernel_source) if is_file_name(kernel_source) else kernel_source), {}


def renamed(name):
    return f"included_{name}"


def with_renamed_files(text, names):
    """A template does not include a file whose name is also one of the working directory, where the script's files lie."""
    def directive(match):
        name = os.path.basename(match[2])
        return f'{match[1]}"{renamed(name)}"' if name in names else match[0]
    return re.sub(r'^(#include )"([^"]*)"', directive, text, flags=re.M)


def check_language(lang, source):
    if lang is not None and lang.upper() not in LANGUAGES:
        raise EvotileError(f"lang is {lang!r}: evotile tunes CUDA, through NVRTC")
    if lang is None and any(mark in source for mark in OF_OTHERS):
        raise EvotileError("the source is in OpenCL, HIP or Fortran: evotile tunes CUDA; lang='CUDA' says that it is")


def source_text(call):
    """The source behind the macros that Kernel Tuner defines besides the parameters."""
    macros = [("kernel_tuner", 1)] + [(name, launch.BLOCK_DEFAULTS[axis]) for axis, name in enumerate(call.block_names)
                                      if name not in call.parameters]
    lines = [f"#define {name} {value}\n" for name, value in macros if launch.reads_macro(call.source, name)]
    return "".join(lines) + with_renamed_files(call.source, call.included)


# ---- the space ----

def plain_value(value, name):
    value = value.item() if isinstance(value, numpy.generic) else value
    if not isinstance(value, (bool, int, float, str)):
        raise EvotileError(f"tune_params[{name!r}] has {value!r}: give numbers and strings")
    return value


def read_parameters(tune_params):
    """{name: values}, of Python's own types."""
    if not isinstance(tune_params, dict) or not tune_params:
        raise EvotileError("tune_params is no dict of lists")
    parameters = {}
    for name, values in tune_params.items():
        if name in ("grid_size_x", "grid_size_y", "grid_size_z", "time") or name.startswith("nvml_"):
            raise EvotileError(f"tune_params[{name!r}] is not supported: rename it; evotile sets no clocks and no power limit")
        parameters[name] = list(dict.fromkeys(plain_value(value, name) for value in values))
        if not parameters[name]:
            raise EvotileError(f"tune_params[{name!r}] has no values")
        if name.startswith("loop_unroll_factor") and 0 in parameters[name]:
            raise EvotileError(f"tune_params[{name!r}] has 0, for which Kernel Tuner removes the pragma: leave 0 out, or let the source choose by "
                               "a macro of its own")
    return parameters


def condition_texts(restrictions, parameters, notes):
    """The restrictions as conditions in Python, which `evotile import` reads."""
    restrictions = [] if restrictions is None else restrictions
    texts = []
    for index, one in enumerate(restrictions if isinstance(restrictions, list) else [restrictions]):
        place = f"restrictions[{index}]"
        if isinstance(one, str):
            texts.append(one)
        elif callable(one) or (isinstance(one, tuple) and len(one) >= 2 and callable(one[0])):
            if hasattr(one, "preProcess"):
                raise EvotileError(f"{place} is a {type(one).__name__} of python-constraint: write it as a string or as a function")
            text, about = as_text(called(one, parameters, place), parameters, place)
            notes.append(f"{place} is a function: it was called for all {about}, and is a table of them")
            texts.append(text)
        else:
            raise EvotileError(f"{place} is a {type(one).__name__}: write it as a string or as a function")
    return texts


# ---- the description ----

def t1_argument(one):
    if one.role == "number":
        return {"Name": one.name, "Type": one.type, "MemoryType": "Scalar", "FillValue": one.value}
    return {"Name": one.name, "Type": one.type, "Size": int(one.value.size), "MemoryType": "Symbol" if one.role == "constant" else "Vector",
            "AccessType": "ReadWrite" if one.written else "ReadOnly"}


def t1_description(call):
    kernel = {"Language": "CUDA", "KernelName": call.kernel_name, "KernelFile": "kernel.cu", "GlobalSizeType": "CUDA",
              "GlobalSize": dict(zip(launch.AXES, call.grid)), "LocalSize": dict(zip(launch.AXES, call.block)),
              "CompilerOptions": call.compiler_options, "Arguments": [t1_argument(one) for one in call.arguments]}
    if call.shared_memory is not None:
        kernel["SharedMemory"] = call.shared_memory
    space = {"TuningParameters": [{"Name": name, "Type": "string", "Values": repr(values)} for name, values in call.parameters.items()],
             "Conditions": [{"Expression": text, "Parameters": list(call.parameters)} for text in call.conditions]}
    return {"General": {"BenchmarkName": call.name}, "KernelSpecification": kernel, "ConfigurationSpace": space}


def save(folder, name, array):
    numpy.save(os.path.join(folder, name), numpy.ascontiguousarray(array))
    return name


def put_arguments(template, call, folder):
    """The arrays' shapes and contents; with an answer, recorded ones, else those of the fills."""
    files = {}
    for one in call.arguments:
        if one.role == "number":
            continue
        tensor = template["tensors"][one.name]
        tensor["shape"] = [str(extent) for extent in one.value.shape]
        if not one.written:
            files[one.name] = save(folder, f"{one.name}.npy", one.value)
            tensor["fill"] = {"file": files[one.name]}
            continue
        if one.value.any():
            files[f"{one.name}_before"] = save(folder, f"{one.name}_before.npy", one.value)
            tensor["fill"] = {"file": files[f"{one.name}_before"]}
        else:
            tensor.update(role="output", before="zero")
        if one.answer is not None:
            files[one.name] = save(folder, f"{one.name}_answer.npy", one.answer)
            if one.value.dtype.kind == "f":
                tensor["tolerance"] = {"relative": RELATIVE, "absolute": call.atol}
    if call.has_answer:
        for tensor in template["tensors"].values():
            tensor.pop("fill", None)
        template["reference"] = {"answers": [{"case": {"CASE": 1}, "files": files}]}


def put_grid_macros(template, call):
    """The macros grid_size_x, y, z, where the source reads them."""
    grid = template["launches"][0]["grid"]
    macros = {f"grid_size_{axis.lower()}": grid[i] for i, axis in enumerate(launch.AXES)
              if launch.reads_macro(call.source, f"grid_size_{axis.lower()}")}
    if macros:
        template["macros"] = macros


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def check_options(given, template):
    taken = {option["option"] for option in template["options"]}
    for option in given:
        if option not in taken and not (option == "-use_fast_math" and "--use_fast_math" in taken):
            raise EvotileError(f"compiler_options has {option}, which evotile does not pass to NVRTC: leave it out, or write what it sets into the "
                               "source")


def import_notes(text):
    """What `evotile import` decided, but for what is decided here otherwise."""
    notes = [line.replace("evotile: ", "", 1) for line in text.splitlines()]
    if any(line.startswith("no valid default genome") for line in notes):
        raise EvotileError("no configuration that was tried satisfies the restrictions: put one that does first in the lists of tune_params")
    left_out = ("\"operations\" is", "the default genome is the reference", "written: ", "the compiler option ")
    return [line for line in notes if not line.startswith(left_out)]


def write_template(call, program, folder):
    """Makes folder/NAME and folder/NAME.json. Returns (path of the config, the genes, in the order of the parameters)."""
    os.makedirs(folder)
    write(os.path.join(folder, "t1.json"), json.dumps(t1_description(call), indent=1))
    write(os.path.join(folder, "kernel.cu"), source_text(call))
    ran = subprocess.run([program, "import", "t1.json", "kernel.cu", "--name", call.name, "--out", "."], cwd=folder, capture_output=True,
                         text=True, errors="replace", check=False)
    if ran.returncode != 0:
        raise EvotileError(ran.stderr.strip().splitlines()[-1].replace("evotile: ", "", 1) if ran.stderr else "`evotile import` failed")
    call.notes += import_notes(ran.stderr)
    inner = os.path.join(folder, call.name)
    for name, text in call.included.items():
        write(os.path.join(inner, renamed(name)), with_renamed_files(text, call.included))
    path = os.path.join(inner, "template.json")
    template = json.loads(read_file(path))
    check_options(call.compiler_options, template)
    put_arguments(template, call, inner)
    put_grid_macros(template, call)
    # What the algorithm needs is not known: nothing is refused for being faster than it allows, and there is no roofline.
    template.update(about=f"{call.kernel_name}, of a call of tune_kernel", operations="1", bytes="1")
    write(path, json.dumps(template, indent=1))
    config = os.path.join(folder, f"{call.name}.json")
    write(config, json.dumps({"template": f"./{call.name}", "cases": [{}], "timing": call.timing, "budget": call.budget}, indent=1))
    return config, template["genes"]
