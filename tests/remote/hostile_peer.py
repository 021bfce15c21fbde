#!/usr/bin/env python3
"""Runs against a real nats-server together with a client that speaks the protocol by hand (specified in
search/remote/connection.h).

    tests/remote/hostile_peer.py [--evotile build/evotile]

A request that three workers held without an answer is answered as crashed by the fourth, and not earlier; files that were
changed on the queue are rejected; another protocol version is rejected on both sides, with a message; a trial whose
result does not arrive, or has another genome, is repeated, even if the whole run was purged; a server without space is reported, and messages to it are resent; a run that ends leaves
nothing on the server; a run whose workers have all left still ends, and can be resumed. Exit status 1 if any of this fails, 77 if
there is no nats-server.
"""
import argparse
import collections
import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 1
RUN_POLL_S = 0.2
INTERVALS = (f"heartbeat=0.2,heartbeat_timeout=3,run_poll={RUN_POLL_S},describe=0.5,request_resend=0.5,"
             "result_resend=0.2")


class Client:
    """A minimal NATS client."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.stream = self.socket.makefile("rb")
        self.stream.readline()  # INFO
        self.asked = 0
        self.send("CONNECT " + json.dumps({"verbose": False, "headers": True, "no_responders": True}))

    def send(self, line, body=b""):
        self.socket.sendall(line.encode() + b"\r\n" + body)

    def publish(self, subject, body, reply="", message_id=None):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = f"NATS/1.0\r\nNats-Msg-Id: {message_id}\r\n\r\n".encode() if message_id else b""
        self.send(f"HPUB {subject} {reply} {len(head)} {len(head + body)}" if message_id else f"PUB {subject} {reply} {len(body)}",
                  head + body + b"\r\n")

    def message(self):
        """The body of the next message of the latest subscription; None for a status message (no more messages)."""
        while True:
            words = self.stream.readline().decode().split()
            if words[0] == "PING":
                self.send("PONG")
            elif words[0] == "-ERR":
                sys.exit(" ".join(words))
            elif words[0] in ("MSG", "HMSG"):
                head, whole = (int(words[-2]), int(words[-1])) if words[0] == "HMSG" else (0, int(words[-1]))
                text = self.stream.read(whole + 2)[:whole]
                status = text[:head].split(b"\r\n")[0].split()
                if words[2] == str(self.asked):
                    self.reply, self.message_id = words[3], re.search(rb"Nats-Msg-Id: ?(\S+)", text[:head])
                    return None if len(status) > 1 else text[head:]

    def ask(self, subject, body):
        self.asked += 1
        inbox = f"_INBOX.test.{self.asked}"
        self.send(f"SUB {inbox} {self.asked}")
        self.publish(subject, body, inbox)
        reply = self.message()
        self.send(f"UNSUB {self.asked}")
        return reply

    def put(self, bucket, key, body):
        """Returns once the server has stored it."""
        self.ask(f"$KV.{bucket}.{key}", body)

    def value(self, bucket, key):
        return self.ask(f"$JS.API.DIRECT.GET.KV_{bucket}", {"last_by_subj": f"$KV.{bucket}.{key}"})

    def last(self, bucket):
        """The subject of the key that was updated last."""
        return json.loads(self.ask(f"$JS.API.STREAM.MSG.GET.KV_{bucket}", {"last_by_subj": f"$KV.{bucket}.>"}))["message"]["subject"]

    def left(self, run):
        """The run's subjects and consumers on the server."""
        text = b""
        for stream in ("KV_evotile_runs", "KV_evotile_files", "EVOTILE_TRIALS", "EVOTILE_RESULTS"):
            text += self.ask(f"$JS.API.STREAM.INFO.{stream}", {"subjects_filter": ">"})
            text += self.ask(f"$JS.API.CONSUMER.NAMES.{stream}", b"")
        return sorted(set(re.findall(rb"[\w$.]*" + run.encode() + rb"[\w.]*", text)))

    def clear(self, run):
        """Purges the run, as a coordinator does with an abandoned one."""
        for stream, subject in (("EVOTILE_TRIALS", f"evotile.trial.{run}"), ("EVOTILE_RESULTS", f"evotile.result.{run}"),
                                ("KV_evotile_runs", f"$KV.evotile_runs.{run}"),
                                ("KV_evotile_files", f"$KV.evotile_files.{run}.>")):
            self.ask(f"$JS.API.CONSUMER.DELETE.{stream}.{run}", b"")
            self.ask(f"$JS.API.STREAM.PURGE.{stream}", {"filter": subject})

    def listen(self, subject):
        """From now on message() reads from this subject."""
        self.asked += 1
        self.send(f"SUB {subject} {self.asked}")
        self.send("PING")
        while self.stream.readline().strip() != b"PONG":
            pass

    def take(self, run):
        """Pulls all waiting requests of the run: for each the reply subject, the message id and the request."""
        self.asked += 1
        inbox = f"_INBOX.test.{self.asked}"
        self.send(f"SUB {inbox} {self.asked}")
        self.publish(f"$JS.API.CONSUMER.MSG.NEXT.EVOTILE_TRIALS.{run}", {"batch": 1000, "no_wait": True}, inbox)
        requests = []
        while (body := self.message()) is not None:
            requests.append((self.reply, self.message_id[1].decode(), json.loads(body)))
        self.send(f"UNSUB {self.asked}")
        return requests


