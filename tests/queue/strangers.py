#!/usr/bin/env python3
"""A run on a real nats-server, beside which somebody speaks the protocol by hand (search/queue/link.h is its page).

    tests/queue/strangers.py [--evotile build/evotile]

What workers hold three times without a word is answered as crashed by the fourth, and by nobody before; files that were
changed on the queue are not used; who speaks another protocol is refused on both sides, and told so; a trial whose
result does not come, or is of another genome, is done again, also where the whole run was cleared away; who waits for a
device hears of a new champion; a server without room is told of, and sent to again; what ends leaves nothing on the server; a run whose workers have all gone ends
nevertheless, and is resumed. Exit status 1 where something is otherwise. 77: there is no nats-server.
"""
import argparse
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 1


class Client:
    """As much of NATS as it takes."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.stream = self.socket.makefile("rb")
        self.stream.readline()  # INFO
        self.asked = 0
        self.send("CONNECT " + json.dumps({"verbose": False, "headers": True, "no_responders": True}))

    def send(self, line, body=b""):
        self.socket.sendall(line.encode() + b"\r\n" + body)

    def publish(self, subject, body, reply="", mark=None):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = f"NATS/1.0\r\nNats-Msg-Id: {mark}\r\n\r\n".encode() if mark else b""
        self.send(f"HPUB {subject} {reply} {len(head)} {len(head + body)}" if mark else f"PUB {subject} {reply} {len(body)}",
                  head + body + b"\r\n")

    def message(self):
        """The next one's body that was asked for last; None where the server says that there is none."""
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
                    self.reply, self.mark = words[3], re.search(rb"Nats-Msg-Id: ?(\S+)", text[:head])
                    return None if len(status) > 1 else text[head:]

    def ask(self, subject, body):
        self.asked += 1
        inbox = f"_INBOX.stranger.{self.asked}"
        self.send(f"SUB {inbox} {self.asked}")
        self.publish(subject, body, inbox)
        reply = self.message()
        self.send(f"UNSUB {self.asked}")
        return reply

    def put(self, bucket, key, body):
        """The server answers once it has it."""
        self.ask(f"$KV.{bucket}.{key}", body)

    def value(self, bucket, key):
        return self.ask(f"$JS.API.DIRECT.GET.KV_{bucket}", {"last_by_subj": f"$KV.{bucket}.{key}"})

    def last(self, bucket):
        """The key that was put last."""
        return json.loads(self.ask(f"$JS.API.STREAM.MSG.GET.KV_{bucket}", {"last_by_subj": f"$KV.{bucket}.>"}))["message"]["subject"]

    def left(self, run):
        """What the server has of the run: subjects and consumers."""
        text = b""
        for stream in ("KV_evotile_runs", "KV_evotile_files", "EVOTILE_TRIALS", "EVOTILE_RESULTS"):
            text += self.ask(f"$JS.API.STREAM.INFO.{stream}", {"subjects_filter": ">"})
            text += self.ask(f"$JS.API.CONSUMER.NAMES.{stream}", b"")
        return sorted(set(re.findall(rb"[\w$.]*" + run.encode() + rb"[\w.]*", text)))

    def clear(self, run):
        """All of it, as a coordinator does that takes the run's for dead."""
        for stream, subject in (("EVOTILE_TRIALS", f"evotile.trial.{run}"), ("EVOTILE_RESULTS", f"evotile.result.{run}"),
                                ("KV_evotile_runs", f"$KV.evotile_runs.{run}"),
                                ("KV_evotile_files", f"$KV.evotile_files.{run}.>")):
            self.ask(f"$JS.API.CONSUMER.DELETE.{stream}.{run}", b"")
            self.ask(f"$JS.API.STREAM.PURGE.{stream}", {"filter": subject})

    def listen(self, subject):
        """Messages are of that from now on."""
        self.asked += 1
        self.send(f"SUB {subject} {self.asked}")
        self.send("PING")
        while self.stream.readline().strip() != b"PONG":
            pass

    def take(self, run):
        """All requests of the run that nobody has: where each is to be acknowledged, its mark, and itself."""
        self.asked += 1
        inbox = f"_INBOX.stranger.{self.asked}"
        self.send(f"SUB {inbox} {self.asked}")
        self.publish(f"$JS.API.CONSUMER.MSG.NEXT.EVOTILE_TRIALS.{run}", {"batch": 1000, "no_wait": True}, inbox)
        taken = []
        while (body := self.message()) is not None:
            taken.append((self.reply, self.mark[1].decode(), json.loads(body)))
        self.send(f"UNSUB {self.asked}")
        return taken


