"""The arguments of a call, NumPy's arrays and numbers, as a template has them.

    arguments = read_arguments([c, a, b, n], answer=None, parameters=signature, constants={"d_filter": taps})
    arguments[0].role     # "output": the kernel writes it

The device sees an array's bytes. Types that templates do not have, such as uint64 and complex64, are taken as others of the same bytes.
"""
import dataclasses
import re

import numpy

from evotile import EvotileError

# NumPy's name, T1's
TYPES = {"bool": "bool", "int8": "int8", "uint8": "uint8", "int16": "int16", "int32": "int32", "uint32": "uint32", "int64": "int64",
         "float16": "half", "float32": "float", "float64": "double"}
SAME_BYTES = {"uint16": "int16", "uint64": "int64", "complex64": "float32", "complex128": "float64"}
NUMBERS = {"int8": "int32", "uint8": "int32", "int16": "int32", "uint16": "int32", "int32": "int32", "uint32": "int32", "int64": "int64",
           "uint64": "int64", "float32": "float", "float64": "double", "bool": "int32"}
RANK_MAX = 6
EXACT_MAX = 2 ** 53  # of the numbers in JSON


@dataclasses.dataclass
class Argument:
    name: str
    type: str              # T1's
    role: str              # "input", "output", "constant", "number"
    value: object          # an array of a type of TYPES, or a number
    answer: object = None  # the array that the kernel should write

    @property
    def written(self):
        return self.role == "output"


def stored_array(array, place):
    """An array whose type a template has, of the same bytes."""
    if not isinstance(array, numpy.ndarray):
        raise EvotileError(f"{place} is a {type(array).__module__}.{type(array).__name__}: give a NumPy array, or a number as numpy.int32(...) "
                           "or numpy.float32(...)")
    if not array.flags["C_CONTIGUOUS"] or array.size == 0 or not array.dtype.isnative:
        raise EvotileError(f"{place} is {'empty' if array.size == 0 else 'not contiguous'}: give numpy.ascontiguousarray(...) of at least one "
                           "element")
    if array.dtype.name in SAME_BYTES:
        shape = array.shape + ((2,) if array.dtype.kind == "c" else ())
        array = array.reshape(-1).view(SAME_BYTES[array.dtype.name]).reshape(shape)
    if array.dtype.name not in TYPES:
        raise EvotileError(f"{place} has the type {array.dtype}, which templates do not have: give another of the same bytes by .view(...)")
    return array if 1 <= array.ndim <= RANK_MAX else array.reshape(-1)


def read_number(value, name, place):
    kind = value.dtype.name
    if kind not in NUMBERS:
        raise EvotileError(f"{place} has the type {kind}, which is no kernel's number here: let the kernel take an int or a float")
    if kind == "float64" and float(numpy.float32(value)) != float(value):
        raise EvotileError(f"{place} is {float(value)!r}, and a number of a template is a float: let the kernel take a float, or read it from an "
                           "array of one element")
    number = float(value) if kind.startswith("float") else int(value)
    if not numpy.isfinite(number) or abs(number) > EXACT_MAX:
        raise EvotileError(f"{place} is {number}, which a template cannot hold: let the kernel read it from an array of one element")
    if kind == "uint32":  # the same bytes
        number = int(numpy.array(value).view("int32"))
    return Argument(name, NUMBERS[kind], "number", number)


def read_answer(answer, stored, place):
    """What the kernel should write, in the shape of the argument; it may have another type, as for Kernel Tuner."""
    array = stored_array(answer, f"the answer of {place}")
    if array.size != stored.size:
        raise EvotileError(f"the answer of {place} has {array.size} elements, and the argument {stored.size}")
    if (array.dtype.kind == "f") != (stored.dtype.kind == "f"):
        raise EvotileError(f"the answer of {place} is {array.dtype}, and the argument {stored.dtype}: give an answer of the argument's type")
    return array.reshape(stored.shape)


def name_of(index, parameters, taken):
    name = parameters[index].name if parameters is not None and index < len(parameters) else ""
    good = re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,30}", name) and name not in taken and not name.endswith("_before") and name != "CASE"
    return name if good else f"argument_{index}"


def role_of(index, answer, parameters):
    if answer is not None:
        return "input" if answer[index] is None else "output"
    return "output" if parameters[index].written else "input"


def read_arguments(arguments, answer, parameters, constants, taken):
    """`parameters`: of the signature, or None; `taken`: names that the template has already. Raises what cannot be said."""
    if not isinstance(arguments, (list, tuple)) or not arguments:
        raise EvotileError("arguments is no list of NumPy's arrays and numbers")
    if answer is not None and len(answer) != len(arguments):
        raise EvotileError(f"answer has {len(answer)} items, and arguments {len(arguments)}: give None for each that the kernel only reads")
    if parameters is not None and len(parameters) != len(arguments):
        raise EvotileError(f"the kernel takes {len(parameters)} parameters, and arguments has {len(arguments)}")
    if answer is None and parameters is None:
        raise EvotileError("the source does not show which arguments the kernel writes: give answer=[...], with None for each that it only reads")
    read = []
    for index, value in enumerate(arguments):
        name = name_of(index, parameters, set(taken) | {one.name for one in read})
        place = f"argument {index}, {name}" if not name.startswith("argument_") else f"argument {index}"
        if isinstance(value, numpy.generic):
            if answer is not None and answer[index] is not None:
                raise EvotileError(f"answer has a value for {place}, a number, which no kernel writes: give None")
            read.append(read_number(value, name, place))
            continue
        stored = stored_array(value, place)
        role = role_of(index, answer, parameters)
        one = Argument(name, TYPES[stored.dtype.name], role, stored)
        if role == "output" and answer is not None:
            one.answer = read_answer(answer[index], stored, place)
        read.append(one)
    for name, value in (constants or {}).items():
        stored = stored_array(value, f"cmem_args[{name!r}]")
        read.append(Argument(name, TYPES[stored.dtype.name], "constant", stored))
    if not any(one.written for one in read):
        raise EvotileError("the kernel writes no argument: " + ("give the answer of one" if answer is not None else
                                                                "give answer=[...] if the source does not show it"))
    return read