class Scenario:
    def __init__(self, evotile, folder):
        self.evotile, self.folder, self.processes, self.failed = evotile, folder, [], False
        self.place = None  # of a worker on a recorded device; invalid_messages finds it out
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        (folder / "server.conf").write_text(f"jetstream {{ store_dir: {folder}/jetstream, max_file_store: 16MB }}")
        self.start("server", "nats-server", "-c", folder / "server.conf", "-a", "127.0.0.1", "-p", self.port)
        self.wait("the server", lambda: "Server is ready" in self.log("server"))
        self.client = Client(self.port)

    def start(self, name, *words):
        with open(self.folder / f"{name}.log", "w") as log:
            self.processes.append(subprocess.Popen([str(word) for word in words], stdout=log, stderr=log))
        return self.processes[-1]

    def run(self, name, *words):
        return self.start(name, self.evotile, *words, "--queue", f"nats://127.0.0.1:{self.port}")

    def worker(self, name):
        return self.run(name, "worker", "--device", "recorded")

    def log(self, name):
        return (self.folder / f"{name}.log").read_text()

    def wait(self, what, is_so, seconds=60):
        end = time.monotonic() + seconds
        while not (value := is_so()):
            if time.monotonic() > end:
                print(f"{what}: not within {seconds} s")
                self.failed = True
                return None
            time.sleep(0.05)
        return value

    def expect(self, name, text):
        self.wait(f"'{text}' in {name}.log", lambda: text in self.log(name))

    def start_run(self, name, space, *options):
        """Starts a run that has a worker by its heartbeats, which does no trial; returns the process and the run's id."""
        run = self.run(name, "run", space, *options, "--out", self.folder / name, "--redeliver", f"{PATIENCE_S}s")
        run_id = self.id_of(name)
        self.wait("a worker of the run", lambda: self.send_heartbeat(run_id, 4) or "a worker on attic" in self.log(name))
        return run, run_id

    def start_idle_run(self, name, space):
        """Starts a run whose first worker has left without doing a trial; returns the process and the run's id."""
        run, run_id = self.start_run(name, space, "--trials", 40)
        self.send_heartbeat(run_id, 4, leaving=True)
        self.expect(name, "a worker on attic left")
        return run, run_id

    def send_heartbeat(self, run_id, capacity, leaving=False):
        """Publishes a heartbeat of a worker with that capacity."""
        description = json.loads(self.client.value("evotile_runs", run_id))
        self.client.publish(f"evotile.beat.{run_id}", {
            "protocol": description["protocol"], "worker": "0" * 16, "host": "attic", "place": self.place,
            "devices": 1, "capacity": capacity, "in_flight": 0, "leaving": leaving})

    def answer(self, run_id, reply, message_id, request):
        """Publishes the result of a worker on a recorded device, and acknowledges the request."""
        self.client.publish(f"evotile.result.{run_id}", result_of(request, request["genome"], 1e6), message_id=message_id)
        self.client.publish(reply, b"+ACK")

    def expect_complete(self, name, run, run_id):
        """Waits for the end of the run: all trials have one outcome, and nothing is left on the server."""
        self.wait("the end of the run", lambda: run.poll() is not None)
        store = sqlite3.connect(f"file:{self.folder}/{name}/run.db?mode=ro", uri=True)
        told = store.execute("SELECT count(*), count(told), count(DISTINCT number), count(DISTINCT told) FROM trials").fetchone()
        again = store.execute("SELECT count(*) FROM earlier").fetchone()[0]
        left = self.client.left(run_id)
        print(f"{name}: {told[0]} trials, {told[1]} told, {again} told again, {len(left)} of it left on the server")
        if run.returncode != 0 or set(told) != {40} or again != 0 or left:
            print(f"status {run.returncode}", *left)
            self.failed = True

    def end(self, process):
        process.kill()
        process.wait()

    def id_of(self, name):
        """The id of the run with that name, from its description."""
        def look():
            info = self.client.ask("$JS.API.STREAM.INFO.KV_evotile_runs", {"subjects_filter": ">"})
            for run in re.findall(rb"evotile_runs\.([0-9a-f]{16})\"", info or b""):
                value = self.client.value("evotile_runs", run.decode())
                if value and json.loads(value).get("name") == name:
                    return run.decode()
            return None
        return self.wait(f"the run {name}", look)