class Scene:
    def __init__(self, evotile, folder):
        self.evotile, self.folder, self.processes, self.failed = evotile, folder, [], False
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

    def idle(self, name, space):
        """A run that takes a worker as its first, which then goes without having done anything: run and id."""
        run = self.run(name, "run", space, "--trials", 40, "--out", self.folder / name, "--redeliver", f"{PATIENCE_S}s")
        run_id = self.id_of(name)
        first = self.worker(f"{name}_first")
        self.expect(name, "a worker on")
        first.terminate()
        first.wait()
        return run, run_id

    def offer(self, run_id, capacity, leaving=False):
        """What a worker says of itself that would have so many trials."""
        description = json.loads(self.client.value("evotile_runs", run_id))
        self.client.publish(f"evotile.beat.{run_id}", {
            "protocol": description["protocol"], "worker": "0" * 16, "host": "attic", "place": description["place"],
            "devices": 1, "capacity": capacity, "in_flight": 0, "leaving": leaving})

    def end_well(self, name, run, run_id):
        """With all trials told, and nothing left on the server."""
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
        """Of the run with that name, by its description."""
        def look():
            info = self.client.ask("$JS.API.STREAM.INFO.KV_evotile_runs", {"subjects_filter": ">"})
            for run in re.findall(rb"evotile_runs\.([0-9a-f]{16})\"", info or b""):
                value = self.client.value("evotile_runs", run.decode())
                if value and json.loads(value).get("name") == name:
                    return run.decode()
            return None
        return self.wait(f"the run {name}", look)


def held_thrice(scene, space):
    """Requests that three workers held and did not answer."""
    run, run_id = scene.idle("held", space)
    held = 0
    for time_of_three in range(3):
        taken = scene.wait("requests to take", lambda: scene.client.take(run_id))
        held = max(held, len(taken or []))
        time.sleep(PATIENCE_S + 0.5)
    last = scene.worker("last")
    scene.wait("the end of the run", lambda: run.poll() is not None)
    scene.end(last)
    store = sqlite3.connect(f"file:{scene.folder}/held/run.db?mode=ro", uri=True)
    rows = dict(store.execute("SELECT reason, count(*) FROM trials WHERE verdict = 'crashed' GROUP BY reason"))
    told = store.execute("SELECT count(*), count(told), count(DISTINCT number) FROM trials").fetchone()
    print(f"{held} requests held three times: {rows}; {told[0]} trials, {told[1]} told")
    if not 0 < rows.get("3 workers vanished while they had it", 0) <= held or len(rows) != 1 or len(set(told)) != 1:
        scene.failed = True


def others(scene, space):
    run = scene.run("others", "run", space, "--trials", 40, "--out", scene.folder / "others")
    run_id = scene.id_of("others")
    text = scene.client.value("evotile_runs", run_id)
    description = json.loads(text)
    file = description["files"][0]
    key = f"{run_id}.{file['hash']}.0"
    chunk = scene.client.value("evotile_files", key)
    # Files of another text, as long or not.
    for name, changed in (("same_length", bytes([chunk[0] ^ 1]) + chunk[1:]), ("longer", chunk + b" ")):
        scene.client.put("evotile_files", key, changed)
        worker = scene.worker(name)
        scene.expect(name, "damaged in the queue")
        scene.end(worker)
    scene.client.put("evotile_files", key, chunk)
    # A run of another protocol, one that leads out of its folder, and one that is no description.
    words = {"00000000000000a1": ({**description, "run": "00000000000000a1", "protocol": 1}, "speaks protocol 1 of the queue"),
             "00000000000000a2": ({**description, "run": "00000000000000a2",
                                   "files": [{**file, "path": "../out"}]}, "leads out of the run's folder"),
             "00000000000000a3": ({"protocol": description["protocol"]}, "run 00000000000000a3 is left to others")}
    for key, (body, _) in words.items():
        scene.client.put("evotile_runs", key, body)
    # They are older than the run's next word, so that a worker meets them first.
    scene.wait("the run's next word", lambda: scene.client.last("evotile_runs") == f"$KV.evotile_runs.{run_id}")
    scene.client.publish(f"evotile.beat.{run_id}", {"protocol": 1, "worker": "0" * 16, "host": "attic"})
    scene.expect("others", "a worker on attic gets no work of this run: its evotile speaks protocol 1 of the queue")
    worker = scene.worker("honest")
    scene.wait("the end of the run", lambda: run.poll() is not None)
    for _, text in words.values():
        scene.expect("honest", text)
    scene.end(worker)
    if run.returncode != 0 or "40 trials are stored" not in scene.log("others"):
        print("others.log:", scene.log("others"), sep="\n")
        scene.failed = True


