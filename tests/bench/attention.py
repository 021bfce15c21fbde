"""Compares attention with every rival that is installed: for each row, a duel of the exported kernel with each
implementation of the baseline, SDPA's backends, FlashAttention-4 and cuDNN's own front end. Prints one Markdown table.
`make bench-attention` runs it.

usage: python3 tests/bench/attention.py [--rows '1-5,7 decode'] [--kernels FOLDER] [--out FOLDER] [--python PROGRAM] ...

FOLDER has exported kernels or runs, itself or one level below; a run is exported first. Of several kernels for a row the
one with the least recorded p50 is taken. Each duel is stored in --out as it ends, so that a call that was stopped goes on
and rows may be divided over calls; another kernel, or --again, repeats them. --seconds N searches a row without a kernel
for so long. Without a GPU it prints SKIP.

The limit of a row is the larger of its operations at the tensor cores' peak and its bytes at the rate of DRAM, or of L2
where four sets of inputs fit there, by the figures of configs/devices. The SOL score is
1 / (1 + (time - limit) / (rival - limit)): 1 at the limit, 0.5 at the fastest rival.
"""
import argparse
import glob
import hashlib
import json
import math
import os
import re
import subprocess
import sys

SHORT = [(1, 1, 128), (1, 8, 512), (2, 8, 512), (4, 8, 512), (4, 16, 512), (8, 16, 512), (2, 16, 2048)]
ROWS = [{"B": b, "H": h, "S": s, "D": 64, "CAUSAL": causal} for b, h, s in SHORT for causal in (0, 1)] + [
    {"B": 4, "H": 16, "S": 4096, "D": 64, "CAUSAL": 1}, {"B": 4, "H": 16, "S": 512, "D": 128},
    {"B": 2, "H": 16, "S": 4096, "D": 128}, {"B": 2, "H": 16, "S": 4096, "D": 128, "CAUSAL": 1},
    {"B": 1, "H": 32, "H_KV": 8, "S": 8192, "D": 128, "CAUSAL": 1},
    {"B": 1, "H": 32, "H_KV": 8, "S": 1, "S_KV": 8192, "D": 128},
    {"B": 16, "H": 32, "H_KV": 8, "S": 1, "S_KV": 4096, "D": 128}]
GROUPS = {"short": lambda row: 1 < row["S"] <= 512 and row["D"] == 64,
          "long": lambda row: row["S"] > 512 or (row["D"] == 128 and row["S"] > 1), "decode": lambda row: row["S"] == 1}
AIMS = {"short": 1.5, "long": 1.05, "decode": 1.15}  # of the geometric means
RIVALS = "fa4,fa4_split,cudnn,cudnn_frontend,flash,efficient"
TEMPLATES = {"attention_fwd", "attention_fwd_hopper"}
SETS = 4  # of inputs that a timed graph takes in rotation


def row_name(row):
    heads = f"{row['H']}:{row['H_KV']}" if "H_KV" in row else row["H"]
    length = f"1x{row['S_KV']}" if row["S"] == 1 else row["S"]
    return f"({row['B']},{heads},{length},{row['D']}){' causal' if row.get('CAUSAL') else ''}"


def chosen_rows(text):
    """Numbers from 1 and ranges of them, by commas; groups; parts of names, as "(4,8"; separated by blanks."""
    chosen = set()
    for part in text.split():
        if all(piece.replace("-", "", 1).isdigit() for piece in part.split(",")):
            for piece in part.split(","):
                first, _, last = piece.partition("-")
                chosen |= set(range(int(first) - 1, int(last or first)))
        else:
            found = {i for i, row in enumerate(ROWS) if part in row_name(row) or (part in GROUPS and GROUPS[part](row))}
            if not found:
                sys.exit(f"bench-attention: no row is {part}: give numbers of 1 to {len(ROWS)}, {', '.join(GROUPS)}, "
                         "or a part of a name such as (4,8")
            chosen |= found
    if chosen - set(range(len(ROWS))):
        sys.exit(f"bench-attention: there are rows 1 to {len(ROWS)}")
    return sorted(chosen)


