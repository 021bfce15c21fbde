#!/usr/bin/env python3
"""Records the same genomes of attention at eight related shapes, and measures what seven of them teach of the eighth.

    tests/bench/related_shapes.py record OUT [--trials 2048] [--seconds 560] [--device auto,...] [--evotile build/evotile]
    tests/bench/related_shapes.py suggest OUT [--device auto] [--evotile build/evotile]
    tests/bench/related_shapes.py simulate OUT [--seeds 20] [--evotile build/evotile]

`record` stops after --seconds; the same command continues. Of several devices each takes the next shape. It writes OUT/SHAPE.json.gz, OUT/SHAPE (the run) and OUT/SHAPE.config.json.
The others have each shape left out in turn:

  suggest    time of what `evotile suggest` names from the seven runs, tried on the device, over the best that was recorded
  simulate   without a device: median trials until within 5 and 1 % of the best, with the seven as sources and without; and
             trials until all eight are within 3 %, shared and apart (`evotile simulate --goals`)
"""
import argparse
import gzip
import json
import os
import queue
import signal
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

SHAPES = [(1, 8, 512), (2, 8, 256), (2, 8, 512), (4, 8, 512), (4, 8, 256), (1, 8, 1024), (4, 16, 512), (2, 8, 1024)]
CONFIG = {
    "template": "attention_fwd/hopper",
    "limits": {"smem_bytes": 49152},
    # No champion is accepted here: fewer samples, each kernel where it happens to lie; no second of steady load and no
    # energy of one that takes 50 us or more; no compute-sanitizer.
    "search": {"sanitize_every": -1},
    "timing": {"samples": 16, "warmup_ms": 2, "placements": 1, "energy_ms": 0, "regime": "boost"},
}


def stem(shape):
    return "B{}_H{}_S{}".format(*shape)


def write_config(out, shape):
    path = out / f"{stem(shape)}.config.json"
    batch, heads, length = shape
    path.write_text(json.dumps({**CONFIG, "cases": [{"B": batch, "H": heads, "S": length, "D": 64}]}, indent=2) + "\n")
    return path


def genomes(path):
    """The rows of a recorded file by genome: its time, or None."""
    with gzip.open(path, "rt") as file:
        results = json.load(file)["results"]
    return {json.dumps(row["configuration"], sort_keys=True): row["invalidity"] == "correct" for row in results}


def record_shape(arguments, shape, device, end):
    """Fails if the shape is not recorded, also since the time is up."""
    path = arguments.out / f"{stem(shape)}.json.gz"
    if path.exists() and len(genomes(path)) >= arguments.trials:
        return
    command = [arguments.evotile, "record", str(write_config(arguments.out, shape)), "--trials", str(arguments.trials), "--seed", "1",
               "--device", device, "--out", str(path)]
    with subprocess.Popen(command) as process:
        try:
            process.wait(timeout=max(1, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            process.wait()
    if process.returncode not in (0, -signal.SIGINT):  # it may be interrupted before its first trial
        raise RuntimeError(f"{' '.join(command)}: exit status {process.returncode}")
    if time.monotonic() >= end:
        raise RuntimeError("the time is up: the same command continues")


def record(arguments):
    arguments.out.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + arguments.seconds
    left, wrong = queue.SimpleQueue(), []
    for shape in SHAPES:
        left.put(shape)

    def serve(device):
        try:
            while not wrong:
                record_shape(arguments, left.get_nowait(), device, end)
        except queue.Empty:
            pass
        except RuntimeError as problem:
            wrong.append(str(problem))

    threads = [threading.Thread(target=serve, args=(device,)) for device in arguments.device.split(",")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        sys.exit("\n".join(dict.fromkeys(wrong)))
    rows = [genomes(arguments.out / f"{stem(shape)}.json.gz") for shape in SHAPES]
    same = set(rows[0]).intersection(*rows[1:])
    print(f"{len(same)} genomes are recorded at all {len(SHAPES)} shapes, of {min(map(len, rows))} to {max(map(len, rows))} each")


def ask(arguments, *words):
    done = subprocess.run([arguments.evotile, *map(str, words), "--json"], stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"evotile {' '.join(map(str, words))}: exit status {done.returncode}")
    return json.loads(done.stdout)


def best_us(path):
    """Of the recorded rows."""
    with gzip.open(path, "rt") as file:
        rows = json.load(file)["results"]
    return min(row["measurements"][0]["value"] for row in rows if row["invalidity"] == "correct") * 1e3


def trials_to(arguments, path, others, percent):
    words = ["simulate", path, "--strategy", "auto", "--trials", 120, "--seeds", arguments.seeds, "--within", percent]
    answer = ask(arguments, *words, *(["--sources", ",".join(others)] if others else []))
    return answer["spaces"][0]["trials_to_near"]


def suggest(arguments):
    print("shape            over the best   genome")
    ratios = []
    for shape in SHAPES:
        config = write_config(arguments.out, shape)
        runs = ",".join(str(arguments.out / stem(other)) for other in SHAPES if other != shape)
        named = ask(arguments, "suggest", config, "--learn-from", runs, "--device", arguments.device)["goals"][0]["genome"]
        tried = ask(arguments, "try", config, "--genome", named, "--device", arguments.device)
        best = best_us(arguments.out / f"{stem(shape)}.json.gz")
        ratios.append(tried["score_us"] / best if tried["verdict"] == "ok" else float("inf"))
        print(f"{stem(shape):15} {ratios[-1]:14.3f}   {named}", flush=True)
    print(f"median {statistics.median(ratios):.3f}")


def simulate(arguments):
    files = {shape: str(arguments.out / f"{stem(shape)}.json.gz") for shape in SHAPES}
    print("shape            5 % with  without  1 % with  without")
    for shape in SHAPES:
        others = [files[other] for other in SHAPES if other != shape]
        cells = [trials_to(arguments, files[shape], sources, percent) for percent in (5, 1) for sources in (others, None)]
        print(f"{stem(shape):15}", *(f"{'-' if cell is None else cell:>9}" for cell in cells), flush=True)
    goals = ask(arguments, "simulate", *files.values(), "--goals", "--strategy", "auto", "--within", 3, "--trials", 8000,
                "--seeds", arguments.seeds)
    for row in goals["goals"]:
        print(f"{row['goals']:7} {row['next']:8} trials until all are within 3 %: median {row['trials_median']}, mean {row['trials_mean']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("record", "suggest", "simulate"))
    parser.add_argument("out", type=Path)
    parser.add_argument("--evotile", default="build/evotile")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--trials", type=int, default=2048)
    parser.add_argument("--seconds", type=float, default=560)
    parser.add_argument("--seeds", type=int, default=20)
    arguments = parser.parse_args()
    os.environ["EVOTILE_INDEX"] = "none"  # what is measured must not depend on earlier runs
    {"record": record, "suggest": suggest, "simulate": simulate}[arguments.verb](arguments)


main()
