#!/usr/bin/env python3
"""Eight clients of a server whose judge is the real one, on the emulated device, while workers are killed: each sends kernels
whose results are off by a number of its own, and finds that number in its answers.

usage: tests/serve/judged_clients.py EVOTILE [--requests N] [--kills N]
"""
import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
sys.path.insert(0, os.path.join(ROOT, "tests/serve"))
from clients import CLIENTS, Server, evotile  # noqa: E402

LOOP = os.path.join(ROOT, "tests/templates/axpy/loop")


def files_off_by(number):
    files = {name: open(os.path.join(LOOP, name)).read() for name in ("solution.json", "kernel.cu")}
    files["kernel.cu"] = files["kernel.cu"].replace("+ y[i];", f"+ y[i] + {number}.0f;")
    return files


def check(answer, number):
    """None, or what is wrong with the answer."""
    if number == 0:
        return None if answer.ok else f"a right kernel is {answer.verdict}: {answer.data['reason']}"
    if answer.verdict != "wrong":
        return f"a kernel off by {number} is {answer.verdict}: {answer.data['reason']}"
    for element in answer.data["wrong"]["elements"]:
        if abs(element["got"] - element["wanted"] - number) > 0.01 * number:
            return f"a kernel off by {number} is off by {element['got'] - element['wanted']}"
    return None


def work(url, client_number, requests, answered, failures):
    try:
        with evotile.Client(url, name=f"client{client_number}") as client:
            numbers = [0] + [1 + client_number * requests + at for at in range(requests - 1)]
            tasks = [(number, client.submit(files=files_off_by(number), level=random.choice(["device", "emulated"])))
                     for number in numbers]
            for number, task in tasks:
                answer = client.result(task, timeout=300)
                for _ in range(3):  # a trial whose workers were killed twice is lost: the client asks again
                    if answer.verdict != "lost":
                        break
                    answer = client.evaluate(files=files_off_by(number), timeout=300)
                problem = check(answer, number)
                if problem is not None:
                    failures.append(f"client {client_number}: {problem}")
                answered.release()
    except Exception as error:  # noqa: BLE001  a thread's failure is the test's
        failures.append(f"client {client_number}: {error!r}")
        answered.release()


def kill_worker(server):
    """Kills one, if there is one now: the one killed before may not have a successor yet."""
    children = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(server.process.pid)], capture_output=True, text=True).stdout
    workers = [line.split()[0] for line in children.splitlines() if "pool-worker" in line]
    try:
        os.kill(int(random.choice(workers)), signal.SIGKILL)
    except (IndexError, ProcessLookupError):
        return False
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("evotile")
    parser.add_argument("--requests", type=int, default=6)
    parser.add_argument("--kills", type=int, default=4)
    arguments = parser.parse_args()
    failures, answered = [], threading.Semaphore(0)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "served.json")
        with open(path, "w") as file:
            json.dump({"template": "axpy", "cases": [{"N": 2000}]}, file)
        server = Server([arguments.evotile, "serve", path, "--device", "emulated:sm_90",
                         "--templates", os.path.join(ROOT, "tests/templates")])
        threads = [threading.Thread(target=work, args=(server.url, number, arguments.requests, answered, failures))
                   for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        total = CLIENTS * arguments.requests
        for kill in range(arguments.kills):  # each behind so many more answers
            for _ in range(total // (2 * arguments.kills)):
                answered.acquire()
            while not kill_worker(server) and server.process.poll() is None:
                pass
        for thread in threads:
            thread.join()
        status, errors = server.stop()
    if status != 0 or "AddressSanitizer" in errors:
        failures.append(f"status {status} of the server: {errors}")
    print("\n".join(failures[:20]) or f"{CLIENTS} clients, {arguments.requests} requests each, {arguments.kills} workers killed: every answer is its client's")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
