"""Measures the energy of two genomes in processes of their own, in turns, to see that a figure repeats and that two
genomes are told apart. `make bench-energy` runs it.

usage: python3 tests/bench/energy.py --evotile PROGRAM [--config FILE] [--goal K] [--genomes A;B] [--times N]
                                     [--windows MS,MS...] [--json]

Each process is one `evotile try`: verified, timed and measured as in a search. Per genome and window it prints the
figures in mJ a call, how far they lie apart (largest over smallest), the standard error that each stated, mean power
and idle power; per window, by how much the genomes differ and in how many standard errors of single figures. Windows
are values of timing.energy_ms: if the figure depends on the window, the counter follows the load too slowly. Needs a
GPU whose energy NVML counts; prints SKIP without one.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

CONFIG = {"template": "attention_fwd", "cases": [{"B": 16, "H": 16, "S": 1024, "D": 64}]}


def measure(arguments, folder, genome, window_ms):
    """The first case's figures of one process, or None without a counter."""
    config = dict(arguments.config)
    config["timing"] = {**config.get("timing", {}), "energy_ms": window_ms}
    path = os.path.join(folder, "c.json")
    with open(path, "w") as file:
        json.dump(config, file)
    command = [arguments.evotile, "try", path, "--json", "--goal", str(arguments.goal)]
    done = subprocess.run(command + (["--genome", genome] if genome else []), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"energy.py: {' '.join(command)}: {done.stderr or done.stdout}")
    result = json.loads(done.stdout)
    case = result["cases"][0]
    return case if case["energy_mj"] else None


def describe(genome, window_ms, cases):
    mj = [case["energy_mj"] for case in cases]
    return {"genome": genome or "the default", "window_ms": window_ms, "mj": mj,
            "apart_percent": 100 * (max(mj) / min(mj) - 1),
            "stated_percent": [100 * case["energy_error"] for case in cases],
            "watts": [case["energy_watts"] for case in cases],
            "idle_watts": [case["idle_watts"] for case in cases],
            "p50_us": [case["p50_us"] for case in cases]}


def compare(window_ms, a, b):
    """By how much the means of two genomes differ, and in how many errors of one figure of each."""
    mean_a, mean_b = sum(a["mj"]) / len(a["mj"]), sum(b["mj"]) / len(b["mj"])
    error = math.hypot(max(a["stated_percent"]), max(b["stated_percent"])) / 100
    overlap = max(min(a["mj"]), min(b["mj"])) <= min(max(a["mj"]), max(b["mj"]))
    return {"window_ms": window_ms, "differ_percent": 100 * (mean_b / mean_a - 1),
            "errors": abs(mean_b / mean_a - 1) / error if error > 0 else math.inf, "figures_overlap": overlap}


def listed(values, form):
    return " ".join(form % value for value in values)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--evotile", required=True)
    parser.add_argument("--config")
    parser.add_argument("--goal", type=int, default=0)
    parser.add_argument("--genomes", default=";BLOCK_N=32")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--windows", default="300,1000")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    arguments.config = CONFIG if arguments.config is None else json.load(open(arguments.config))
    genomes = arguments.genomes.split(";")
    rows, differences = [], []
    with tempfile.TemporaryDirectory() as folder:
        for window_ms in map(float, arguments.windows.split(",")):
            figures = [[] for _ in genomes]
            for _ in range(arguments.times):
                for genome, cases in zip(genomes, figures):
                    case = measure(arguments, folder, genome, window_ms)
                    if case is None:
                        print("SKIP: no energy was measured: there is no GPU whose energy NVML counts, or calls are "
                              "shorter than 50 us")
                        return
                    cases.append(case)
            of_window = [describe(genome, window_ms, cases) for genome, cases in zip(genomes, figures)]
            rows += of_window
            differences += [compare(window_ms, of_window[0], other) for other in of_window[1:]]
    if arguments.json:
        print(json.dumps({"genomes": rows, "differences": differences}, indent=1))
        return
    for row in rows:
        print(f"{row['genome']}, {row['window_ms']:.0f} ms: {listed(row['mj'], '%.3f')} mJ, {row['apart_percent']:.2f} % "
              f"apart; stated {listed(row['stated_percent'], '%.2f')} %; {listed(row['watts'], '%.0f')} W, idle "
              f"{listed(row['idle_watts'], '%.1f')} W; {listed(row['p50_us'], '%.2f')} us")
    for it in differences:
        print(f"{it['window_ms']:.0f} ms: they differ by {it['differ_percent']:+.2f} %, {it['errors']:.1f} errors"
              f"{', and their figures overlap' if it['figures_overlap'] else ''}")


if __name__ == "__main__":
    main()
