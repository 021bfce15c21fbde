"""Counts the valid genomes of a T1 description as Python does: eval over the product of all values.

usage: count.py T1.json
"""
import itertools
import json
import math
import sys

space = json.load(open(sys.argv[1]))["ConfigurationSpace"]
names = [parameter["Name"] for parameter in space["TuningParameters"]]
values = []
for parameter in space["TuningParameters"]:
    found = eval(parameter["Values"])
    values.append([float(value) for value in found] if parameter["Type"] == "float" else list(found))
conditions = [compile(condition["Expression"], condition["Expression"], "eval") for condition in space["Conditions"]]


def holds(condition, genome):
    scope = {**vars(__builtins__), "math": math, **genome}
    try:
        return bool(eval(condition, scope))
    except ArithmeticError:
        return False


print(sum(all(holds(condition, genome) for condition in conditions)
          for genome in (dict(zip(names, row)) for row in itertools.product(*values))))
