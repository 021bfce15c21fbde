#!/usr/bin/env python3
"""A search over a real nats-server while workers, server and network fail: every trial that was asked must have exactly
one outcome.

    tests/remote/chaos.py [--seconds 20] [--workers 4] [--every 0.5] [--restarts 1] [--cut 2] [--resume]
                         [--rows N] [--evotile build/evotile]

Workers on a recorded device, which runs nothing, are killed with SIGKILL, on average one every EVERY seconds, and
replaced; the server is killed or terminated and restarted with its stored data; all connections to it are cut, and
rejected for CUT seconds. With --resume the coordinator is killed too, once, and resumed. --rows generates a space with that
many rows, for a long search. Prints what happened; exit status 1 if a trial was lost or duplicated, 77 if there is no
nats-server.
"""
import argparse
import gzip
import itertools
import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def make_space(path, rows):
    """Writes a Kernel Tuner cache (.json.gz) with at least that many rows; only three genes, so that it parses fast."""
    count = 2
    while count ** 3 < rows:
        count += 1
    names, draw = ["a", "b", "c"], random.Random(1)
    with gzip.open(path, "wt", compresslevel=1) as out:
        out.write(json.dumps({"device_name": "bench", "kernel_name": "bench", "problem_size": 1,
                              "tune_params_keys": names, "tune_params": {name: list(range(count)) for name in names},
                              "objective": "time"})[:-1] + ', "cache": {')
        for row, (a, b, c) in enumerate(itertools.product(range(count), repeat=3)):
            out.write(f'{"," if row else ""}\n"{a},{b},{c}":{{"a":{a},"b":{b},"c":{c},"time":{1 + draw.random():.4f}}}')
        out.write("}}\n")


class Server:
    def __init__(self, folder):
        self.folder, self.port, self.process = folder, free_port(), None
        self.start()

    def start(self):
        with open(self.folder / "server.log", "a") as log:
            self.process = subprocess.Popen(
                ["nats-server", "-js", "-sd", self.folder / "jetstream", "-a", "127.0.0.1", "-p", str(self.port)],
                stdout=log, stderr=log)
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        sys.exit("nats-server does not start: " + (self.folder / "server.log").read_text())

    def end(self, number):
        self.process.send_signal(number)
        self.process.wait()


class Network(threading.Thread):
    """A TCP proxy in front of the server whose connections can be cut."""

    def __init__(self, to):
        super().__init__(daemon=True)
        self.to, self.port, self.up, self.pairs, self.lock = to, free_port(), True, [], threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", self.port), backlog=512)
        self.start()

    def run(self):
        while True:
            client, _ = self.listener.accept()
            try:
                server = socket.create_connection(("127.0.0.1", self.to)) if self.up else None
            except OSError:
                server = None
            if server is None:
                client.close()
                continue
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.lock:
                self.pairs.append((client, server))
            for a, b in ((client, server), (server, client)):
                threading.Thread(target=self.pump, args=(a, b), daemon=True).start()

    @staticmethod
    def pump(source, to):
        try:
            while data := source.recv(1 << 16):
                to.sendall(data)
        except OSError:
            pass
        for end in (source, to):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self, seconds):
        self.up = False
        with self.lock:
            pairs, self.pairs = self.pairs, []
        for pair in pairs:
            for end in pair:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
        time.sleep(seconds)
        self.up = True


