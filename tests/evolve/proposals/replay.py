#!/usr/bin/env python3
"""A proposer that answers from a file of proposals that people wrote: replay.py FILE [RUN]

Proposal N of FILE answers request N, with the hash of its parent from FILE, so that nothing but these sources is tried.
With RUN, the folder of the run that asks, it takes the hash from there in place of FILE's: to record what FILE lacks
(proposals.py --record). README.md beside this has the format.
"""
import json
import os
import re
import sqlite3
import sys

HEAD = re.compile(r"==== (\d+)$")
PART = re.compile(r"---- (edit|file|remove|genome)(?: (.*))?$")
BLOCK = re.compile(r"<<<<<<< SEARCH\n(.*?)\n?=======\n(.*?)\n?>>>>>>> REPLACE\n", re.S)
KEYS = ("parent", "expects", "cheat", "hypothesis")


def read_change(kind, name, text, where):
    """One part of a proposal as members of an answer."""
    if kind == "genome":
        return {"genome": name}
    if kind == "edit":
        edits = [{"file": name, "search": search, "replace": replace} for search, replace in BLOCK.findall(text)]
        if not edits or BLOCK.sub("", text).strip():
            raise ValueError(f"{where}: an edit of {name} is one or more SEARCH/REPLACE blocks")
        return {"edits": edits}
    return {"files": {name: None if kind == "remove" else text}}


def read_one(lines, where):
    proposal, change, part = {}, {}, None
    parts = []
    for line in lines:
        if found := PART.match(line.rstrip("\n")):
            part = [found[1], found[2], ""]
            parts.append(part)
        elif part:
            part[2] += line
        elif line.startswith(" "):
            proposal["hypothesis"] += " " + line.strip()
        elif line.strip():
            key, _, value = line.partition(":")
            if key not in KEYS:
                raise ValueError(f"{where}: no key {key!r}: there are {', '.join(KEYS)}")
            proposal[key] = value.strip()
    for kind, name, text in parts:
        for key, value in read_change(kind, name, text, where).items():
            if key == "genome":
                change[key] = value
            elif key == "edits":
                change.setdefault(key, []).extend(value)
            else:
                change.setdefault(key, {}).update(value)
    return {**proposal, "change": change}


def read(path):
    """The proposals of a file in order: dicts of KEYS and "change", the members of the answer."""
    proposals, lines = [], []
    for line in [*open(path), "==== 0\n"]:
        found = HEAD.match(line.rstrip("\n"))
        if not found:
            lines.append(line)
            continue
        if proposals or lines and any(text.strip() and not text.startswith("#") for text in lines):
            proposals[-1] = read_one(lines, f"{path}: proposal {len(proposals)}")
        lines = []
        if found[1] != "0":
            proposals.append(None)
            if int(found[1]) != len(proposals):
                raise ValueError(f"{path}: proposal {found[1]} is number {len(proposals)}")
    return proposals


def parent_hash(proposal, hashes, run):
    """"p3 HASH": of the file, or of the run that asks; `hashes` are of all parents that it named so far."""
    name, _, known = proposal["parent"].partition(" ")
    if run is None or name in hashes:
        return known if run is None else hashes[name]
    database = sqlite3.connect(f"file:{os.path.join(run, 'run.db')}?mode=ro", uri=True, timeout=20)
    row = database.execute("SELECT hash FROM proposals WHERE solution = ?", (name,)).fetchone()
    database.close()
    return row[0] if row else known


def main():
    proposals = read(sys.argv[1])
    run = sys.argv[2] if len(sys.argv) > 2 else None
    hashes = {}
    for line in sys.stdin:
        request = json.loads(line)
        number = request["number"]
        hashes.update((parent["solution"], parent["hash"]) for parent in request["parents"])
        answer = {"number": number, "error": f"there are {len(proposals)} proposals"}
        if number <= len(proposals):
            proposal = proposals[number - 1]
            answer = {"number": number, "parent": parent_hash(proposal, hashes, run), "hypothesis": proposal["hypothesis"], **proposal["change"]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