def dead_letters(scenario, space):
    """Requests that three workers pulled and did not answer."""
    run, run_id = scenario.start_idle_run("held", space)
    deliveries = collections.Counter()

    def until_delivered_three_times():
        deliveries.update(int(request["number"]) for _, _, request in scenario.client.take(run_id))
        return 3 in deliveries.values()

    scenario.wait("a request that is delivered three times", until_delivered_three_times)
    last = scenario.worker("last")
    scenario.wait("the end of the run", lambda: run.poll() is not None)
    scenario.end(last)
    store = sqlite3.connect(f"file:{scenario.folder}/held/run.db?mode=ro", uri=True)
    crashed = dict(store.execute("SELECT number, reason FROM trials WHERE verdict = 'crashed'"))
    told = store.execute("SELECT count(*), count(told), count(DISTINCT number) FROM trials").fetchone()
    print(f"requests delivered and held: {dict(deliveries)}; crashed: {crashed}; {told[0]} trials, {told[1]} told")
    held = {times: {number for number, count in deliveries.items() if count >= times} for times in (2, 3)}
    # A slow machine may take one away from the last worker.
    if not held[3] <= set(crashed) <= held[2] or set(crashed.values()) != {"3 workers vanished while they had it"} or len(set(told)) != 1:
        scenario.failed = True


def invalid_messages(scenario, space):
    """Damaged files, other protocol versions and invalid descriptions."""
    run = scenario.run("others", "run", space, "--trials", 40, "--out", scenario.folder / "others")
    run_id = scenario.id_of("others")
    text = scenario.client.value("evotile_runs", run_id)
    description = json.loads(text)
    file = description["files"][0]
    key = f"{run_id}.{file['hash']}.0"
    chunk = scenario.client.value("evotile_files", key)
    # Files with other contents, of the same and of another length.
    for name, changed in (("same_length", bytes([chunk[0] ^ 1]) + chunk[1:]), ("longer", chunk + b" ")):
        scenario.client.put("evotile_files", key, changed)
        worker = scenario.worker(name)
        scenario.expect(name, "damaged on the queue")
        scenario.end(worker)
    scenario.client.put("evotile_files", key, chunk)
    # A run of another protocol version, one with a path outside its folder, and one whose description is incomplete.
    words = {"00000000000000a1": ({**description, "run": "00000000000000a1", "protocol": 1}, "speaks protocol 1 of the queue"),
             "00000000000000a2": ({**description, "run": "00000000000000a2",
                                   "files": [{**file, "path": "../out"}]}, "leads out of the run's folder"),
             "00000000000000a3": ({"protocol": description["protocol"]}, "skips run 00000000000000a3")}
    for key, (body, _) in words.items():
        scenario.client.put("evotile_runs", key, body)
    # They are older than the run's next update, so that a worker finds them first.
    scenario.wait("the run's next update", lambda: scenario.client.last("evotile_runs") == f"$KV.evotile_runs.{run_id}")
    scenario.client.publish(f"evotile.beat.{run_id}", {"protocol": 1, "worker": "0" * 16, "host": "attic"})
    scenario.expect("others", "a worker on attic gets no work from this run: its evotile speaks protocol 1 of the queue")
    scenario.client.listen(f"evotile.beat.{run_id}")
    worker = scenario.worker("regular")
    scenario.place = json.loads(scenario.client.message())["place"]
    scenario.wait("the end of the run", lambda: run.poll() is not None)
    for _, text in words.values():
        scenario.expect("regular", text)
    scenario.end(worker)
    if run.returncode != 0 or "40 trials are stored" not in scenario.log("others"):
        print("others.log:", scenario.log("others"), sep="\n")
        scenario.failed = True


