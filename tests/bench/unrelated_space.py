#!/usr/bin/env python3
"""Writes a recorded space under the genes of another one: a source that has nothing to say.

usage: tests/bench/unrelated_space.py TARGET SOURCE OUT

Both are Kernel Tuner caches. The genes of SOURCE that vary get the names of those of TARGET, in order; a value gets the value of TARGET
at the same relative position of the domain. Times stay with their rows; of rows that become one genome the first is kept.
So `evotile simulate TARGET --sources OUT` learns from a landscape that looks like one of its kernel and is not.
"""
import gzip
import json
import sys


def read_space(path):
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
        text = file.read().rstrip().rstrip(",")
    for end in ("", "}", "}}"):
        try:
            return json.loads(text + end)
        except json.JSONDecodeError:
            continue
    sys.exit(f"{path}: not a Kernel Tuner cache")


def varying(space):
    """The values that occur, of each parameter that has two or more."""
    values = {name: sorted({row[name] for row in space["cache"].values()}) for name in space["tune_params_keys"]}
    return {name: domain for name, domain in values.items() if len(domain) > 1}


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    target, source = read_space(sys.argv[1]), read_space(sys.argv[2])
    theirs, ours = varying(source), varying(target)
    pairs = list(zip(theirs, ours))
    rows = {}
    for row in source["cache"].values():
        renamed = {}
        for name, new in pairs:
            position = theirs[name].index(row[name]) / (len(theirs[name]) - 1)
            renamed[new] = ours[new][round(position * (len(ours[new]) - 1))]
        rows.setdefault(",".join(map(str, renamed.values())), {**renamed, "time": row["time"]})
    names = [new for _, new in pairs]
    space = {"device_name": source["device_name"], "kernel_name": target["kernel_name"], "tune_params_keys": names,
             "tune_params": {name: sorted({row[name] for row in rows.values()}) for name in names}, "cache": rows}
    with gzip.open(sys.argv[3], "wt") as out:
        json.dump(space, out)


main()