class Chaos:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.server = Server(folder)
        self.network = Network(self.server.port)
        self.url = f"nats://127.0.0.1:{self.network.port}"
        self.workers, self.started, self.kills, self.died = [], 0, 0, 0
        self.random = random.Random(arguments.seed)

    def spawn(self, name, *words):
        with open(self.folder / f"{name}.log", "a") as log:
            return subprocess.Popen([self.arguments.evotile, *map(str, words)], stdout=log, stderr=log)

    def worker(self):
        self.started += 1
        name = f"worker-{self.started}"
        worker = self.spawn(name, "worker", "--queue", self.url, "--device", "recorded")
        worker.log = self.folder / f"{name}.log"
        self.workers.append(worker)

    def until_workers_are_connected(self):
        """A worker that cannot connect when it starts ends, rightly."""
        end = time.monotonic() + 60
        while time.monotonic() < end and not all("waiting for a run" in worker.log.read_text() for worker in self.workers):
            time.sleep(0.05)

    def coordinator(self, resume=False):
        words = ["resume", self.folder / "run"] if resume else [
            "run", f"recorded:{self.arguments.space}", "--out", self.folder / "run"]
        return self.spawn("coordinator", *words, "--time", f"{self.arguments.seconds}s", "--queue", self.url,
                          "--redeliver", "2s")

    def kill_one(self):
        victim = self.workers.pop(self.random.randrange(len(self.workers)))
        self.died += victim.poll() is not None
        victim.kill()
        victim.wait()
        self.kills += 1
        self.worker()

    def events(self):
        """The schedule: (seconds from the start, event)."""
        whole = self.arguments.seconds
        plan = [(whole * (i + 1) / (self.arguments.restarts + 2), "restart") for i in range(self.arguments.restarts)]
        plan.append((whole * 0.5, "cut"))
        if self.arguments.resume:
            plan.append((whole * 0.25, "resume"))
        when = 0
        while (when := when + self.random.expovariate(1 / self.arguments.every)) < whole:
            plan.append((when, "kill"))
        return sorted(plan)

    def until_coordinators(self, count):
        """Waits until that many coordinators have connected; returns the seconds, which do not count as run time."""
        started, log = time.monotonic(), self.folder / "coordinator.log"
        while log.read_text().count("waiting for a worker") < count and time.monotonic() - started < 60:
            time.sleep(0.05)
        return time.monotonic() - started

    def run(self):
        running = self.coordinator()
        for _ in range(self.arguments.workers):
            self.worker()
        while not (self.folder / "run/run.db").exists() and running.poll() is None:
            time.sleep(0.05)
        started, restarts = time.monotonic(), 0
        for when, what in self.events():
            time.sleep(max(0, started + when - time.monotonic()))
            if running.poll() is not None:
                break
            if what == "kill":
                self.kill_one()
            elif what == "cut":
                self.until_workers_are_connected()
                self.network.cut(self.arguments.cut)
            elif what == "restart":
                self.until_workers_are_connected()
                self.server.end(signal.SIGKILL if restarts % 2 == 0 else signal.SIGTERM)
                restarts += 1
                time.sleep(0.5)
                self.server.start()
            elif what == "resume":
                running.kill()
                running.wait()
                running = self.coordinator(resume=True)
                started += self.until_coordinators(2)
        try:
            status = running.wait(120)
        except subprocess.TimeoutExpired:
            running.kill()
            status = "still running 120 s later"
        print(f"{self.kills} workers killed, the server restarted {restarts} times, the network cut for "
              f"{self.arguments.cut} s; the coordinator: {status}")
        self.died += sum(worker.poll() is not None for worker in self.workers)
        if self.died > 0:
            print(f"{self.died} workers crashed")
        return status == 0 and self.died == 0

    def end(self):
        for process in self.workers:
            process.kill()
            process.wait()
        self.server.end(signal.SIGKILL)


def check(run):
    """True if each trial that was asked has exactly one valid outcome."""
    store = sqlite3.connect(f"file:{run}/run.db?mode=ro", uri=True)
    asked, told, numbers, events = store.execute(
        "SELECT count(*), count(told), count(DISTINCT number), count(DISTINCT told) FROM trials").fetchone()
    vanished = store.execute("SELECT count(*) FROM trials WHERE reason LIKE '%vanished%'").fetchone()[0]
    crashed = store.execute("SELECT count(*) FROM trials WHERE verdict = 'crashed'").fetchone()[0]
    again = store.execute("SELECT count(*) FROM earlier").fetchone()[0]
    print(f"{asked} trials asked, {told} told, {again} told again, {vanished} dead letters after four deliveries")
    return asked > 0 and asked == told == numbers == events and again == 0 and crashed == vanished


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evotile", default=os.environ.get("EVOTILE", str(ROOT / "build/evotile")))
    parser.add_argument("--space", default=str(ROOT / "tests/spaces/convolution_milo_A100.json.gz"))
    parser.add_argument("--rows", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--every", type=float, default=0.5)
    parser.add_argument("--restarts", type=int, default=1)
    parser.add_argument("--cut", type=float, default=2)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if shutil.which("nats-server") is None:
        print("there is no nats-server: make deps-test")
        return 77
    folder = Path(tempfile.mkdtemp(prefix="chaos."))
    if arguments.rows > 0:
        arguments.space = folder / "space.json.gz"
        make_space(arguments.space, arguments.rows)
    chaos = Chaos(arguments, folder)
    try:
        good = chaos.run()
    finally:
        chaos.end()
    good = check(folder / "run") and good
    if not good:
        for name in ["coordinator", *(f"worker-{chaos.started - w}" for w in range(arguments.workers))]:
            print(name, (folder / f"{name}.log").read_text()[-4000:], sep=":\n")
        print(f"logs and run: {folder}")
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
