"""Compares attention with PyTorch: for each shape, takes the best exported kernel for this GPU under kernels/, or else
runs a search, and then a duel against the fastest backend of scaled_dot_product_attention. Prints a Markdown table.
`make bench-attention` runs it.

usage: python3 tests/bench/attention.py [--seconds N] [--evotile PROGRAM] [--out FOLDER] [--python PROGRAM] [--search]

Searches N seconds (600) for each shape without an exported kernel; with --search, for every shape. Without a GPU it
prints SKIP. It needs only evotile, its templates and configs, and a Python with PyTorch (--python; default: this one).
"""
import argparse
import glob
import json
import math
import os
import subprocess
import sys

# All of these shapes are measured; the first geometric mean is over those with S <= 512.
GRID = [(1, 1, 128), (1, 8, 512), (2, 8, 512), (4, 8, 512), (4, 16, 512), (8, 16, 512), (2, 16, 2048)]
SHAPES = [{"B": b, "H": h, "S": s, "D": 64, "CAUSAL": causal} for b, h, s in GRID for causal in (0, 1)]
TEMPLATES = {"attention_fwd", "attention_fwd_hopper"}  # the second is of exports before it became a solution


def gpu():
    """Name and compute capability of the first GPU, or None."""
    try:
        output = subprocess.run(["nvidia-smi", "--query-gpu=name,compute_cap", "--format=csv,noheader"],
                              capture_output=True, text=True, timeout=60, check=True).stdout
        name, capability = output.strip().splitlines()[0].rsplit(",", 1)
        return name.strip(), int(capability.replace(".", ""))
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return None


def index_of(shape):
    """The index of a manifest's shape in SHAPES, or None."""
    asked = {"CAUSAL": 0, **shape}
    usual = {"S_KV": asked.get("S"), "H_KV": asked.get("H")}  # defaults of dimensions that SHAPES do not name
    for index, wanted in enumerate(SHAPES):
        if all(value == {**usual, **wanted}.get(name, 0) for name, value in asked.items()):
            return index
    return None


def exported_kernels(folder, name):
    """For each shape the kernel folder that was fastest on this GPU, according to the manifests."""
    best = {}
    for path in sorted(glob.glob(os.path.join(folder, "*", "manifest.json"))):
        with open(path) as file:
            manifest = json.load(file)
        if manifest["template"]["name"] not in TEMPLATES or manifest["device"]["name"] != name or manifest["predicted"]:
            continue
        for case in manifest["cases"]:
            index = index_of(case["shape"])
            if index is not None and case["p50_us"] < best.get(index, (math.inf, ""))[0]:
                best[index] = (case["p50_us"], os.path.dirname(path))
    return {index: kernel for index, (_, kernel) in best.items()}


def run(arguments, **options):
    print("$", " ".join(arguments), file=sys.stderr, flush=True)
    done = subprocess.run(arguments, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"bench-attention: the command failed with exit status {done.returncode}")
    return done.stdout


def search(options, capability, indices):
    """Searches a champion for each of these shapes; returns the run's folder."""
    os.makedirs(options.out, exist_ok=True)
    template = "attention_fwd/hopper" if capability == 90 else "attention_fwd"
    config = os.path.join(options.out, "config.json")
    results = os.path.join(options.out, "run")
    if os.path.exists(results):
        sys.exit(f"bench-attention: {results} already exists: remove it, or give another folder with --out")
    with open(config, "w") as file:
        json.dump({"template": template, "objective": "per_case", "cases": [SHAPES[i] for i in indices]}, file)
    run([options.evotile, "run", config, "--time", f"{options.seconds * len(indices)}s", "--out", results],
        stdout=subprocess.DEVNULL)
    return results


def duels(options, kernels):
    """Runs a duel of each kernel or run against the baseline; returns the cases by shape."""
    rows, about = {}, {}
    for kernel in sorted(set(kernels.values())):
        output = json.loads(run([options.evotile, "duel", kernel, "baseline", "--json", "--python", options.python],
                              stdout=subprocess.PIPE))
        about = {"device": output["device"], "baseline": output["b"].split(", ", 1)[-1]}
        for row in output["cases"]:
            index = index_of({key: float(value) for key, value in (part.split("=") for part in row["case"].split(","))})
            if index is not None and kernels.get(index) == kernel:
                rows[index] = {**row, "kernel": kernel}
    return rows, about


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def print_table(rows, about):
    print(f"{about['baseline']}, on {about['device']}; warm, interleaved on the same GPU; ratios above 1: evotile is faster\n")
    print("| (B,H,S,D) | p50 us | p90 us | TFLOP/s | of mma.sync's peak | fastest SDPA | its p50 us | its p90 us | "
          "ratio | 99 % interval | kernel |\n|---|---|---|---|---|---|---|---|---|---|---|")
    for index, row in sorted(rows.items()):
        shape = SHAPES[index]
        name = f"({shape['B']},{shape['H']},{shape['S']},{shape['D']}){' causal' if shape['CAUSAL'] else ''}"
        peak = f"{100 * row['share_of_peak']:.0f} %" if row["share_of_peak"] else "-"
        print(f"| {name} | {row['p50_us']:.2f} | {row['p90_us']:.2f} | {row['tflops']:.1f} | {peak} | "
              f"{row['against']} | {row['b_p50_us']:.2f} | {row['b_p90_us']:.2f} | {row['times_as_fast']:.3f} | "
              f"{row['low']:.3f} to {row['high']:.3f} | {os.path.basename(row['kernel'])} |")
    ratios = [row["times_as_fast"] for row in rows.values()]
    short = [row["times_as_fast"] for index, row in rows.items() if SHAPES[index]["S"] <= 512]
    tail = sum(row["p90_us"] > row["b_p90_us"] for row in rows.values())
    print(f"\ngeometric mean of the {len(short)} ratios with S <= 512: {mean(short):.3f}; of all {len(ratios)}: "
          f"{mean(ratios):.3f}; below 1: {sum(ratio < 1 for ratio in ratios)}; with a p90 above SDPA's: {tail}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--evotile", default=os.environ.get("EVOTILE", "build/evotile"))
    parser.add_argument("--kernels", default="kernels")
    parser.add_argument("--out", default="build/bench/attention")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--search", action="store_true")
    options = parser.parse_args()
    found = gpu()
    if found is None:
        print("SKIP: bench-attention needs a GPU, and nvidia-smi lists none")
        return
    name, capability = found
    kernels = {} if options.search else exported_kernels(options.kernels, name)
    missing = [index for index in range(len(SHAPES)) if index not in kernels]
    if missing:
        results = search(options, capability, missing)
        kernels.update((index, results) for index in missing)
    print_table(*duels(options, kernels))


if __name__ == "__main__":
    main()
