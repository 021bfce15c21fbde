"""What the evaluators of other programs share: a candidate's files become a report of a verdict, a score and what to fix.

    evaluator = Evaluator(solution="my_solution", config="configs/demo.json")
    report = evaluator.evaluate_path("candidate.cu")
    print(report.verdict, report.score, report.feedback())

A candidate is a base solution, which is a folder with solution.json and kernel.cu, with one of its files replaced by the text that
a model wrote. The description stays as it is, so that the model changes the kernel and nothing else.

The score is a speed: the baseline's time divided by the candidate's, so that 2 is twice as fast as the baseline. The
baseline is the problem's default solution with its default genome, judged by the same server in the same way. A candidate that was
refused has the score 0 and no time.
"""
import dataclasses
import os
import threading

from .client import Client, EvotileError, RefusedError, read_folder
from .serving import server_of

LEVELS = ("device", "champion")
ELEMENTS = 8  # wrong elements that a report lists


def setting(given, name, otherwise=None):
    """An argument, else $EVOTILE_name, else a default."""
    return given if given is not None else os.environ.get("EVOTILE_" + name) or otherwise


def shape_text(shape):
    return " ".join(f"{name}={value}" for name, value in shape.items())


def wrong_text(wrong):
    """The first elements that differ: `z[3] is 1.5, wanted 2.5`."""
    elements = wrong.get("elements") or []
    lines = [f"case {wrong.get('case')}, the first wrong elements:"]
    for element in elements[:ELEMENTS]:
        index = ",".join(str(i) for i in element.get("index") or [])
        lines.append(f"{element.get('tensor')}[{index}] is {element.get('got')}, wanted {element.get('wanted')}")
    return "\n".join(lines)


def fault_text(fault):
    place = fault.get("file") or "?"
    if fault.get("line"):
        place += f":{fault['line']}"
    return f"{place}: {fault.get('kind')}: {fault.get('text')}"


def case_text(case):
    warm = case.get("warm") or {}
    parts = [f"{warm[key]:.3f} us at {name}" for key, name in (("p50_us", "the median"), ("p10_us", "10 %"), ("p90_us", "90 %"))
             if warm.get(key) is not None]
    if case.get("gb_per_s") is not None:
        parts.append(f"{case['gb_per_s']:.1f} GB/s")
    if case.get("tflops") is not None:
        parts.append(f"{case['tflops']:.4g} TFLOP/s")
    return f"{shape_text(case.get('case') or {})}: {', '.join(parts)}"


def resources_text(resources):
    return (f"{resources.get('registers')} registers a thread, {resources.get('smem_bytes')} bytes of shared memory, "
            f"{resources.get('spill_bytes')} bytes spilled, {resources.get('ctas_per_sm')} blocks on a multiprocessor")


@dataclasses.dataclass(frozen=True)
class Report:
    """What a search may know of a candidate."""
    verdict: str        # "ok", or the gate that it failed
    stage: str          # where it failed; "" if it did not
    reason: str         # why; "" if it did not
    score: float        # the baseline's time divided by the candidate's; 0 if it was refused
    score_us: object    # its time; None if it was refused
    baseline_us: float
    data: dict          # the whole answer of the server

    @property
    def ok(self):
        return self.verdict == "ok"

    def metrics(self):
        """Numbers. A candidate that was refused has no time, so it has no key `score_us`."""
        metrics = {"combined_score": self.score, "correct": float(self.ok)}
        if self.ok:
            metrics["score_us"] = self.score_us
        return metrics

    def texts(self):
        """What a model should read, most important first: {name: text}."""
        data, texts = self.data, {}
        if self.ok:
            times = "predicted for an emulated device" if data.get("predicted") else "measured"
            texts["verdict"] = (f"ok: {self.score_us:.3f} us ({times}), {self.score:.3f} times the speed of the baseline, "
                                f"{self.baseline_us:.3f} us")
            if data.get("limited_range"):
                texts["verdict"] += "; right for a limited range of inputs alone"
        else:
            texts["verdict"] = f"{self.verdict}: refused at the gate {self.stage!r}"
            texts["reason"] = self.reason
        if data.get("wrong"):
            texts["wrong"] = wrong_text(data["wrong"])
        if data.get("faults"):
            texts["faults"] = "\n".join(fault_text(fault) for fault in data["faults"])
        if data.get("cases"):
            texts["cases"] = "\n".join(case_text(case) for case in data["cases"])
        if data.get("resources"):
            texts["resources"] = resources_text(data["resources"])
        if data.get("duel"):
            texts["duel"] = ", ".join(f"{key} {value}" for key, value in data["duel"].items())
        if data.get("log"):
            texts["log"] = data["log"]
        return texts

    def feedback(self, limit=None):
        """The texts as one, of at most `limit` bytes: the end, which is the compiler's log, is left out first."""
        text = "\n\n".join(f"{name}: {text}" if "\n" not in text else f"{name}:\n{text}" for name, text in self.texts().items())
        coded = text.encode()
        if limit is None or len(coded) <= limit:
            return text
        end = "\n..."
        return coded[:limit - len(end)].decode("utf-8", "ignore") + end