def lost(scenario, space):
    """Acknowledged requests without results: none was published, or other messages used their message ids."""
    run, run_id = scenario.start_idle_run("lost", space)
    requests = []

    def acknowledge_until_missed():
        """Requests are published one by one: the first take need not have found all of them."""
        taken = scenario.client.take(run_id)
        if "were lost on the queue" in scenario.log("lost"):
            return True  # what was taken now is the repetition
        for reply, *_ in taken:
            scenario.client.publish(reply, b"+ACK")
        requests.extend(taken)
        return False

    scenario.wait("a report of lost results", acknowledge_until_missed)
    scenario.expect("lost", f"the results of {len(requests)} trials were lost on the queue")
    session, last = requests[-1][1].split("-")
    later = int(last) + len(requests) + 1
    message_ids = [message_id for _, message_id, _ in requests] + [f"{session}-{serial}" for serial in range(later, later + 10)]
    for message_id in message_ids:  # of requests that are answered (late duplicates), and of requests still to be published
        scenario.client.publish(f"evotile.result.{run_id}", {}, message_id=message_id)
    worker = scenario.worker("lost_worker")
    scenario.expect_complete("lost", run, run_id)
    scenario.end(worker)
    times = scenario.log("lost").count("were lost on the queue")
    print(f"lost {times} times")
    if times < 2 or "is damaged" in scenario.log("lost"):
        scenario.failed = True


def result_of(request, genome, score_us):
    """The result message of a worker on a recorded device."""
    outcome = dict.fromkeys(
        "resources.registers resources.smem_bytes resources.local_bytes resources.spill_bytes resources.ctas_per_sm "
        "resources.occupancy compile_s verify_s measure_s duel.result duel.blocks duel.ratio duel.low duel.high "
        "conditions.sm_mhz_low conditions.sm_mhz_high conditions.sm_mhz conditions.memory_mhz conditions.temperature_c conditions.power_w "
        "conditions.discarded".split(), 0)
    outcome.update(reason="", checks="", uses="", predicted=False, raced=False, limited_range=False, case_count=1, score_us=score_us)
    outcome["conditions.slowdowns"] = "0"
    case = dict.fromkeys(
        "errors.relative_l2 errors.row_relative_l2 errors.max_absolute bound.relative_l2 bound.row_relative_l2 "
        "bound.max_absolute ctas tflops cold.p10_us cold.p50_us cold.p90_us gb_per_s ceiling "
        "placements.count placements.least_us placements.most_us energy.mj energy.error energy.watts energy.idle_watts".split(), 0)
    case.update(dict.fromkeys(["warm.p10_us", "warm.p50_us", "warm.p90_us"], score_us), samples=[score_us], cold_samples=[])
    return {"kind": "result", "number": request["number"], "goal": request["goal"], "genome": genome, "worker": "test_client",
            "verdict": "ok", "outcome": outcome, "cases": [case], "gates": [], "baseline": "", "bouts": [], "rival": "-1",
            "final_checks": False, "other_code": False}


def wrong_genome(scenario, space):
    """Results of a genome that was not requested: the search could not use them."""
    run, run_id = scenario.start_idle_run("wrong_genome", space)
    requests = scenario.wait("waiting requests", lambda: scenario.client.take(run_id)) or []
    for reply, message_id, request in requests:
        scenario.client.publish(f"evotile.result.{run_id}", result_of(request, "07" * 32, 1), message_id=message_id)
        scenario.client.publish(reply, b"+ACK")
    scenario.expect("wrong_genome", "is damaged: its trial is repeated")
    scenario.answer(run_id, *(scenario.wait("waiting requests", lambda: scenario.client.take(run_id)) or requests)[0])
    worker = scenario.worker("regular_worker")
    scenario.expect_complete("wrong_genome", run, run_id)
    scenario.end(worker)
    store = sqlite3.connect(f"file:{scenario.folder}/wrong_genome/run.db?mode=ro", uri=True)
    accepted = store.execute("SELECT count(*) FROM trials WHERE worker = 'test_client'").fetchone()[0]
    print(f"{accepted} of the test client's results accepted")
    if accepted != 1:
        scenario.failed = True