def lost(scene, space):
    """Requests that were acknowledged and whose results do not come: there was none, or somebody used their marks."""
    run, run_id = scene.idle("lost", space)
    taken = scene.wait("requests to take", lambda: scene.client.take(run_id)) or []
    for reply, *_ in taken:
        scene.client.publish(reply, b"+ACK")
    scene.expect("lost", f"the results of {len(taken)} trials were lost on the queue")
    session, last = taken[-1][1].split("-")
    later = int(last) + len(taken) + 1
    marks = [mark for _, mark, _ in taken] + [f"{session}-{serial}" for serial in range(later, later + 10)]
    for mark in marks:  # of what is done with, which come late, and of what is still to be asked
        scene.client.publish(f"evotile.result.{run_id}", {}, mark=mark)
    worker = scene.worker("finder")
    scene.end_well("lost", run, run_id)
    scene.end(worker)
    times = scene.log("lost").count("were lost on the queue")
    print(f"lost {times} times")
    if times < 2 or "is damaged" in scene.log("lost"):
        scene.failed = True


def result_of(request, genome, score_us):
    """What a worker on a recorded device says of it."""
    outcome = dict.fromkeys(
        "resources.registers resources.smem_bytes resources.local_bytes resources.spill_bytes resources.ctas_per_sm "
        "resources.occupancy compile_s verify_s measure_s duel.result duel.blocks duel.ratio duel.low duel.high "
        "conditions.sm_mhz_low conditions.sm_mhz_high conditions.memory_mhz conditions.temperature_c conditions.power_w "
        "conditions.discarded".split(), 0)
    outcome.update(reason="", predicted=False, raced=False, limited_range=False, case_count=1, score_us=score_us)
    outcome["conditions.slowdowns"] = "0"
    case = dict.fromkeys(
        "errors.relative_l2 errors.row_relative_l2 errors.max_absolute bound.relative_l2 bound.row_relative_l2 "
        "bound.max_absolute ctas tflops cold.p10_us cold.p50_us cold.p90_us gb_per_s ceiling".split(), 0)
    case.update(dict.fromkeys(["warm.p10_us", "warm.p50_us", "warm.p90_us"], score_us), samples=[score_us], cold_samples=[])
    return {"kind": "result", "number": request["number"], "goal": request["goal"], "genome": genome, "worker": "stranger",
            "verdict": "ok", "outcome": outcome, "cases": [case], "gates": [], "baseline": "", "bouts": [], "rival": "-1"}


def untrue(scene, space):
    """Results of a genome that was not asked for, which no search would know."""
    run, run_id = scene.idle("untrue", space)
    taken = scene.wait("requests to take", lambda: scene.client.take(run_id)) or []
    for reply, mark, request in taken:
        scene.client.publish(f"evotile.result.{run_id}", result_of(request, "07" * 32, 1), mark=mark)
        scene.client.publish(reply, b"+ACK")
    scene.expect("untrue", "is damaged, and its trial is done again")
    reply, mark, request = (scene.wait("requests to take", lambda: scene.client.take(run_id)) or taken)[0]
    scene.client.publish(f"evotile.result.{run_id}", result_of(request, request["genome"], 1e6), mark=mark)
    scene.client.publish(reply, b"+ACK")
    worker = scene.worker("truthful")
    scene.end_well("untrue", run, run_id)
    scene.end(worker)
    store = sqlite3.connect(f"file:{scene.folder}/untrue/run.db?mode=ro", uri=True)
    believed = store.execute("SELECT count(*) FROM trials WHERE worker = 'stranger'").fetchone()[0]
    print(f"{believed} of a stranger's results taken")
    if believed != 1:
        scene.failed = True


def crowned(scene, space):
    """Requests that a worker has and its device has not begun with when another's result is a champion."""
    run, run_id = scene.idle("crowned", space)
    scene.offer(run_id, 4)
    taken = []
    scene.wait("four requests", lambda: taken.extend(scene.client.take(run_id)) or len(taken) >= 4)
    scene.offer(run_id, 4, leaving=True)
    (reply, mark, best), *others = taken
    scene.client.publish(f"evotile.result.{run_id}", result_of(best, best["genome"], 0.5), mark=mark)
    scene.client.publish(reply, b"+ACK")
    told = scene.wait("a champion", lambda: json.loads(scene.client.value("evotile_runs", run_id))["champions"]) or [{}]
    if told != [{"kind": "champion", "goal": 0, "trial": best["number"], "genome": best["genome"], "score_us": 0.5,
                 "unraised_us": 0}]:
        print("the champion:", told, "of", best)
        scene.failed = True

    def device():
        for reply, *_ in others:
            scene.client.publish(reply, b"+WPI")
        children = Path(f"/proc/{worker.pid}/task/{worker.pid}/children").read_text().split()
        return "working for run" in scene.log("late") and int(children[0])

    worker = scene.worker("late")
    child = scene.wait("the worker's device", device)
    os.kill(child, signal.SIGSTOP)
    for reply, *_ in others:
        scene.client.publish(reply, b"-NAK")
    time.sleep(5)  # it reads the run's description every two seconds
    results = Client(scene.port)
    results.listen(f"evotile.result.{run_id}")
    os.kill(child, signal.SIGCONT)
    rivals = {}
    while not {request["number"] for *_, request in others} <= rivals.keys():
        result = json.loads(results.message())
        rivals[result["number"]] = result["rival"]
    rivals = [rivals[request["number"]] for *_, request in others]
    print(f"{len(others)} trials asked without a champion: held against {rivals}, which is {best['number']}")
    if best["number"] not in rivals:  # one may have been with the device
        scene.failed = True
    scene.end_well("crowned", run, run_id)
    scene.end(worker)


