#!/usr/bin/env python3
"""Throughput of a queue and CPU time of its coordinator: a search of a generated recorded space, whose workers only look
up rows, over a real nats-server on loopback.

    tests/bench/queue_rate.py [--trials 60000] [--hosts 10] [--workers 20] [--evotile build/evotile]

Starts HOSTS `evotile worker` processes with WORKERS device workers each; the strategy is random, so that proposing costs
almost nothing. Prints the rate, and the CPU time per trial of the coordinator, the server, the HOSTS (consumers) and their
device workers, as the run grows and in total. All share the cores of this machine. Each device worker reads the table
first, and the first trials wait for it: with --trials 1000000 that takes 0.5 s of CPU time and 70 MB in each.
Exit status 1 if a worker process died, or a trial does not have exactly one outcome.
"""
import argparse
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "queue"))
from chaos import Server, check, make_space  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")
PARTS = ["coordinator", "server", "consumers", "devices"]


def processes():
    """Each process's parent and CPU seconds, by pid."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(") ", 1)[1].split()
        except OSError:
            continue
        found[int(path.parent.name)] = (int(fields[1]), (int(fields[11]) + int(fields[12])) / TICKS)
    return found


def most_megabytes(pid):
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) / 1024


def stored(run):
    """The number of stored trials; 0 before the store exists."""
    try:
        store = sqlite3.connect(f"file:{run}/run.db?mode=ro", uri=True)
        count = store.execute("SELECT max(number) + 1 FROM trials").fetchone()[0] or 0
        store.close()
        return count
    except sqlite3.Error:
        return 0


def sample(run, pids):
    """(clock, trials, CPU seconds of each of PARTS, the coordinator's peak megabytes, the server's)"""
    now, count, all_of_them = time.monotonic(), stored(run), processes()
    hosts = set(pids[2:])
    seconds = [all_of_them[pids[0]][1], all_of_them[pids[1]][1], sum(all_of_them[pid][1] for pid in hosts),
               sum(used for parent, used in all_of_them.values() if parent in hosts)]
    return now, count, seconds, most_megabytes(pids[0]), most_megabytes(pids[1])


def print_growth(samples, steps=10):
    """Prints a line for each of about `steps` equal parts of the run."""
    print("                          CPU time, ms per trial                  coordinator's\n"
          "trials      trials/s" + "".join(f"{part:>13}" for part in PARTS) + "  cores     MB")
    whole, before = samples[-1][1], samples[0]
    for now in samples:
        trials = now[1] - before[1]
        if trials < whole / steps and now is not samples[-1] or trials == 0:
            continue
        clock_s, used = now[0] - before[0], [b - a for a, b in zip(before[2], now[2])]
        print(f"{now[1]:8d} {trials / clock_s:11.0f}" + "".join(f"{1000 * s / trials:13.3f}" for s in used) +
              f"{used[0] / clock_s:7.2f} {now[3]:6.0f}")
        before = now


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evotile", default="build/evotile")
    parser.add_argument("--trials", type=int, default=60000)
    parser.add_argument("--hosts", type=int, default=10)
    parser.add_argument("--workers", type=int, default=20)
    arguments = parser.parse_args()
    if shutil.which("nats-server") is None:
        print("skipped: there is no nats-server: make deps-test")
        return 77
    folder = Path(tempfile.mkdtemp(prefix="queue."))
    make_space(folder / "space.json.gz", arguments.trials)
    (folder / "config.json").write_text(json.dumps(
        {"template": f"recorded:{folder}/space.json.gz", "search": {"strategy": "random"},
         "budget": {"trials": arguments.trials}}))
    server = Server(folder)
    log = open(folder / "log", "w")
    url = f"nats://127.0.0.1:{server.port}"
    workers = [subprocess.Popen([arguments.evotile, "worker", "--queue", url, "--device", "recorded", "--device-workers",
                                 str(arguments.workers)], stderr=log) for _ in range(arguments.hosts)]
    coordinator = subprocess.Popen([arguments.evotile, "run", folder / "config.json", "--queue", url, "--out",
                                    folder / "run"], stderr=log)
    pids = [coordinator.pid, server.process.pid, *(worker.pid for worker in workers)]
    samples, started = [], time.monotonic()
    while coordinator.poll() is None:
        try:
            samples.append(sample(folder / "run", pids))
        except (OSError, KeyError, IndexError):
            pass
        time.sleep(1)
    whole_s = time.monotonic() - started
    died = sum(worker.poll() is not None for worker in workers)
    for worker in workers:
        worker.terminate()
    for worker in workers:
        worker.wait()
    server.end(15)
    store = sqlite3.connect(f"file:{folder}/run/run.db?mode=ro", uri=True)
    print_growth(samples)
    first, last, told = store.execute("SELECT min(issued), max(finished), count(told) FROM trials").fetchone()
    took_s = last - first
    late = store.execute("SELECT count(*) FROM trials WHERE finished > ?", (first + took_s / 3,)).fetchone()[0]
    print(f"{arguments.hosts} x {arguments.workers} workers, {len(os.sched_getaffinity(0))} cores: {told} trials in "
          f"{took_s:.1f} s, {told / took_s:.0f} trials/s, {late / (took_s * 2 / 3):.0f} in the last two thirds")
    for part, used in zip(PARTS, samples[-1][2]):
        print(f"{part}: {used:.1f} s of CPU time, {used / took_s:.2f} of a core")
    print(f"peak memory: {samples[-1][3]:.0f} MB in the coordinator, {samples[-1][4]:.0f} MB in the server")
    print(f"including startup and shutdown {whole_s:.1f} s; status {coordinator.returncode}")
    good = check(folder / "run") and died == 0 and coordinator.returncode == 0
    if not good:
        print(f"{died} worker processes died", (folder / "log").read_text()[-4000:], sep="\n")
    shutil.rmtree(folder)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
