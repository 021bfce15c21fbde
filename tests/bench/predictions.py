"""Measures random genomes of some configs and compares them with their predictions. `make bench-predictions` runs it.

usage: python3 tests/bench/predictions.py --evotile PROGRAM [--configs FILE,...] [--trials N] [--device SPEC] [--out DIR]

For each config it runs a search that draws genomes at random, into DIR/NAME; one that was interrupted is resumed, and one
that has ended is not run again. `evotile model check` then predicts every trial with the parameters in force, prints
Spearman's rank correlation with its 99 % interval, and writes DIR/NAME.jsonl: a line a trial, with what it executes.
Without a GPU, --device emulated:sm_90 tries the bench itself: predictions are compared with predictions.
"""
import argparse
import json
import os
import subprocess
import sys

CONFIGS = "configs/predictions_softmax.json,configs/predictions_decode.json,configs/predictions_reduce.json"


FIGURES = {"fastest_us": 2, "slowest_us": 2, "rank_correlation": 3, "rank_low": 3, "rank_high": 3, "off_percent": 0}


def number(value, digits):
    """Of a few trials some figures are unknown."""
    return "-" if value is None else f"{value:.{digits}f}"


def run(command):
    print("$ " + " ".join(command), file=sys.stderr)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"predictions.py: {' '.join(command)}: status {done.returncode}")
    return done.stdout


def measure(arguments, config, folder):
    """Draws genomes until the run has enough trials."""
    more = ["--trials", str(arguments.trials)]
    if os.path.exists(os.path.join(folder, "run.db")):
        run([arguments.evotile, "resume", folder] + more)
    else:
        run([arguments.evotile, "run", config, "--out", folder, "--device", arguments.device] + more)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("--evotile", required=True)
    parser.add_argument("--configs", default=CONFIGS)
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", default="results/predictions")
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)
    rows = []
    for config in arguments.configs.split(","):
        folder = os.path.join(arguments.out, os.path.splitext(os.path.basename(config))[0])
        measure(arguments, config, folder)
        checked = run([arguments.evotile, "model", "check", folder, "--trials", "0", "--json", "--out", folder + ".jsonl"])
        rows += [(os.path.basename(folder), row) for row in json.loads(checked)["rows"]]
    print(f"{'config':24} {'trials':>6} {'us from':>8} {'to':>9} {'rank':>6} {'low':>6} {'high':>6} {'off by %':>8}")
    for name, row in rows:
        figures = [number(row[key], digits) for key, digits in FIGURES.items()]
        print(f"{name:24} {row['trials']:6} {figures[0]:>8} {figures[1]:>9} "
              f"{figures[2]:>6} {figures[3]:>6} {figures[4]:>6} {figures[5]:>8}")


if __name__ == "__main__":
    main()