def full(scene, space):
    """A server that has no room for anything more, until somebody makes some."""
    run, run_id = scene.idle("full", space)
    scene.wait("a request that is stored", lambda: scene.client.take(run_id))  # and comes again
    filler = []
    while (stored := json.loads(scene.client.ask(f"evotile.result.{'f' * 16}", b"x" * (512 << 10))))["seq"] > 0:
        filler.append(stored["seq"])
    worker = scene.worker("brimming")
    scene.offer(run_id, 8)
    scene.expect("full", "warning: the queue's server takes no requests: insufficient")
    scene.expect("brimming", "warning: the queue's server takes no results: insufficient")
    for seq in filler:  # not purged by subject, for which nats-server 2.9.10 counts no room as free
        scene.client.ask("$JS.API.STREAM.MSG.DELETE.EVOTILE_RESULTS", {"seq": seq})
    scene.end_well("full", run, run_id)
    scene.end(worker)


def taken_for_dead(scene, space):
    """A run that is cleared away while its coordinator lives."""
    run, run_id = scene.idle("dead", space)
    whole = scene.client.left(run_id)
    scene.client.clear(run_id)
    scene.wait("the run on the server again", lambda: set(scene.client.left(run_id)) >= set(whole))
    worker = scene.worker("reviver")
    scene.end_well("dead", run, run_id)
    scene.end(worker)


def stopped(scene, space):
    """A run that is stopped before a worker came."""
    run = scene.run("stopped", "run", space, "--out", scene.folder / "stopped")
    run_id = scene.id_of("stopped")
    scene.expect("stopped", "waiting for a worker")
    run.terminate()
    scene.wait("the end of the run", lambda: run.poll() is not None)
    if run.returncode != 1 or scene.client.left(run_id) or (scene.folder / "stopped").exists():
        print(f"stopped: status {run.returncode}", *scene.client.left(run_id))
        scene.failed = True
    scene.expect("stopped", "stopped before a worker came")


def deserted(scene, space):
    """A run whose time is up, and whose workers have gone with what they had."""
    folder = scene.folder / "deserted"
    run = scene.run("deserted", "run", space, "--time", "2s", "--out", folder, "--redeliver", f"{PATIENCE_S}s")
    run_id = scene.id_of("deserted")
    worker = scene.worker("gone")
    scene.expect("deserted", "a worker on")
    scene.end(worker)
    scene.wait("a request that nobody has", lambda: scene.client.take(run_id))
    scene.wait("the end of the run", lambda: run.poll() is not None)
    scene.expect("deserted", "continue with `evotile resume")
    worker = scene.worker("back")
    again = scene.run("resumed", "resume", folder)
    scene.wait("the end of what was resumed", lambda: again.poll() is not None)
    scene.end(worker)
    store = sqlite3.connect(f"file:{folder}/run.db?mode=ro", uri=True)
    asked, told = store.execute("SELECT count(*), count(told) FROM trials").fetchone()
    if run.returncode != 0 or again.returncode != 0 or asked == 0 or asked != told:
        print(f"deserted: status {run.returncode}, resumed: {again.returncode}, {asked} trials, {told} told")
        scene.failed = True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evotile", default=os.environ.get("EVOTILE", str(ROOT / "build/evotile")))
    arguments = parser.parse_args()
    if shutil.which("nats-server") is None:
        print("there is no nats-server: make deps-test")
        return 77
    folder = Path(tempfile.mkdtemp(prefix="strangers."))
    scene = Scene(arguments.evotile, folder)
    space = f"recorded:{ROOT}/tests/spaces/pnpoly_RTX_3090.json.gz"
    try:
        held_thrice(scene, space)
        others(scene, space)
        lost(scene, space)
        untrue(scene, space)
        crowned(scene, space)
        full(scene, space)
        taken_for_dead(scene, space)
        stopped(scene, space)
        deserted(scene, space)
    finally:
        for process in scene.processes:
            scene.end(process)
    if scene.failed:
        for log in sorted(folder.glob("*.log")):
            if log.name != "server.log":
                print(log.name, log.read_text()[-1500:], sep=":\n")
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