def index_of(shape):
    """The row that a manifest's case is, or None: a dimension that the row does not name must have no effect."""
    for index, row in enumerate(ROWS):
        wanted = {"H_KV": row["H"], "S_KV": row["S"], "DV": row["D"], **row}
        if all(value == wanted.get(name, 0) for name, value in shape.items()) and wanted["B"] == shape.get("B"):
            return index
    return None


def run(arguments):
    print("$", " ".join(arguments), file=sys.stderr, flush=True)
    return subprocess.run(arguments, text=True, capture_output=True)


def must_run(arguments):
    done = run(arguments)
    if done.returncode != 0:
        sys.exit(f"bench-attention: the command failed: {done.stderr.strip().splitlines()[-1:]}")


def gpu_name():
    try:
        listed = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True,
                                text=True, timeout=60, check=True).stdout
        return listed.strip().splitlines()[0].strip()
    except (OSError, subprocess.SubprocessError, IndexError):
        return None


def exports(options, folder):
    """The exported kernels of a folder; a run is exported below --out."""
    for path in sorted([folder, *glob.glob(os.path.join(folder, "*", ""))]):
        path = path.rstrip("/")
        if os.path.exists(os.path.join(path, "run.db")):
            made = os.path.join(options.out, "exports", os.path.basename(path))
            must_run([options.evotile, "export", path, "--out", made, "--force"])
            path = made
        if os.path.exists(os.path.join(path, "manifest.json")):
            yield path


def kernels_of(options, folder, device):
    """For each row the fastest kernel for this GPU: its folder, manifest and case."""
    best = {}
    for path in exports(options, folder):
        with open(os.path.join(path, "manifest.json")) as file:
            manifest = json.load(file)
        if manifest["template"]["name"] not in TEMPLATES or manifest["device"]["name"] != device or manifest["predicted"]:
            continue
        for number, case in enumerate(manifest["cases"]):
            index = index_of(case["shape"])
            if index is not None and (index not in best or case["p50_us"] < best[index]["case"]["p50_us"]):
                best[index] = {"folder": path, "number": number, "case": case, "smem": manifest["smem_limit"]}
    return best


def search_config(row, smem):
    limits = {"limits": {"smem_bytes": smem}} if smem else {}
    return {"template": "attention_fwd", "solutions": "all", "cases": [row], **limits}


def searched(options, index, device):
    """The kernel that a search of this row finds; a search that was stopped goes on."""
    folder = os.path.join(options.out, f"search-{index + 1}")
    config, results = folder + ".json", os.path.join(folder, "run")
    os.makedirs(folder, exist_ok=True)
    with open(config, "w") as file:
        json.dump(search_config(ROWS[index], options.smem), file)
    if os.path.exists(os.path.join(results, "run.db")):
        must_run([options.evotile, "resume", results])
    else:
        must_run([options.evotile, "run", config, "--time", f"{options.seconds}s", "--out", results])
    return kernels_of(options, folder, device).get(index)


def duel(options, index, kernel, rival):
    """The stored or measured duel: a case of `duel --json` with the baseline's name, or why there is none."""
    case = hashlib.sha256(json.dumps([kernel["folder"], kernel["number"], kernel["case"]]).encode()).hexdigest()
    stored = os.path.join(options.out, f"{index + 1}-{rival}.json")
    if os.path.exists(stored) and not options.again:
        with open(stored) as file:
            result = json.load(file)
        if result["case"] == case:
            return result
    done = run([options.evotile, "duel", kernel["folder"], "baseline", "--goal", str(kernel["number"]),
                "--implementation", rival, "--json", "--python", options.python])
    if done.returncode == 0:
        output = json.loads(done.stdout)
        result = {"case": case, "duel": output["cases"][0], "baseline": output["b"].split(", ", 1)[-1],
                  "device": output["device"]}
    else:
        why = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"status {done.returncode}"
        result = {"case": case, "unable": why.removeprefix("evotile: ")}
        if "does not support this case" not in why and "has no implementation" not in why:
            return result  # a failure that may pass: it is not stored
    with open(stored, "w") as file:
        json.dump(result, file)
    return result


def device_figures(name):
    for path in glob.glob(os.path.join(os.path.dirname(__file__), "../../configs/devices/*.json")):
        with open(path) as file:
            figures = json.loads(re.sub(r"//.*", "", file.read()))
        if figures.get("name", "").removesuffix(", emulated") == name:
            return figures
    return None


