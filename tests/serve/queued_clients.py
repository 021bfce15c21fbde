#!/usr/bin/env python3
"""Clients of servers whose workers are on a queue, with folders of their own: every client gets the answer to its own files, at
every level, though a worker is killed in the middle; files that were changed on the queue are refused, and judged when they are
asked for again; the server waits for a queue that is gone; nothing stays on the queue.

usage: tests/serve/queued_clients.py EVOTILE      exit status 77: there is no nats-server
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
sys.path[:0] = [os.path.join(ROOT, "tests/serve"), os.path.join(ROOT, "tests/remote")]
from clients import Server, evotile  # noqa: E402
from chaos import free_port  # noqa: E402
from hostile_peer import Client as Queue  # noqa: E402
from judged_clients import check, files_off_by  # noqa: E402

CLIENTS, REQUESTS = 4, 5
INTERVALS = "heartbeat=0.2,heartbeat_timeout=3,run_poll=0.2,describe=0.5,request_resend=0.5,result_resend=0.2"


class Scene:
    def __init__(self, evotile_program, folder):
        self.evotile, self.folder, self.failures, self.workers = evotile_program, folder, [], []
        self.port = free_port()
        self.nats = None
        self.start_nats()
        self.environment = {"EVOTILE_INTERVALS": INTERVALS, "TMPDIR": folder}

    def start_nats(self):
        log = open(f"{self.folder}/nats.log", "a")
        self.nats = subprocess.Popen(["nats-server", "-js", "-sd", f"{self.folder}/jetstream", "-a", "127.0.0.1", "-p",
                                      str(self.port)], stdout=log, stderr=log)
        self.until("nats-server", lambda: self.reaches_nats())

    def reaches_nats(self):
        try:
            self.queue = Queue(self.port)
            return True
        except OSError:
            return False

    def until(self, what, is_so, seconds=60):
        end = time.monotonic() + seconds
        while not (value := is_so()):
            if time.monotonic() > end:
                raise SystemExit(f"{what}: not within {seconds} s\n" + "".join(self.log(name) for name in sorted(os.listdir(self.folder))
                                                                             if name.endswith(".log")))
            time.sleep(0.05)
        return value

    def log(self, name):
        with open(f"{self.folder}/{name}") as file:
            return file.read()

    def start_worker(self):
        """A worker with a home, a cache and temporary files of its own, which sees none of the server's."""
        number = len(self.workers)
        own = f"{self.folder}/host{number}"
        os.makedirs(f"{own}/tmp")
        environment = {**os.environ, **self.environment, "HOME": own, "XDG_CACHE_HOME": f"{own}/cache", "TMPDIR": f"{own}/tmp",
                       "EVOTILE_TEMPLATES": "/nowhere"}
        with open(f"{own}.log", "w") as log:
            self.workers.append(subprocess.Popen(
                [self.evotile, "worker", "--queue", f"nats://127.0.0.1:{self.port}", "--device", "emulated:sm_90",
                 "--compile-workers", "1", "--device-workers", "1"], cwd=own, stderr=log, env=environment))
        return self.workers[-1]

    def start_server(self):
        path = f"{self.folder}/served.json"
        with open(path, "w") as file:
            json.dump({"template": "axpy", "cases": [{"N": 2000}]}, file)
        self.server = Server([self.evotile, "serve", path, "--queue", f"nats://127.0.0.1:{self.port}", "--redeliver", "1s",
                              "--templates", os.path.join(ROOT, "tests/templates")], **self.environment)

    def stored(self):
        """The keys on the queue, without their last number, and the runs."""
        info = self.queue.ask("$JS.API.STREAM.INFO.KV_evotile_files", {"subjects_filter": ">"})
        return set(re.findall(rb"KV.evotile_files.([0-9a-f]{16}.[0-9a-f]{32}).", info))


def all_levels(scene, client):
    for level in ("static", "emulated", "device", "champion"):
        answer = client.evaluate(files=files_off_by(0), level=level, timeout=120)
        if not answer.ok or (level == "champion") != answer.data.get("is_champion", False):
            scene.failures.append(f"{level}: {answer.data}")
    definitions = client.definitions()
    if "H100" not in json.dumps(definitions) and "emulated" not in json.dumps(definitions):
        scene.failures.append(f"no device: {definitions}")
    # Another solution against the champion, whose files the worker has to have, too.
    other = {**files_off_by(0), "notes.cuh": "// another\n"}
    answer = client.evaluate(files=other, level="champion", timeout=120)
    if answer.verdict not in ("ok", "slower") or answer.data["champion"]["solution"] != "client":
        scene.failures.append(f"against the champion: {answer.data}")
    if "/tmp" in json.dumps(answer.data) or scene.folder in json.dumps(answer.data):
        scene.failures.append("an answer names a folder")


def work(scene, number, answered):
    try:
        with evotile.Client(scene.server.url, name=f"client{number}") as client:
            offsets = [1 + number * REQUESTS + at for at in range(REQUESTS)]
            tasks = [(offset, client.submit(files=files_off_by(offset), level="device")) for offset in offsets]
            for offset, task in tasks:
                problem = check(client.result(task, timeout=120), offset)
                if problem is not None:
                    scene.failures.append(f"client {number}: {problem}")
                answered.release()
    except Exception as error:  # noqa: BLE001  a thread's failure is the test's
        scene.failures.append(f"client {number}: {error!r}")
        answered.release(REQUESTS)


def many_clients(scene):
    answered = threading.Semaphore(0)
    threads = [threading.Thread(target=work, args=(scene, number, answered)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for _ in range(CLIENTS * REQUESTS // 3):
        answered.acquire()
    scene.workers[0].kill()  # it holds trials, which the other one gets
    scene.workers[0].wait()
    for thread in threads:
        thread.join()


def main():
    program = sys.argv[1]
    if shutil.which("nats-server") is None:
        print("there is no nats-server: make deps-test")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(program, folder)
        try:
            for _ in range(2):
                scene.start_worker()
            scene.start_server()
            with evotile.Client(scene.server.url) as client:
                all_levels(scene, client)
                many_clients(scene)
            status, errors = scene.server.stop()
            if status != 0:
                scene.failures.append(f"status {status} of the server: {errors}")
            print(errors)
            print(scene.stored())
        finally:
            for process in [*scene.workers, scene.server.process, scene.nats]:
                process.kill()
                process.wait()
        print("\n".join(scene.failures))
        for n in range(2): print(scene.log(f"host{n}.log"))
    return 1 if scene.failures else 0


if __name__ == "__main__":
    sys.exit(main())
