#!/usr/bin/env python3
"""Measures searches of calls of 0.1 to 0.5 ms: trials a second, what a trial costs, and whether the winner repeats.

    tests/bench/real_sizes.py [--evotile build/evotile] [--device cuda:0] [--seconds 180] [--replays 10]
                              [--only NAME,NAME] [--out FOLDER] [--baseline] [--json]

For each of the configs tests/bench/real_sizes/NAME.json: a search with an empty cache of compiled kernels, and replays
of its champion in processes of their own. Run folders stay in --out.

  trials/s      after the first trial
  busy          fraction of that time in which the GPU's worker verified, timed or ran duels
  ms            of a trial there, in the mean: `loser` lost its race or was too slow under load, `timed` had no duel,
                `duel` did not win one, `champion` won; `failed` is not verified
  apart         the slowest replay over the fastest
  ratio         the baseline's time over the champion's, by a duel (--baseline; needs what the baseline needs)
"""
import argparse
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

CONFIGS = Path(__file__).resolve().parent / "real_sizes"
TEMPLATES_HERE = {"gemm": Path(__file__).resolve().parent}
KINDS = ("loser", "timed", "duel", "champion", "failed")


def evotile(arguments, folder, *words):
    """Runs a verb; returns its standard output. Its messages go to a log."""
    environment = {**os.environ, "EVOTILE_CACHE": str(folder / "cache"), "CUDA_CACHE_PATH": str(folder / "nvrtc")}
    command = [arguments.evotile, *map(str, words), "--device", arguments.device]
    with open(folder / "log", "a") as log:
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
    return done.returncode, done.stdout


def kind_of(trial, champions):
    if trial["number"] in champions:
        return "champion"
    if trial["verdict"] != "ok":
        return "failed"
    if trial["raced"]:
        return "loser"
    return "duel" if trial["duel"] else "timed"


def measure(run):
    """Rates and costs of a search from its database."""
    store = sqlite3.connect(f"file:{run}/run.db?mode=ro", uri=True)
    store.row_factory = sqlite3.Row
    trials = store.execute("SELECT number, verdict, raced, duel, finished, verify_s + measure_s AS busy_s FROM trials "
                           "WHERE told IS NOT NULL AND verdict NOT IN ('filtered', 'lost') ORDER BY told").fetchall()
    crowned = store.execute("SELECT trial, score_us, crowned FROM champions ORDER BY event").fetchall()
    store.close()
    if len(trials) < 2 or not crowned:
        sys.exit(f"{run} has {len(trials)} trials and {len(crowned)} champions: give it more --seconds")
    champions = {row["trial"] for row in crowned}
    start, end = trials[0]["finished"], max(trial["finished"] for trial in trials)
    costs = {kind: [trial["busy_s"] for trial in trials if kind_of(trial, champions) == kind] for kind in KINDS}
    return {"trials": len(trials), "seconds": end - start, "trials_per_s": (len(trials) - 1) / (end - start),
            "busy": sum(trial["busy_s"] for trial in trials[1:]) / (end - start),
            "best_us": crowned[-1]["score_us"], "best_after_s": crowned[-1]["crowned"] - start,
            "counts": {kind: len(busy) for kind, busy in costs.items()},
            "ms": {kind: 1000 * sum(busy) / len(busy) if busy else None for kind, busy in costs.items()}}


def replay(arguments, folder):
    """Latencies of the champion, each in a process of its own."""
    found = []
    for _ in range(arguments.replays):
        status, text = evotile(arguments, folder, "replay", folder / "run", "--json")
        rows = json.loads(text)["rows"] if text else []
        if not rows or rows[0]["verdict"] != "ok":
            sys.exit(f"a replay of {folder}/run failed with status {status}: see {folder}/log")
        found.append(rows[0]["now_us"])
    return found


def duel(arguments, folder):
    status, text = evotile(arguments, folder, "duel", folder / "run", "baseline", "--json")
    if status != 0:
        print(f"no duel with the baseline: see {folder}/log", file=sys.stderr)
        return None
    row = json.loads(text)["rows"][0]
    return {"ratio": 1 / row["ratio"], "low": 1 / row["high"], "high": 1 / row["low"]}


def search(arguments, name):
    folder = arguments.out / name
    if folder.exists():
        sys.exit(f"{folder} exists: remove it, or name another folder with --out")
    folder.mkdir(parents=True)
    templates = ["--templates", TEMPLATES_HERE[name]] if name in TEMPLATES_HERE else []
    status, _ = evotile(arguments, folder, "run", CONFIGS / f"{name}.json", "--time", f"{arguments.seconds}s",
                        "--out", folder / "run", *templates)
    if status != 0:
        sys.exit(f"the search of {name} ended with status {status}: see {folder}/log")
    found = {"name": name, **measure(folder / "run"), "replays_us": replay(arguments, folder)}
    if arguments.baseline and name not in TEMPLATES_HERE:
        found["baseline"] = duel(arguments, folder)
    return found


def show(found):
    costs = ", ".join("%d %s %.0f ms" % (found["counts"][kind], kind, found["ms"][kind])
                      for kind in KINDS if found["ms"][kind] is not None)
    print("%s: %.1f trials/s in %.0f s, busy %.0f %%, best %.2f us after %.0f s" % (
        found["name"], found["trials_per_s"], found["seconds"], 100 * found["busy"], found["best_us"],
        found["best_after_s"]))
    print(f"  {costs}")
    us = found["replays_us"]
    if us:
        print("  %d replays: %.2f to %.2f us, %.1f %% apart" % (len(us), min(us), max(us), 100 * (max(us) / min(us) - 1)))
    if found.get("baseline"):
        print("  ratio to the baseline %(ratio).3f (99 %%: %(low).3f to %(high).3f)" % found["baseline"])
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evotile", default="build/evotile")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--seconds", type=int, default=180)
    parser.add_argument("--replays", type=int, default=10)
    names = sorted(path.stem for path in CONFIGS.glob("*.json"))
    parser.add_argument("--only", default=",".join(names), help="of " + ", ".join(names))
    parser.add_argument("--out", type=Path, default=Path("build/bench/real_sizes"))
    parser.add_argument("--baseline", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    chosen = arguments.only.split(",")
    unknown = [name for name in chosen if name not in names]
    if unknown:
        parser.error(f"there is no {', '.join(unknown)}: there are {', '.join(names)}")
    results = []
    for name in chosen:
        results.append(search(arguments, name))
        if not arguments.json:
            show(results[-1])
    if arguments.json:
        print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