def limit_us(case, figures):
    if figures is None:
        return None
    in_l2 = SETS * case["bytes"] <= figures["l2_bytes"]
    rate = figures["l2_gb_per_s" if in_l2 else "dram_gb_per_s"]
    return max(case["operations"] / figures["tensor_tflops"] / 1e6, case["bytes"] / rate / 1e3)


def sol_score(us, rival_us, limit):
    """1 at the limit, 0.5 at the rival; None where the rival is at the limit."""
    return 1 / (1 + (us - limit) / (rival_us - limit)) if limit and rival_us > limit else None


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def print_table(results, kernels, device):
    figures = device_figures(device)
    print("| row | (B,H,S,D) | ours, us | rival | its us | ratio | 99 % interval | regime | of the limit | SOL score | "
          "other rivals | kernel |\n|---|---|---|---|---|---|---|---|---|---|---|---|")
    ratios, versions = {}, set()
    for index, duels in sorted(results.items()):
        measured = {rival: one for rival, one in duels.items() if "duel" in one}
        versions |= {one["baseline"] for one in measured.values()}
        if not measured:
            print(f"| {index + 1} | {row_name(ROWS[index])} | - | {'no kernel' if not duels else 'none'} |" + " - |" * 8)
            continue
        fastest = min(measured, key=lambda rival: measured[rival]["duel"]["times_as_fast"])
        case, kernel = measured[fastest]["duel"], kernels[index]
        limit = limit_us(kernel["case"], figures)
        score = sol_score(case["p50_us"], case["b_p50_us"], limit)
        others = ", ".join(f"{rival} {one['duel']['times_as_fast']:.3f}" for rival, one in measured.items() if rival != fastest)
        ratios[index] = case["times_as_fast"]
        share = "-" if limit is None else f"{100 * limit / case['p50_us']:.0f} %"
        print(f"| {index + 1} | {row_name(ROWS[index])} | {case['p50_us']:.2f} | {fastest} | {case['b_p50_us']:.2f} | "
              f"{case['times_as_fast']:.3f} | {case['low']:.3f} to {case['high']:.3f} | warm, {kernel['smem'] >> 10} KB | "
              f"{share} | {'-' if score is None else f'{score:.2f}'} | {others} | {os.path.basename(kernel['folder'])} |")
    print(f"\nOn {device}; interleaved on the same GPU. Ratios above 1: evotile is faster. Rivals: "
          f"{'; '.join(sorted(versions)) or 'none'}.")
    for index, duels in sorted(results.items()):
        for rival, one in duels.items():
            if "unable" in one:
                print(f"Row {index + 1} without {rival}: {one['unable']}")
    for name, holds in GROUPS.items():
        of = [ratio for index, ratio in ratios.items() if holds(ROWS[index])]
        if of:
            print(f"geometric mean of the {len(of)} {name} rows: {mean(of):.3f} (aim {AIMS[name]}), least {min(of):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default=f"1-{len(ROWS)}", help="numbers, ranges, groups or parts of names")
    parser.add_argument("--rivals", default=RIVALS)
    parser.add_argument("--seconds", type=int, default=0)
    parser.add_argument("--smem", type=int, default=0, help="shared memory limit of a search in bytes")
    parser.add_argument("--evotile", default=os.environ.get("EVOTILE", "build/evotile"))
    parser.add_argument("--kernels", default="kernels")
    parser.add_argument("--out", default="build/bench/attention")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    indices, device = chosen_rows(options.rows), gpu_name()
    if device is None:
        print("SKIP: bench-attention needs a GPU, and nvidia-smi lists none")
        return
    os.makedirs(options.out, exist_ok=True)
    kernels = kernels_of(options, options.kernels, device)
    results = {}
    for index in indices:
        if index not in kernels and options.seconds > 0:
            found = searched(options, index, device)
            if found is not None:
                kernels[index] = found
        results[index] = {rival: duel(options, index, kernels[index], rival)
                          for rival in options.rivals.split(",") if index in kernels}
    print_table(results, kernels, device)


if __name__ == "__main__":
    main()
