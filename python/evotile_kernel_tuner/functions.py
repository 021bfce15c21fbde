"""Functions of tuning parameters, as text: a function is called for every combination of the parameters that it reads.

    text, about = as_text(lambda p: p["block_size_x"] * p["tile"] <= 1024, {"block_size_x": [32, 64], "tile": [1, 32], "vector": [1, 2]})
    # "(1 if (tile <= 1) else (1 if (block_size_x <= 32) else 0))" and "4 combinations of block_size_x, tile"

A program in C cannot call a function of Python, but it can have the table of its values. Which parameters a function reads is observed,
in every call, so that the table has no more combinations than needed; a check on other combinations finds a function that reads
them unseen.
"""
import inspect
import itertools
import random

from evotile import EvotileError

COMBINATIONS_MAX = 100000
CHECKED = 200  # combinations of all parameters on which the table is compared with the function


class Watched(dict):
    """A combination that notes which parameters are read."""

    def __init__(self, values, read):
        super().__init__(values)
        self.read = read

    def __getitem__(self, name):
        if name in self:
            self.read.add(name)
        return super().__getitem__(name)

    def get(self, name, default=None):
        return self[name] if name in self else default

    def __iter__(self):  # what copies a dict by its keys asks for the values then
        return iter(list(super().keys()))

    def keys(self):
        return list(super().keys())


def _reads_all(name):
    def method(self, *args):
        self.read.update(dict.keys(self))
        return getattr(dict, name)(self, *args)
    return method


for _name in ("values", "items", "copy", "__repr__", "__eq__", "__ne__", "pop", "popitem", "setdefault"):
    setattr(Watched, _name, _reads_all(_name))
Watched.__hash__ = None


def called(function, parameters, name):
    """The function as one of a dict of parameters. In a list Kernel Tuner also takes functions of parameters by name."""
    if not isinstance(function, tuple):
        try:
            names = [p.name for p in inspect.signature(function).parameters.values()
                     if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty]
        except (TypeError, ValueError):
            names = [""]
        if len(names) == 1 and names[0] not in parameters:
            return function
        function = (function, names)
    function, names = function[0], function[1]
    unknown = [n for n in names if n not in parameters]
    if unknown or not names:
        raise EvotileError(f"{name} is a function of {', '.join(unknown) or 'nothing'}: let it take one dict of the tuning parameters, or "
                           "some of them by their names")
    return lambda p: function(**{n: p[n] for n in names})


def table_of(function, parameters, name):
    """(names, {values: result}): the parameters that the function reads, and its value for each of their combinations."""
    names, table = [], None
    first = {n: values[0] for n, values in parameters.items()}
    while table is None:
        size, table = 1, {}
        for n in names:
            size *= len(parameters[n])
        if size > COMBINATIONS_MAX:
            raise EvotileError(f"{name} is a function of {', '.join(names)}, which have {size} combinations, more than {COMBINATIONS_MAX}: "
                               "write it as a string")
        for values in itertools.product(*(parameters[n] for n in names)):
            read = set()
            table[values] = function(Watched({**first, **dict(zip(names, values))}, read))
            if not read <= set(names):  # once more, with what it reads, too
                names = [n for n in parameters if n in read or n in names]
                table = None
                break
    draw = random.Random(1)
    for _ in range(CHECKED):
        one = {n: draw.choice(values) for n, values in parameters.items()}
        if function(dict(one)) != table[tuple(one[n] for n in names)]:
            raise EvotileError(f"{name} is a function whose value for {one} differs from call to call, or depends on more than the "
                               "parameters that it reads by p[NAME]: write it as a string")
    return names, table


def _tree(names, table, parameters):
    """The text of a table: the value where all are the same, else a question that halves the values of the first parameter that matters."""
    results = set(table.values())
    if len(results) == 1:
        return str(results.pop())
    for i, name in enumerate(names):
        values = [v for v in parameters[name] if any(key[i] == v for key in table)]
        groups = {v: {key[:i] + key[i + 1:]: result for key, result in table.items() if key[i] == v} for v in values}
        if len(values) == 1 or all(groups[v] == groups[values[0]] for v in values):
            return _tree(names[:i] + names[i + 1:], groups[values[0]], parameters)
    name, values = names[0], [v for v in parameters[names[0]] if any(key[0] == v for key in table)]
    if all(type(v) is int for v in values):
        values.sort()
        low = values[:len(values) // 2]
        question = f"{name} <= {low[-1]}"
    else:
        low = values[:1]
        question = f"{name} == {low[0]!r}"
    yes = {key: result for key, result in table.items() if key[0] in low}
    no = {key: result for key, result in table.items() if key[0] not in low}
    return f"({_tree(names, yes, parameters)} if {question} else {_tree(names, no, parameters)})"


def as_text(function, parameters, name, convert=bool):
    """(text, about): an expression of Python that has the function's values, as int(convert(value)), and what was called."""
    def whole(p):
        try:
            return int(convert(function(p)))
        except EvotileError:
            raise
        except Exception as error:  # of the user's function, on a combination that Kernel Tuner would have asked for, too
            raise EvotileError(f"{name} raised {type(error).__name__}: {error} for {dict(p)}")
    names, table = table_of(whole, parameters, name)
    return _tree(names, table, parameters), f"{len(table)} combinations of {', '.join(names) or 'no parameter'}"
