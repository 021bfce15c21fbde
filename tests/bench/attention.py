"""Compares attention with every rival that is installed: for each row, a duel of the exported kernel with each
implementation of the baseline, SDPA's backends, FlashAttention-4, cuDNN's own front end. Prints one Markdown table.
`make bench-attention` runs it.

usage: python3 tests/bench/attention.py [--rows '1-5,7 decode'] [--kernels FOLDER] [--out FOLDER] [--seconds N] ...

Kernels. --kernels FOLDER has exported kernels or runs, itself or one level below; a run is exported first. Of several
kernels for a row that of the folder named for it is taken, else the one with the least recorded p50. With --seconds N
the rows are searched first, N seconds a row: those that have a folder in common in one search, which starts from the
genomes of --seeds FILE (one a line, # for comments; those of other solutions are left out) and of the kernels there
are; a search that was stopped goes on. --freeze FOLDER exports them there, a folder for each set of rows:
attention_h200 (rows 1 to 14), attention_long_h200 (15 to 19), attention_decode_h200 (20, 21).

Rivals are those of this checkout: a kernel whose folder has another baseline.py is copied to OUT/kernels, with today's.

Records. Each duel is appended to OUT/results.jsonl as it ends, so that a call that was stopped goes on and rows may be
divided over calls and machines: the table has the rows of all *.jsonl in OUT, a table for each GPU, for each row the
latest kernel. Another kernel, or --again, repeats duels. --table only prints it, without a GPU; --json as JSON.
attention_table.py defines the limit and the SOL score.

Without a GPU it prints SKIP.
"""
import argparse
import filecmp
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time

from attention_rows import BENCH, FOLDERS, ROWS, TEMPLATES, chosen_rows, index_of, rivals_of
from attention_table import markdown, report, stored_records
from row_numbers import ranges


TEMPLATES_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "templates")
DEFAULT_SMEM = 49152  # bytes of a block, where a config names no limit


def log(text):
    print(text, file=sys.stderr, flush=True)


def run(arguments):
    log("$ " + " ".join(arguments))
    return subprocess.run(arguments, text=True, capture_output=True)


def last_line(done):
    lines = done.stderr.strip().splitlines()
    return lines[-1].removeprefix("evotile: ") if lines else f"status {done.returncode}"


def must_run(arguments):
    done = run(arguments)
    if done.returncode != 0:
        sys.exit(f"{BENCH}: {' '.join(arguments[:2])} failed: {last_line(done)}")
    return done.stdout


def this_gpu():
    """The name of the first GPU and the driver's version; None without one."""
    try:
        listed = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                                capture_output=True, text=True, timeout=60, check=True).stdout
        name, driver = listed.strip().splitlines()[0].split(", ")
        return name.strip(), driver.strip()
    except (OSError, subprocess.SubprocessError, IndexError, ValueError):
        return None


# ---- kernels ----

def todays_rivals(options, folder):
    """The folder, or a copy of it whose template has the baseline of this checkout."""
    changed = {}
    for path in glob.glob(os.path.join(folder, "template", "*", "*.py")):
        part = os.path.relpath(path, os.path.join(folder, "template"))
        for today in glob.glob(os.path.join(TEMPLATES_FOLDER, os.path.dirname(part), "*.py")):
            name = os.path.join("template", os.path.dirname(part), os.path.basename(today))
            there = os.path.join(folder, name)
            if not os.path.exists(there) or not filecmp.cmp(there, today, shallow=False):
                changed[name] = today
    if not changed:
        return folder
    copy = os.path.join(options.out, "kernels", os.path.basename(folder))
    if os.path.realpath(copy) != os.path.realpath(folder):  # --kernels may be an earlier call's copies
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(folder, copy)
    for name, today in changed.items():
        shutil.copy(today, os.path.join(copy, name))
    log(f"{folder} has another baseline: {copy} has today's")
    return copy


def exports(options, folder):
    """The exported kernels of a folder; a run is exported below --out."""
    for path in sorted([folder, *glob.glob(os.path.join(folder, "*", ""))]):
        path = path.rstrip("/")
        if os.path.exists(os.path.join(path, "run.db")):
            made = os.path.join(options.out, "exports", os.path.basename(path))
            must_run([options.evotile, "export", path, "--out", made, "--force"])
            path = made
        if os.path.exists(os.path.join(path, "manifest.json")):
            with open(os.path.join(path, "manifest.json")) as file:
                yield path, json.load(file)


def most_smem(index):
    """Bytes of shared memory that a block of the row's kernel may have."""
    return next(smem or DEFAULT_SMEM for rows, _, _, smem in FOLDERS.values() if index in rows)


def preference(path, index, case):
    """Of kernels for a row: that of its own folder first, then the one with the least recorded p50. What two searches record at
    the power limit does not compare their kernels."""
    rows, *_ = FOLDERS.get(os.path.basename(path), [()])
    return index not in rows, case["p50_us"]


