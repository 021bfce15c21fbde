"""A call's grid, block and shared memory, as expressions of Python over tuning parameters, which is what T1 has.

The grid is ceil(problem_size / divisors), as Kernel Tuner computes it: texts stay texts, and where anything is a function the whole
extent becomes a table (functions.py).
"""
import math
import numbers
import re

from evotile import EvotileError

from .functions import as_text

AXES = "XYZ"
BLOCK_NAMES = ("block_size_x", "block_size_y", "block_size_z")
BLOCK_DEFAULTS = (256, 1, 1)  # Kernel Tuner's, of an axis without a parameter
THREADS_MAX = 1024


def is_whole(value):
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def read_block_names(given, parameters):
    """The names of the block's extents: those given, or Kernel Tuner's in any case of letters."""
    if given is not None:
        if not isinstance(given, (list, tuple)) or len(given) > 3 or not all(isinstance(name, str) for name in given):
            raise EvotileError("block_size_names is no list of one to three names")
        return tuple(given) + BLOCK_NAMES[len(given):]
    return tuple(next((p for p in parameters if p.lower() == name), name) for name in BLOCK_NAMES)


def block_texts(names, parameters):
    return [name if name in parameters else str(BLOCK_DEFAULTS[axis]) for axis, name in enumerate(names)]


def value_of(text, parameters):
    """A string's value, as Kernel Tuner evaluates it: it is the caller's own code, as is a function."""
    return int(eval(text, {"__builtins__": {}, "ceil": math.ceil, "int": int, "min": min, "max": max}, dict(parameters)))


def extent_of(size, parameters, place):
    if is_whole(size):
        return int(size)
    if isinstance(size, str):
        return value_of(size, parameters)
    raise EvotileError(f"{place} is a {type(size).__name__}: give whole numbers, strings or a function that returns them")


def divisor_of(divisor, default, parameters, place):
    if divisor is None:
        return parameters.get(default, 1)
    if callable(divisor):
        return divisor(parameters)
    if is_whole(divisor) or isinstance(divisor, str):
        return extent_of(divisor, parameters, place)
    product = 1
    for one in divisor:
        product *= divisor_of(one, None, parameters, place)
    return product


def has_function(value):
    return callable(value) or (isinstance(value, (list, tuple)) and any(has_function(one) for one in value))


def divisor_texts(divisor, default, parameters, place):
    """The divisors as texts; none of them is a function."""
    if divisor is None:
        return [default] if default in parameters else []
    if is_whole(divisor):
        return [str(int(divisor))]
    if isinstance(divisor, str):
        return [f"int({divisor})"]
    if not isinstance(divisor, (list, tuple)):
        raise EvotileError(f"{place} is a {type(divisor).__name__}: give a list of names of parameters, or a function")
    return [text for one in divisor for text in divisor_texts(one, None, parameters, place)]


def grid_text(problem_size, axis, divisor, block_name, parameters, notes):
    """The extent of the grid along an axis."""
    place = f"the grid's {AXES[axis]}"

    def extent(p):
        sizes = problem_size(p) if callable(problem_size) else problem_size
        sizes = sizes if isinstance(sizes, (list, tuple)) else (sizes,)
        size = extent_of(sizes[axis], p, "problem_size") if axis < len(sizes) else 1
        return math.ceil(float(size) / float(divisor_of(divisor, block_name, p, f"grid_div_{AXES[axis].lower()}")))

    if callable(problem_size) or has_function(divisor):
        text, about = as_text(extent, parameters, place, convert=int)
        notes.append(f"{place} is a function: it was called for all {about}, and is a table of them")
        return text
    sizes = problem_size if isinstance(problem_size, (list, tuple)) else (problem_size,)
    if not 1 <= len(sizes) <= 3:
        raise EvotileError(f"problem_size has {len(sizes)} extents: give one to three")
    extent_of(0 if axis >= len(sizes) or isinstance(sizes[axis], str) else sizes[axis], {}, "problem_size")
    size = "1" if axis >= len(sizes) else f"int({sizes[axis]})" if isinstance(sizes[axis], str) else str(int(sizes[axis]))
    divisors = divisor_texts(divisor, block_name, parameters, f"grid_div_{AXES[axis].lower()}")
    return f"ceil(({size}) / ({' * '.join(divisors)}))" if divisors else size


def grid_texts(problem_size, divisors, block_names, parameters, notes):
    return [grid_text(problem_size, axis, divisors[axis], block_names[axis], parameters, notes) for axis in range(3)]


def shared_memory_text(smem_args, parameters, notes):
    """Bytes of dynamic shared memory, or None."""
    if smem_args is None:
        return None
    unknown = [name for name in smem_args if name != "size"]
    if unknown:
        raise EvotileError(f"smem_args[{unknown[0]!r}] is not supported: give the bytes, {{'size': ...}}")
    size = smem_args.get("size", 0)
    if callable(size):
        text, about = as_text(size, parameters, "smem_args['size']", convert=int)
        notes.append(f"smem_args['size'] is a function: it was called for all {about}, and is a table of them")
        return text
    return f"int({size})" if isinstance(size, str) else str(extent_of(size, {}, "smem_args['size']"))


def thread_limit(block_names, parameters):
    """Kernel Tuner's own condition on a block."""
    names = [name for name in block_names if name in parameters]
    rest = 1
    for axis, name in enumerate(block_names):
        rest *= 1 if name in parameters else BLOCK_DEFAULTS[axis]
    return f"{' * '.join(names)} <= {THREADS_MAX // rest}" if names else None


def reads_macro(source, name):
    return re.search(rf"\b{re.escape(name)}\b", source) is not None
