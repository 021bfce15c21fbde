#!/usr/bin/env python3
"""Clients of servers whose workers are on a queue, with folders of their own: every client gets the answer to its own files, at
every level, though a worker is killed in the middle; files that were changed on the queue are refused, and judged when they are
asked for again; the server waits for a queue that is gone; nothing stays on the queue. A server whose workers have GPUs (here, a
client that says so) judges on its own host what needs none.

usage: tests/serve/queued_clients.py EVOTILE      exit status 77: there is no nats-server
"""
import json
import os
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
        self.port, self.nats, self.server = free_port(), None, None
        self.start_nats()
        self.environment = {"EVOTILE_INTERVALS": INTERVALS, "TMPDIR": folder}

    def start_nats(self):
        log = open(f"{self.folder}/nats.log", "a")
        self.nats = subprocess.Popen(["nats-server", "-js", "-sd", f"{self.folder}/jetstream", "-a", "127.0.0.1", "-p",
                                      str(self.port)], stdout=log, stderr=log)
        self.until("nats-server", self.reaches_nats)

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
        """The keys of files on the queue."""
        info = json.loads(self.queue.ask("$JS.API.STREAM.INFO.KV_evotile_files", {"subjects_filter": ">"}))
        return {subject.split(".", 2)[2] for subject in info["state"].get("subjects") or {}}

    def described(self):
        """The description of the only run on the queue."""
        key = self.queue.last("evotile_runs").rsplit(".", 1)[1]
        return json.loads(self.queue.value("evotile_runs", key))

    def held(self):
        """How many trials workers have that they did not answer."""
        names = json.loads(self.queue.ask("$JS.API.CONSUMER.NAMES.EVOTILE_TRIALS", {}))["consumers"]
        return sum(json.loads(self.queue.ask(f"$JS.API.CONSUMER.INFO.EVOTILE_TRIALS.{name}", {}))["num_ack_pending"] for name in names)

    def fail_unless(self, is_so, text):
        if not is_so:
            self.failures.append(text)

    def stop_worker(self, number, signal_number):
        self.workers[number].send_signal(signal_number)
        return self.workers[number].wait()


def all_levels(scene, client):
    for level in ("static", "emulated", "device", "champion"):
        answer = client.evaluate(files=files_off_by(0), level=level, timeout=120)
        scene.fail_unless(answer.ok and (level == "champion") == answer.data["is_champion"], f"{level}: {answer.data}")
    # What the compiler and the judge say names no folder of the worker's host.
    for change in ({"kernel.cu": "nonsense\n"}, {"solution.json": "{"}, {"kernel.cu": '#include "../../problem/problem.json"\n'}):
        answer = client.evaluate(files={**files_off_by(0), **change}, timeout=120)
        scene.fail_unless(answer.verdict in ("compile_failed", "invalid") and scene.folder not in json.dumps(answer.data),
                          f"a wrong solution: {answer.data}")


def work(scene, number, first, answered):
    """Sends kernels that are off by numbers of this client's own, and looks for these in the answers."""
    try:
        with evotile.Client(scene.server.url, name=f"client{number}") as client:
            offsets = [first + number * REQUESTS + at for at in range(REQUESTS)]
            tasks = [(offset, client.submit(files=files_off_by(offset), level="device")) for offset in offsets]
            answered.release()
            for offset, task in tasks:
                problem = check(client.result(task, timeout=120), offset)
                scene.fail_unless(problem is None, f"client {number}: {problem}")
    except Exception as error:  # noqa: BLE001  a thread's failure is the test's
        scene.failures.append(f"client {number}: {error!r}")
        answered.release()