def kernels_of(options, folder, device):
    """For each row the preferred kernel for this GPU, within the row's shared memory unless --smem asks for more."""
    best = {}
    for path, manifest in exports(options, folder):
        ours = manifest["template"]["name"] in TEMPLATES and not manifest["predicted"]
        if not ours or manifest["device"]["name"] != device:
            continue
        for number, case in enumerate(manifest["cases"]):
            index = index_of(case["shape"])
            if index is None or manifest["smem_limit"] > (options.smem or most_smem(index)):
                continue
            if index not in best or preference(path, index, case) < preference(best[index]["folder"], index, best[index]["case"]):
                best[index] = {"folder": path, "number": number, "count": len(manifest["cases"]), "case": case,
                               "smem": manifest["smem_limit"], "genome": manifest["units"][case["unit"]]["genome"]}
    return best


def search_config(rows, template, solutions, smem):
    limits = {"limits": {"smem_bytes": smem}} if smem else {}
    return {"template": template, "solutions": solutions, "objective": "per_case", "cases": rows, **limits}


def usable(genome, genes):
    """The genes that a solution still has, with values that it still has; nothing if those are few: then it is another
    solution's genome."""
    pairs = [pair.split("=") for pair in genome.split(",") if "=" in pair]
    kept = [f"{name}={value}" for name, value in pairs if value in genes.get(name, ())]
    return ",".join(kept) if 2 * len(kept) > len(pairs) else ""


def genes_of(options, config, solution):
    space = json.loads(must_run([options.evotile, "space", config, "--solution", solution, "--json"]))
    return {gene["name"]: {str(value) for value in gene["values"]} for gene in space["genes"]}


def seeds_of(options, config, solutions, kernels):
    """The genomes of --seeds whose genes one of the solutions has, and those of frozen kernels, which may be of an
    earlier version."""
    seeds = []
    if options.seeds:
        with open(options.seeds) as file:
            seeds = list(filter(None, (line.split("#")[0].strip().rstrip(";") for line in file)))
    spaces = [genes_of(options, config, solution) for solution in solutions]
    own = [seed for seed in seeds
           if any({pair.split("=")[0].strip() for pair in seed.split(",")} <= set(genes) for genes in spaces)]
    if len(own) < len(seeds):
        log(f"{len(own)} of the {len(seeds)} genomes of {options.seeds} have genes of {' or '.join(solutions)} alone")
    own += [max((usable(kernel["genome"], genes) for genes in spaces), key=len) for kernel in kernels.values()]
    return [seed for seed in dict.fromkeys(own) if seed]


def search(options, name, indices, kernels):
    """Searches rows of a folder, and exports the best kernel of each. Returns the export."""
    _, template, solutions, smem = FOLDERS[name]
    folder = os.path.join(options.out, f"search-{ranges(indices)}")
    config, results = os.path.join(folder, "config.json"), os.path.join(folder, "run")
    solutions = options.solutions or solutions
    wanted = json.dumps(search_config([ROWS[index] for index in indices], template, solutions, options.smem or smem))
    if os.path.exists(os.path.join(results, "run.db")):
        with open(config) as file:
            if file.read() != wanted:
                sys.exit(f"{BENCH}: {folder} has a search of another config: remove it, or choose another "
                         "--out")
        must_run([options.evotile, "resume", results])
    else:
        os.makedirs(folder, exist_ok=True)
        with open(config, "w") as file:
            file.write(wanted)
        seeds = seeds_of(options, config, solutions, kernels)
        must_run([options.evotile, "run", config, "--time", f"{options.seconds * len(indices)}s", "--out", results,
                  *(["--seed-genome", ";".join(seeds)] if seeds else [])])
    made = os.path.join(options.freeze or os.path.join(options.out, "exports"),
                        name if options.freeze else f"search-{ranges(indices)}")
    must_run([options.evotile, "export", results, "--out", made, "--force"])
    return made


def searched(options, chosen, kernels, device):
    """Adds the kernels that searches of the chosen rows find, in place of those there were."""
    parts = {name: [index for index in chosen if index in rows] for name, (rows, *_) in FOLDERS.items()}
    for name, indices in parts.items():
        rows = FOLDERS[name][0]
        if options.freeze and 0 < len(indices) < len(rows):
            sys.exit(f"{BENCH}: {name} is frozen as a whole: choose all of rows {ranges(rows)}, or no --freeze")
    for name, indices in parts.items():
        if indices:
            kernels.update(kernels_of(options, search(options, name, indices, kernels), device))


# ---- duels ----

def case_key(kernel):
    """The same for the same kernel, wherever its folder is."""
    return hashlib.sha256(json.dumps([kernel["genome"], kernel["smem"], kernel["case"]]).encode()).hexdigest()