class Evaluator:
    """Evaluates candidates by one server, from any number of threads and processes.

    Each argument that is left out comes from the environment:

    - solution, EVOTILE_SOLUTION: the folder of the base solution
    - server, EVOTILE_SERVER: the address of a server; token, EVOTILE_TOKEN and ca, EVOTILE_CA for one that needs them
    - config, EVOTILE_CONFIG: in place of an address, the config of a server that is started (evotile.serving); device,
      EVOTILE_DEVICE and templates for it
    - source, EVOTILE_SOURCE: the file of the solution that a candidate replaces; kernel.cu
    - genome, EVOTILE_GENOME and goal, EVOTILE_GOAL: those of `evotile try`
    - level, EVOTILE_LEVEL: device, or champion for the final checks and the duel too
    - baseline, EVOTILE_BASELINE: a solution of the problem, perhaps with its genome after a space ("loop THREADS=128"), or a number of
      microseconds
    - timeout: seconds to wait for an answer; without it as long as the server needs
    """

    def __init__(self, solution=None, server=None, config=None, device=None, templates=None, source=None, genome=None, goal=None,
                 level=None, baseline=None, timeout=None, token=None, ca=None):
        self.folder = setting(solution, "SOLUTION")
        if self.folder is None:
            raise EvotileError("name the folder of the base solution: solution=FOLDER, or EVOTILE_SOLUTION")
        self.folder = os.path.abspath(self.folder)
        if not os.path.isdir(self.folder):
            raise EvotileError(f"{self.folder} is no folder: name the folder of the base solution, with solution.json and kernel.cu")
        self.files = read_folder(self.folder)
        self.source = setting(source, "SOURCE", "kernel.cu")
        for name in ("solution.json", self.source):
            if name not in self.files:
                raise EvotileError(f"{self.folder} has no file {name}: it has {', '.join(self.files)}")
        self.genome = setting(genome, "GENOME")
        goal = setting(goal, "GOAL")
        self.goal = None if goal is None else int(goal)
        self.level = setting(level, "LEVEL", "device")
        if self.level not in LEVELS:
            raise EvotileError(f"candidates of the level {self.level!r} have no time: use {' or '.join(LEVELS)}")
        self.baseline = setting(baseline, "BASELINE")
        self.timeout = timeout
        self.access = {"token": setting(token, "TOKEN"), "ca": setting(ca, "CA")}
        self.url = self.find_server(server, config, device, templates)
        self.lock = threading.Lock()
        self.state = None

    @staticmethod
    def find_server(server, config, device, templates):
        if server is None and config is None:
            server = os.environ.get("EVOTILE_SERVER") or None
        if server is not None:
            return server
        config = setting(config, "CONFIG")
        if config is None:
            raise EvotileError("there is no server: start one with `evotile serve CONFIG --listen 127.0.0.1:8000` and set "
                               "EVOTILE_SERVER=http://127.0.0.1:8000, or run the search by `python3 -m evotile.serving CONFIG -- COMMAND`")
        return server_of(config, setting(device, "DEVICE"), templates)

    def connect(self):
        """(client, baseline in us); asked for once in each process. A process that was forked has its own connections."""
        with self.lock:
            if self.state is None or self.state[0] != os.getpid():
                client = Client(self.url, **self.access)
                try:
                    self.check_base(client)
                    self.state = (os.getpid(), client, self.find_baseline(client))
                except BaseException:
                    client.close()
                    raise
            return self.state[1:]

    def close(self):
        """Ends the connections; a server that was started goes on until the process ends."""
        with self.lock:
            if self.state is not None and self.state[0] == os.getpid():
                self.state[1].close()
            self.state = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def ask(self, client, **request):
        if self.goal is not None:
            request["goal"] = self.goal
        return client.evaluate(level=self.level, timeout=self.timeout, **request)

    def check_base(self, client):
        """Raises what is wrong with the base solution or the settings, which every candidate would be refused for."""
        answer = self.ask(client, files=self.files, genome=self.genome)
        if answer.verdict == "invalid":
            raise EvotileError(f"the base solution {self.folder} cannot be judged: {answer.data.get('reason')}")

    def find_baseline(self, client):
        try:
            baseline_us = float(self.baseline)
        except (TypeError, ValueError):
            pass
        else:
            if not 0 < baseline_us < float("inf"):
                raise EvotileError(f"the baseline {self.baseline} is no time: give microseconds above 0, or a solution's name")
            return baseline_us
        definition = client.definitions()[0]
        if self.baseline is None:
            name, genome = definition["description"].get("default_solution") or definition["solutions"][0], None
        else:
            name, genome = (self.baseline.split(None, 1) + [None])[:2]
        answer = self.ask(client, solution=name, genome=genome)
        if not answer.ok or not answer.data.get("score_us"):
            raise EvotileError(f"the baseline {name} is {answer.verdict}: {answer.data.get('reason')}; name another one as baseline=, "
                               "a solution of the problem or microseconds")
        return answer.data["score_us"]

    def evaluate_files(self, files):
        """The report of a candidate: the base solution with these files in place of its own, {name: text}."""
        client, baseline_us = self.connect()
        try:
            data = self.ask(client, files={**self.files, **files}, genome=self.genome).data
        except RefusedError as error:  # such as a text of more than 4 MB: what a candidate holds, since the base is accepted
            data = self.refusal(str(error))
        score_us = data.get("score_us") if data.get("verdict") == "ok" else None
        if data.get("verdict") == "ok" and not score_us:
            raise EvotileError(f"the server gave no time at the level {self.level}: does its device predict or measure?")
        return Report(verdict=data["verdict"], stage=data.get("stage") or "", reason=data.get("reason") or "",
                      score=baseline_us / score_us if score_us else 0.0, score_us=score_us, baseline_us=baseline_us, data=data)

    @staticmethod
    def refusal(reason):
        """What stands for an answer where the server sees no candidate."""
        return {"verdict": "invalid", "stage": "request", "reason": reason}

    def evaluate_path(self, path):
        """The same of a file that takes the place of the base solution's kernel.cu."""
        with open(path, "rb") as file:
            text = file.read()
        try:
            return self.evaluate_files({self.source: text.decode("utf-8")})
        except UnicodeDecodeError:
            data = self.refusal(f"{self.source} is not UTF-8: write it as such")
            return Report(**{key: data[key] for key in ("verdict", "stage", "reason")}, score=0.0, score_us=None,
                          baseline_us=self.connect()[1], data=data)

    def describe(self):
        """What a model should know of the problem: what is computed, on which device, for which cases, and how it is judged."""
        definition = self.connect()[0].definitions()[0]
        description = definition["description"]
        lines = [f"Write a CUDA kernel that is as fast as possible on {definition['device']}: {description.get('about')}.",
                 f"The file {self.source} is compiled with NVRTC; solution.json, which stays as it is, describes its launches and genes."]
        for name, tensor in (description.get("tensors") or {}).items():
            shape = ", ".join(str(extent) for extent in tensor.get("shape") or [])
            lines.append(f"{tensor.get('role')} {name}: {tensor.get('dtype')} [{shape}]")
        for goal in definition["goals"]:
            if goal["goal"] == (self.goal or 0):
                lines += [f"timed case: {shape_text(case)}" for case in goal["cases"]]
        lines.append("It must be right for every shape and every input, also for shapes that are not listed, and on its second call.")
        return "\n".join(lines)