def with_clients(scene, first, meanwhile):
    sent = threading.Semaphore(0)
    threads = [threading.Thread(target=work, args=(scene, number, first, sent)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for _ in threads:
        sent.acquire()
    meanwhile()
    for thread in threads:
        thread.join()


def workers_share(scene):
    with_clients(scene, 1, lambda: None)
    for number in range(2):
        kept = [name for _, folders, _ in os.walk(f"{scene.folder}/host{number}/tmp") for name in folders if len(name) == 32]
        scene.fail_unless(len(kept) > 1, f"worker {number} had no solution of a client")


def worker_dies(scene):
    def kill():
        scene.workers[0].send_signal(signal.SIGCONT)
        scene.until("trials that a worker has", lambda: scene.held() > 0)
        scene.stop_worker(0, signal.SIGKILL)
        scene.start_worker()

    scene.fail_unless(scene.stop_worker(1, signal.SIGTERM) == 0, "status of a worker that was stopped")
    scene.workers[0].send_signal(signal.SIGSTOP)  # it takes nothing before all is sent
    with_clients(scene, 100, kill)


def has_champion(folder):
    """Whether the champion of all_levels is among the solutions on a worker's host."""
    kernel = files_off_by(0)["kernel.cu"]
    for place, _, names in os.walk(folder):
        if "kernel.cu" in names and "notes.cuh" not in names:
            with open(os.path.join(place, "kernel.cu")) as file:
                if file.read() == kernel:
                    return True
    return False


def new_worker_has_the_champion(scene, client):
    """A candidate is compared with the champion, whose files the worker that came last never had."""
    folder = f"{scene.folder}/host{len(scene.workers) - 1}"
    before = has_champion(folder)
    answer = client.evaluate(files={**files_off_by(0), "notes.cuh": "// another\n"}, level="champion", timeout=120)
    scene.fail_unless(answer.verdict == "ok" and answer.data["champion"], f"a second candidate: {answer.data}")
    scene.fail_unless(not before and has_champion(folder), "the files of the champion did not come with its rival's")


def changed_on_the_queue(scene, client):
    """The last worker finds other files, or none, where those of a solution must be."""
    worker = scene.workers[-1]
    other = json.dumps(files_off_by(999)).encode()
    for number, (change, words) in enumerate(((lambda subject: scene.queue.ask(subject, other), "do not have its hash"),
                                              (lambda subject: scene.queue.ask("$JS.API.STREAM.PURGE.KV_evotile_files", {"filter": subject}),
                                               "are missing on the queue"))):
        before = scene.stored()
        worker.send_signal(signal.SIGSTOP)
        task = client.submit(files=files_off_by(200 + number), level="device")
        for key in scene.until("the files on the queue", lambda: scene.stored() - before):
            change(f"$KV.evotile_files.{key}")
        worker.send_signal(signal.SIGCONT)
        answer = client.result(task, timeout=120)
        scene.fail_unless(answer.verdict == "lost" and words in answer.data["reason"], f"changed files: {answer.data}")
        problem = check(client.evaluate(files=files_off_by(200 + number), level="device", timeout=120), 200 + number)
        scene.fail_unless(problem is None, f"asked for again: {problem}")


def queue_is_gone(scene, client):
    scene.nats.kill()
    scene.nats.wait()
    task = client.submit(files=files_off_by(300), level="device")
    scene.start_nats()
    problem = check(client.result(task, timeout=120), 300)
    scene.fail_unless(problem is None, f"after the queue was gone: {problem}")


def send_heartbeats(port, description, stop):
    """A worker that has a GPU, as far as a server can tell, and answers nothing."""
    queue = Queue(port)
    while not stop.wait(0.1):
        info = json.loads(queue.ask("$JS.API.STREAM.INFO.KV_evotile_runs", {"subjects_filter": ">"}))
        for subject in info["state"].get("subjects") or {}:
            run = subject.rsplit(".", 1)[1]
            queue.publish(f"evotile.beat.{run}", {
                "protocol": description["protocol"], "worker": "0" * 16, "host": "attic", "place": description["place"],
                "devices": 1, "capacity": 4, "in_flight": 0, "leaving": False})


def workers_with_gpus(scene, description):
    description["place"]["device"].update(spec="cuda:0", name="NVIDIA H200", predicts=False)
    stop = threading.Event()
    beats = threading.Thread(target=send_heartbeats, args=(scene.port, description, stop))
    beats.start()
    try:
        scene.start_server()
        with evotile.Client(scene.server.url) as client:
            for level in ("static", "emulated"):
                answer = client.evaluate(files=files_off_by(0), level=level, timeout=120)
                scene.fail_unless(answer.ok, f"{level} on the server's host: {answer.data}")
            scene.fail_unless('"NVIDIA H200"' in json.dumps(client.definitions()), f"another device: {client.definitions()}")
            client.submit(files=files_off_by(1), level="device")
            run = scene.described()["run"]
            (_, _, request), = scene.until("the request", lambda: scene.queue.take(run))
            digits, _, name = request["template"].partition("/")
            scene.fail_unless(request["config"] == "config.json" and name == "client" and f"{run}.{digits}.0" in scene.stored(),
                              f"a request to a worker: {request}")
        scene.fail_unless(scene.server.stop()[0] == 0, "status of a server that waits for a worker")
    finally:
        stop.set()
        beats.join()


def main():
    if shutil.which("nats-server") is None:
        print("there is no nats-server: make deps-test")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(sys.argv[1], folder)
        try:
            for _ in range(2):
                scene.start_worker()
            scene.start_server()
            with evotile.Client(scene.server.url) as client:
                all_levels(scene, client)
                workers_share(scene)
                metrics = client.metrics()
                scene.fail_unless("evotile_devices 2\n" in metrics, f"metrics: {metrics}")
                worker_dies(scene)
                new_worker_has_the_champion(scene, client)
                changed_on_the_queue(scene, client)
                queue_is_gone(scene, client)
            scene.fail_unless(scene.stored(), "nothing was on the queue")
            description = scene.described()
            status, errors = scene.server.stop()
            scene.fail_unless(status == 0, f"status {status} of the server: {errors}")
            scene.fail_unless("lost the connection to the queue's server" in errors, f"the server does not say that the queue is gone: {errors}")
            scene.fail_unless(not scene.stored(), f"left on the queue: {scene.stored()}")
            scene.until("the end of the worker's run", lambda: "has no more work" in scene.log(f"host{len(scene.workers) - 1}.log"))
            for number in range(len(scene.workers)):
                scene.stop_worker(number, signal.SIGTERM)
            workers_with_gpus(scene, description)
        finally:
            for process in [*scene.workers, scene.nats, *([scene.server.process] if scene.server else [])]:
                process.kill()
                process.wait()
    print("\n".join(scene.failures[:20]) or "every answer is its client's")
    return 1 if scene.failures else 0


if __name__ == "__main__":
    sys.exit(main())