class Duels:
    """The records of this GPU. Those that are missing are measured and appended."""

    def __init__(self, options, device, driver):
        self.options, self.device, self.driver = options, device, driver
        stored = [] if options.again else stored_records(options.out)
        self.done = {(one["row"], one["rival"], one["case"]) for one in stored
                     if one["device"] == device and not one.get("may_pass")}

    def store(self, index, kernel, rival, **result):
        record = {"row": index, "rival": rival, "case": case_key(kernel), "measured": time.time(),
                  "device": self.device, "driver": self.driver,
                  "kernel": {"folder": os.path.basename(kernel["folder"]), "smem": kernel["smem"],
                             "genome": kernel["genome"], "operations": kernel["case"]["operations"],
                             "bytes": kernel["case"]["bytes"]}, **result}
        with open(os.path.join(self.options.out, "results.jsonl"), "a") as file:
            print(json.dumps(record), file=file, flush=True)

    def run(self, kernels, indices, rival, *which):
        """One duel of cases of one folder. Returns what ended it, or None when all are stored."""
        done = run([self.options.evotile, "duel", kernels[indices[0]]["folder"], "baseline", "--implementation", rival,
                    "--json", "--python", self.options.python, *which])
        if done.returncode != 0:
            return last_line(done)
        output = json.loads(done.stdout)
        cases = {case["case"]: case for case in output["cases"]}
        conditions = {row["cases"]: row.get("conditions") for row in output["rows"]}
        for index in indices:
            name = kernels[index]["case"]["name"]
            if name not in cases:
                return f"the duel has no case {name}"
            self.store(index, kernels[index], rival, duel=cases[name], conditions=conditions.get(name),
                       baseline=output["b"].split(", ", 1)[-1])
        return None

    def measure(self, kernels, indices, rival):
        """Rows of one folder: all at once where that is every case of it, since PyTorch takes seconds to start."""
        missing = [index for index in indices if (index, rival, case_key(kernels[index])) not in self.done]
        every_case = len(missing) > 1 and len(missing) == kernels[missing[0]]["count"]
        if every_case and self.run(kernels, missing, rival) is None:
            return
        for index in missing:
            why = self.run(kernels, [index], rival, "--goal", str(kernels[index]["number"]))
            if why is not None:
                log(f"row {index + 1} without {rival}: {why}")
                final = "does not support this case" in why or "has no implementation" in why
                self.store(index, kernels[index], rival, unable=why, may_pass=not final)


def measure(options, chosen, device, driver):
    kernels = kernels_of(options, options.kernels, device)
    if options.seconds > 0:
        searched(options, chosen, kernels, device)
    duels = Duels(options, device, driver)
    for folder in dict.fromkeys(kernels[index]["folder"] for index in chosen if index in kernels):
        indices = [index for index in chosen if index in kernels and kernels[index]["folder"] == folder]
        current = todays_rivals(options, folder)
        for index in indices:
            kernels[index]["folder"] = current
        rivals = {index: options.rivals or rivals_of(ROWS[index]) for index in indices}
        for rival in dict.fromkeys(rival for index in indices for rival in rivals[index]):
            duels.measure(kernels, [index for index in indices if rival in rivals[index]], rival)
    lacking = [index for index in chosen if index not in kernels]
    if lacking:
        log(f"no kernel for this GPU: rows {ranges(lacking)}: --seconds N searches them")


def print_tables(options):
    said = report(stored_records(options.out))
    if options.json:
        print(json.dumps(said, indent=1))
    else:
        print("\n\n".join(map(markdown, said)) or f"no duel is stored in {options.out}")


def names(text):
    return text.split(",")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default=f"1-{len(ROWS)}", help="numbers, ranges, groups or parts of names")
    parser.add_argument("--rivals", type=names, help="by commas (default: all that the rows have)")
    parser.add_argument("--seconds", type=int, default=0, help="of search, a row")
    parser.add_argument("--seeds", help="file of genomes that a search starts from")
    parser.add_argument("--solutions", type=names, help="searched, by commas (default: hopper; of one query decode)")
    parser.add_argument("--smem", type=int, default=0, help="bytes of shared memory in a search (default: by folder)")
    parser.add_argument("--freeze", help="folder for the searches' exports, such as kernels")
    parser.add_argument("--evotile", default=os.environ.get("EVOTILE", "build/evotile"))
    parser.add_argument("--kernels", default="kernels")
    parser.add_argument("--out", default=f"build/bench/{BENCH.removeprefix('bench-')}")
    parser.add_argument("--python", default=sys.executable, help="of the baseline")
    parser.add_argument("--again", action="store_true", help="repeat the duels that are stored")
    parser.add_argument("--table", action="store_true", help="print the table of what is stored, and measure nothing")
    parser.add_argument("--json", action="store_true", help="print JSON in place of Markdown")
    options = parser.parse_args()
    if options.freeze and options.seconds <= 0:
        parser.error("--freeze exports what --seconds N finds")
    chosen = chosen_rows(options.rows)
    if not options.table:
        gpu = this_gpu()
        if gpu is None:
            print(f"SKIP: {BENCH} needs a GPU, and nvidia-smi lists none")
            return
        os.makedirs(options.out, exist_ok=True)
        measure(options, chosen, *gpu)
    print_tables(options)


if __name__ == "__main__":
    main()