def full(scenario, space):
    """A server without free space, until messages are deleted."""
    run, run_id = scenario.start_idle_run("full", space)
    scenario.wait("a request that is stored", lambda: scenario.client.take(run_id))  # not acknowledged: it is redelivered
    filler = []
    while (stored := json.loads(scenario.client.ask(f"evotile.result.{'f' * 16}", b"x" * (512 << 10))))["seq"] > 0:
        filler.append(stored["seq"])
    worker = scenario.worker("full_worker")
    scenario.send_heartbeat(run_id, 8)
    scenario.expect("full", "warning: the queue's server rejects requests: insufficient")
    scenario.expect("full_worker", "warning: the queue's server rejects results: insufficient")
    for seq in filler:  # not a purge by subject: nats-server 2.9.10 does not count its space as free
        scenario.client.ask("$JS.API.STREAM.MSG.DELETE.EVOTILE_RESULTS", {"seq": seq})
    scenario.expect_complete("full", run, run_id)
    scenario.end(worker)


def purged_while_alive(scenario, space):
    """A run that is purged while its coordinator is alive."""
    run, run_id = scenario.start_idle_run("dead", space)
    whole = scenario.client.left(run_id)
    scenario.client.clear(run_id)
    scenario.wait("the run on the server again", lambda: set(scenario.client.left(run_id)) >= set(whole))
    worker = scenario.worker("dead_worker")
    scenario.expect_complete("dead", run, run_id)
    scenario.end(worker)


def stopped(scenario, space):
    """A run that is stopped before a worker connects."""
    run = scenario.run("stopped", "run", space, "--out", scenario.folder / "stopped")
    run_id = scenario.id_of("stopped")
    scenario.expect("stopped", "waiting for a worker")
    run.terminate()
    scenario.wait("the end of the run", lambda: run.poll() is not None)
    if run.returncode != 1 or scenario.client.left(run_id) or (scenario.folder / "stopped").exists():
        print(f"stopped: status {run.returncode}", *scenario.client.left(run_id))
        scenario.failed = True
    scenario.expect("stopped", "stopped before a worker connected")


def all_workers_gone(scenario, space):
    """A run whose time is up, and whose only worker vanished with its requests but one, which it answered."""
    folder = scenario.folder / "all_workers_gone"
    run, run_id = scenario.start_run("all_workers_gone", space, "--time", "4s")
    scenario.answer(run_id, *scenario.wait("a request", lambda: scenario.client.take(run_id))[0])
    scenario.wait("the end of the run", lambda: run.poll() is not None)
    scenario.expect("all_workers_gone", "continue with `evotile resume")
    worker = scenario.worker("back")
    again = scenario.run("resumed", "resume", folder)
    scenario.wait("the end of the resumed run", lambda: again.poll() is not None)
    scenario.end(worker)
    store = sqlite3.connect(f"file:{folder}/run.db?mode=ro", uri=True)
    asked, told = store.execute("SELECT count(*), count(told) FROM trials").fetchone()
    if run.returncode != 0 or again.returncode != 0 or asked == 0 or asked != told:
        print(f"all_workers_gone: status {run.returncode}, resumed: {again.returncode}, {asked} trials, {told} told")
        scenario.failed = True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evotile", default=os.environ.get("EVOTILE", str(ROOT / "build/evotile")))
    arguments = parser.parse_args()
    if shutil.which("nats-server") is None:
        print("there is no nats-server: make deps-test")
        return 77
    os.environ["EVOTILE_INTERVALS"] = INTERVALS
    folder = Path(tempfile.mkdtemp(prefix="hostile_peer."))
    scenario = Scenario(arguments.evotile, folder)
    space = f"recorded:{ROOT}/tests/spaces/pnpoly_RTX_3090.json.gz"
    try:
        invalid_messages(scenario, space)
        dead_letters(scenario, space)
        lost(scenario, space)
        wrong_genome(scenario, space)
        full(scenario, space)
        purged_while_alive(scenario, space)
        stopped(scenario, space)
        all_workers_gone(scenario, space)
    finally:
        for process in scenario.processes:
            scenario.end(process)
    if scenario.failed:
        for log in sorted(folder.glob("*.log")):
            if log.name != "server.log":
                print(log.name, log.read_text()[-1500:], sep=":\n")
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
