#!/usr/bin/env python3
"""A proposer that answers from a list, for tests: proposer.py SCRIPT.json [LOG]

The script is an array: its element N - 1 is for proposal N, and the last one for all after it. An element is an object
that is merged into the answer {"number": N, "parent": HASH of the first parent, "hypothesis": "..."}; or a string, which
is written as it is; or null: no answer. Keys that start with an underscore direct this program:
"_parent": which parent (1: the second), "_of": the name of any solution that a request named with its hash, "_exit": S, end with this status before answering (once, as LOG remembers),
"_again": write the line twice. LOG gets a line for every request: its number, the hash of its text and the number of parents.
"""
import hashlib
import json
import os
import sys

script = json.load(open(sys.argv[1]))
log = sys.argv[2] if len(sys.argv) > 2 else os.devnull
known = log + ".hashes"
hashes = json.load(open(known)) if os.path.exists(known) else {}  # by the solution's name
for line in sys.stdin:
    request = json.loads(line)
    number = request["number"]
    asked_before = os.path.exists(log) and any(row.split()[0] == str(number) for row in open(log))
    with open(log, "a") as out:
        out.write(f"{number} {hashlib.sha256(line.encode()).hexdigest()} {len(request['parents'])}\n")
    step = script[min(number, len(script)) - 1]
    if step is None:
        continue
    if isinstance(step, str):
        print(step, flush=True)
        continue
    if "_exit" in step and not asked_before:
        sys.exit(step["_exit"])
    parents = request["parents"]
    hashes.update((f"p{past['number']}", past["hash"]) for past in request["history"])
    hashes.update((parent["solution"], parent["hash"]) for parent in parents)
    if log != os.devnull:
        json.dump(hashes, open(known + ".new", "w"))
        os.rename(known + ".new", known)
    parent = parents[min(step.get("_parent", 0), len(parents) - 1)]
    answer = {"number": number, "parent": hashes.get(step.get("_of"), parent["hash"]), "hypothesis": f"hypothesis {number}"}
    answer.update({key: value for key, value in step.items() if not key.startswith("_")})
    text = json.dumps({key: value for key, value in answer.items() if value is not None or key not in ("parent", "hypothesis")})
    for _ in range(2 if step.get("_again") else 1):
        print(text, flush=True)
