"""Measures how fast a server judges new sources of attention: the first of a fresh process, one after the other, and many
at a time. `make bench-candidates` runs it.

usage: tests/bench/serve_candidates.py --evotile PROGRAM [--device cuda:0] [--count N] [--case JSON] [--level LEVEL]

Every candidate is another source: the solution "mma" of attention_fwd with a function added that no kernel calls, so that
nothing is in a cache. Prints one line a phase: seconds in the median, least and most, or candidates a second; and the
seconds of an answer that is kept.
"""
import argparse
import json
import os
import statistics
import sys
import tempfile
import time
import uuid

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
sys.path.insert(0, os.path.join(ROOT, "python"))
from evotile.client import Client, read_folder  # noqa: E402


def candidate(files):
    """The solution's files, with a kernel source that was never compiled."""
    changed = dict(files)
    changed["kernel.cu"] += f"\n__device__ int marked_{uuid.uuid4().hex}(int value) {{ return value; }}\n"
    return changed


def timed(client, level, **what):
    start = time.monotonic()
    answer = client.evaluate(level=level, timeout=600, **what)
    if not answer.ok:
        sys.exit(f"serve_candidates: {answer.verdict}: {answer.data.get('reason')}")
    return time.monotonic() - start, answer


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--evotile", required=True)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--case", default='{"B": 2, "H": 8, "S": 512, "D": 64}')
    parser.add_argument("--level", default="device")
    arguments = parser.parse_args()
    files = read_folder(os.path.join(ROOT, "templates/attention_fwd/mma"))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "served.json")
        with open(path, "w") as file:
            json.dump({"template": "attention_fwd", "cases": [json.loads(arguments.case)]}, file)
        command = [arguments.evotile, "serve", path, "--device", arguments.device,
                   "--templates", os.path.join(ROOT, "templates")]
        start = time.monotonic()
        with Client.start(command) as client:
            first, answer = timed(client, arguments.level, files=candidate(files))
            print(f"first of a fresh process: {time.monotonic() - start:.2f} s with the start, {first:.2f} s without; "
                  f"{answer.data['cases'][0]['warm']['p50_us']:.2f} us a call")
            for _ in range(3):
                timed(client, arguments.level, files=candidate(files))
            seconds = [timed(client, arguments.level, files=candidate(files)) for _ in range(arguments.count // 3)]
            parts = [answer.data["seconds"] for _, answer in seconds]
            seconds = [one for one, _ in seconds]
            print(f"one after the other: median {statistics.median(seconds):.3f} s ({min(seconds):.3f} to {max(seconds):.3f}); "
                  + ", ".join(f"{name} {statistics.median(part[name] for part in parts):.3f}" for name in parts[0]))
            start = time.monotonic()
            tasks = [client.submit(files=candidate(files), level=arguments.level) for _ in range(arguments.count)]
            answers = [client.result(task, timeout=600) for task in tasks]
            spent = time.monotonic() - start
            wrong = [answer.verdict for answer in answers if not answer.ok]
            parts = [answer.data["seconds"] for answer in answers]
            print(f"{arguments.count} at a time: {arguments.count / spent:.1f} candidates/s; "
                  + ", ".join(f"{name} {statistics.median(part[name] for part in parts):.3f}" for name in parts[0])
                  + (f"; not ok: {wrong}" if wrong else ""))
            kept = candidate(files)
            timed(client, arguments.level, files=kept)
            seconds = [timed(client, arguments.level, files=kept)[0] for _ in range(200)]
            print(f"an answer that is kept: {1e3 * statistics.median(seconds):.2f} ms")


if __name__ == "__main__":
    main()
