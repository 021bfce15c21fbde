#!/usr/bin/env python3
"""Replays proposals that people wrote, and compares the verdicts with what is expected.

usage: proposals.py [--device SPEC] [--configs FOLDER] [--tune N] [--out FOLDER] [--record] [FILE...]

FILEs are PROBLEM/STRATEGY.txt (default: all of them, of this folder). Each is a run of its own.
  --device   where (default emulated:sm_90)
  --configs  where PROBLEM.json is: the cases (default: this folder, whose cases are small)
  --tune     trials of each solution that passes (default 0: its first trial alone)
  --out      keeps the runs there, as PROBLEM.STRATEGY
  --record   writes the parents' hashes, as the runs have them, into the files
"""
import argparse
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

import replay

HERE = os.path.dirname(os.path.abspath(__file__))
EVOTILE = os.environ["EVOTILE"]
STRATEGIES = ("free", "insight", "full")


def files_of(names):
    return names or [f"{problem}/{strategy}.txt" for problem in ("softmax_f32", "rms_norm", "gelu_product") for strategy in STRATEGIES]


def start_run(name, path, options, out):
    problem, strategy = name.removesuffix(".txt").split("/")
    count = len(replay.read(path))
    folder = os.path.join(out, f"{problem}.{strategy}")
    proposer = f"exec {sys.executable} {HERE}/replay.py {path}" + (f" {folder}" if options.record else "")
    command = [EVOTILE, "evolve", os.path.join(options.configs, f"{problem}.json"), "--proposer", proposer, "--strategy", strategy,
               "--proposals", str(count), "--tune", str(options.tune), "--device", options.device, "--out", folder]
    ran = subprocess.run(command, capture_output=True, text=True)
    return folder, ran


def rows_of(folder):
    ran = subprocess.run([EVOTILE, "summary", folder, "--lineage", "--json"], capture_output=True, text=True)
    if ran.returncode != 0:
        raise SystemExit(f"{folder}: {ran.stderr}")
    return json.loads(ran.stdout)["proposals"]


def differs(proposal, row):
    """What is not as expected: "VERDICT" or "VERDICT|VERDICT: PATTERN of the reason"."""
    verdicts, _, pattern = proposal["expects"].partition(":")
    reason = row.get("reason") or ""
    if row.get("verdict") not in verdicts.split("|"):
        return f"expects {verdicts}, and is {row['verdict']}: {reason}"
    if pattern and not re.search(pattern.strip(), reason):
        return f"the reason lacks {pattern.strip()!r}: {reason}"
    if "cheat" in proposal and row.get("decision") != "revert":
        return f"a cheat ({proposal['cheat']}) is decided {row['decision']}"
    return None


def record(path, folder):
    """Writes the hashes of the parents into the file."""
    hashes = {}
    database = sqlite3.connect(f"file:{folder}/run.db?mode=ro", uri=True)
    for request, solution, value in database.execute("SELECT request, solution, hash FROM proposals"):
        hashes.update((parent["solution"], parent["hash"]) for parent in json.loads(request)["parents"])
        hashes[solution] = value
    database.close()
    text = open(path).read()
    text = re.sub(r"^parent: (\w+)\b.*$", lambda found: f"parent: {found[1]} {hashes.get(found[1], '')}".rstrip(), text, flags=re.M)
    open(path, "w").write(text)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--device", default="emulated:sm_90")
    parser.add_argument("--configs", default=HERE)
    parser.add_argument("--tune", type=int, default=0)
    parser.add_argument("--out")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    failures, counts = [], {"proposals": 0, "as expected": 0, "cheats": 0}
    with tempfile.TemporaryDirectory(prefix="evotile-proposals-") as temporary:
        for name in files_of(options.files):
            path = os.path.join(HERE, name)
            folder, ran = start_run(name, path, options, options.out or temporary)
            if ran.returncode != 0:
                failures.append(f"{name}: status {ran.returncode}: {ran.stderr[-2000:]}")
                continue
            rows = rows_of(folder)
            if options.record:
                record(path, folder)
            proposals = replay.read(path)
            if len(rows) != len(proposals):
                failures.append(f"{name}: {len(rows)} rows of {len(proposals)} proposals")
            for proposal, row in zip(proposals, rows):
                counts["proposals"] += 1
                counts["cheats"] += "cheat" in proposal
                text = differs(proposal, row)
                counts["as expected"] += text is None
                if text:
                    failures.append(f"{name}: proposal {row['number']}: {text}")
    print("\n".join(failures + [json.dumps(counts)]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
