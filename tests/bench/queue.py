#!/usr/bin/env python3
"""How many trials a second a queue carries, and what its coordinator takes: a search of a made recorded space, whose
workers only look rows up, over a real nats-server on loopback.

    tests/bench/queue.py [--trials 60000] [--hosts 10] [--workers 20] [--evotile build/evotile]

HOSTS processes `evotile worker` with WORKERS device workers each; the strategy is random, so that proposing costs
nothing. Prints the rate and the coordinator's cost a trial as the run grows, and of coordinator, server and a worker
the processor time and the most memory. All share the cores of this machine.
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
from chaos import Server, make_space  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")


def spent(pid):
    """Processor seconds of a process and its dead children, and its most memory in MB."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return (int(fields[11]) + int(fields[12])) / TICKS, int(status["VmHWM"].split()[0]) / 1024


def stored(run):
    """How many trials lie there; 0 before there is a store."""
    try:
        store = sqlite3.connect(f"file:{run}/run.db?mode=ro", uri=True)
        count = store.execute("SELECT max(number) + 1 FROM trials").fetchone()[0] or 0
        store.close()
        return count
    except sqlite3.Error:
        return 0


def print_growth(samples, steps=10):
    """Of samples (clock, trials, the coordinator's processor seconds and megabytes), about so many equal parts."""
    print("trials      trials/s  coordinator, ms a trial  cores     MB")
    whole, before = samples[-1][1], samples[0]
    for sample in samples:
        trials = sample[1] - before[1]
        if trials < whole / steps and sample is not samples[-1] or trials == 0:
            continue
        clock_s, processor_s = sample[0] - before[0], sample[2] - before[2]
        print(f"{sample[1]:8d} {trials / clock_s:11.0f} {1000 * processor_s / trials:24.3f} {processor_s / clock_s:6.2f} "
              f"{sample[3]:6.0f}")
        before = sample


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
    use, samples, begun = None, [], time.monotonic()
    while coordinator.poll() is None:
        try:
            use = {"coordinator": spent(coordinator.pid), "server": spent(server.process.pid),
                   "a worker": spent(workers[0].pid)}
            if (count := stored(folder / "run")) > 0:
                samples.append((time.monotonic(), count, *use["coordinator"]))
        except (OSError, KeyError, IndexError):
            pass
        time.sleep(0.5)
    whole_s = time.monotonic() - begun
    for worker in workers:
        worker.terminate()
    for worker in workers:
        worker.wait()
    server.end(15)
    store = sqlite3.connect(f"file:{folder}/run/run.db?mode=ro", uri=True)
    print_growth(samples)
    first, last, told = store.execute("SELECT min(issued), max(finished), count(told) FROM trials").fetchone()
    late = store.execute("SELECT count(*) FROM trials WHERE finished > ?", (first + (last - first) / 3,)).fetchone()[0]
    print(f"{arguments.hosts} x {arguments.workers} workers, {len(os.sched_getaffinity(0))} cores: {told} trials in "
          f"{last - first:.1f} s, {late / ((last - first) * 2 / 3):.0f} trials/s over the last two thirds")
    for who, (processor_s, megabytes) in use.items():
        print(f"{who}: {processor_s:.1f} s of the processor, {processor_s / (last - first):.2f} of a core; "
              f"{megabytes:.0f} MB at most")
    print(f"with starting and ending {whole_s:.1f} s; status {coordinator.returncode}")
    shutil.rmtree(folder)
    return coordinator.returncode


if __name__ == "__main__":
    sys.exit(main())
