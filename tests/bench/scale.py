#!/usr/bin/env python3
"""Measures how the search scales with the GPUs of one host, and whether the GPUs disturb each other's measurements.

    tests/bench/scale.py [--evotile build/evotile] [--config configs/attention_scale.json]
                         [--gpus 1,2,4,8] [--trials 600] [--duels build/tests/gpu/duel_test] [--out FOLDER]

First it searches the config on 1, 2, 4 ... GPUs with the same number of trials per GPU, each time with the default number
of compile workers and an empty cache of compiled kernels. The config samples genomes at random, so that all
rows have the same kind of work. A row covers the trials from 25 % to 90 % of the run, without startup and end.

  trials/s      finished trials per second
  efficiency    rate per GPU relative to one GPU
  GPU busy      fraction of time in which a GPU's worker verified, timed or ran duels
  compile busy  the same for the compile workers: near 1, compiling is the bottleneck

Then it runs A/A duels: a kernel against itself on the first GPU alone, on the first two concurrently, and on both while as
many compilations run as there are compile workers. A win is a false positive. Exit status 1 if more than 1 % are wins.
"""
import argparse
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path


def gpu_count():
    if shutil.which("nvidia-smi") is None:
        return 0
    listing = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True)
    return sum(line.startswith("GPU ") for line in listing.stdout.splitlines())


def devices(count):
    return ",".join(f"cuda:{i}" for i in range(count))


def environment(folder):
    """Separate caches for evotile and NVRTC: otherwise a row would reuse the kernels of another one."""
    return {**os.environ, "EVOTILE_CACHE": str(folder / "cache"), "CUDA_CACHE_PATH": str(folder / "nvrtc")}


def search(arguments, count):
    folder = arguments.out / f"gpus-{count}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    run = folder / "run"
    command = [arguments.evotile, "run", arguments.config, "--device", devices(count), "--trials",
               str(arguments.trials * count), "--out", run]
    with open(folder / "log", "w") as log:
        subprocess.run(command, check=True, env=environment(folder), stderr=log)
    return run


def measure(run, gpus, workers):
    """Rates in the middle part of a search."""
    store = sqlite3.connect(f"file:{run}/run.db?mode=ro", uri=True)
    ended = [row[0] for row in store.execute("SELECT finished FROM trials WHERE finished > 0 ORDER BY finished")]
    begin, end = ended[len(ended) // 4], ended[len(ended) * 9 // 10]
    span_s = end - begin
    trials, compile_s, gpu_s = store.execute(
        "SELECT count(*), total(compile_s), total(verify_s + measure_s) FROM trials "
        "WHERE finished > ? AND finished <= ?", (begin, end)).fetchone()
    per_gpu = [row[0] for row in store.execute(
        "SELECT count(*) FROM trials WHERE finished > ? AND finished <= ? AND worker LIKE 'cuda:%' GROUP BY worker",
        (begin, end))]
    return {"rate": trials / span_s, "gpu_busy": gpu_s / (gpus * span_s),
            "compile_busy": compile_s / (workers * span_s), "compile_s": compile_s / max(trials, 1),
            "least": min(per_gpu, default=0), "most": max(per_gpu, default=0)}


def table(arguments, counts):
    print(f"{arguments.config}, {arguments.trials} trials a GPU, {len(os.sched_getaffinity(0))} cores")
    print("GPUs  compile workers  trials/s  efficiency  GPU busy  compile busy  s a compilation  trials a GPU")
    alone = None
    for count in counts:
        workers = max(1, len(os.sched_getaffinity(0)) - count)
        got = measure(search(arguments, count), count, workers)
        alone = alone or got["rate"] / count
        print(f"{count:4}  {workers:15}  {got['rate']:8.1f}  {got['rate'] / count / alone:10.2f}"
              f"  {got['gpu_busy']:8.2f}  {got['compile_busy']:12.2f}  {got['compile_s']:15.2f}"
              f"  {got['least']} to {got['most']}", flush=True)


def duel(arguments, gpu):
    return subprocess.Popen([arguments.duels], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env={**os.environ, "EVOTILE_DEVICE": f"cuda:{gpu}",
                                 "EVOTILE_ONLY": "a_kernel_seldom_beats_itself"})


def duels(arguments, what, gpus):
    """Prints a line per GPU; returns whether at most 1 % of the duels had a winner."""
    passed = True
    for gpu, process in [(gpu, duel(arguments, gpu)) for gpu in gpus]:
        text = process.communicate()[0]
        line = re.search(r"^A/A, .*?: (\d+) won, (\d+) lost, \d+ undecided of (\d+).*$", text, re.M)
        if line is None:
            sys.exit(f"unexpected output of the duels:\n{text}")
        passed = passed and int(line[1]) + int(line[2]) <= 0.01 * int(line[3])
        print(f"{what}, cuda:{gpu}: {line[0]}", flush=True)
    return passed


def compile_load(arguments):
    """Compiles and interprets kernels on every core, on the emulated device of the same architecture."""
    folder = arguments.out / "load"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    command = [arguments.evotile, "run", arguments.config, "--device", "emulated:sm_90", "--time", "1h", "--out",
               folder / "run"]
    return subprocess.Popen(command, env=environment(folder), stderr=subprocess.DEVNULL)


def all_duels(arguments, count):
    passed = duels(arguments, "alone", [0])
    if count > 1:
        passed = duels(arguments, "both concurrently", [0, 1]) and passed
    load = compile_load(arguments)
    time.sleep(15)
    passed = duels(arguments, "during compilations", list(range(min(2, count)))) and passed
    load.terminate()
    load.terminate()  # the second signal stops it immediately
    try:
        load.wait(60)
    except subprocess.TimeoutExpired:
        load.kill()
    return passed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evotile", default="build/evotile")
    parser.add_argument("--config", default="configs/attention_scale.json")
    parser.add_argument("--gpus", default="1,2,4,8")
    parser.add_argument("--trials", type=int, default=600)
    parser.add_argument("--duels", default="build/tests/gpu/duel_test")
    parser.add_argument("--out", type=Path, default=Path("build/bench/scale"))
    arguments = parser.parse_args()
    count = gpu_count()
    if count == 0:
        print("skipped: there is no GPU")
        return 77
    table(arguments, [n for n in map(int, arguments.gpus.split(",")) if n <= count])
    return 0 if not Path(arguments.duels).exists() or all_duels(arguments, count) else 1


if __name__ == "__main__":
    sys.exit(main())
