#!/usr/bin/env python3
"""The evaluators of python/evotile with the standard library alone and one real server on the emulated device.

The packages are stood in for by the classes that the evaluators make: tests/python/search.py has the packages themselves.
usage: evaluators.py     EVOTILE: the program
"""
import dataclasses
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import types
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.realpath(os.path.join(HERE, "../.."))
sys.path[:0] = [os.path.join(ROOT, "python"), HERE]
os.environ.setdefault("EVOTILE", os.path.join(ROOT, "build/evotile"))

import candidates  # noqa: E402
from evotile import Client, ConnectionLost, EvotileError, RefusedError  # noqa: E402
from evotile import evaluator, evotoolkit, openevolve, serving, shinka  # noqa: E402

SETTINGS = {"solution": candidates.BASE, "config": os.path.join(HERE, "axpy.json"), "device": "emulated:sm_90",
            "templates": os.path.join(ROOT, "tests/templates")}
SOURCES = {name: candidates.source_of(name, block) for name, block, _ in candidates.CANDIDATES}
SOME = ("fmaf", "float4_unroll_8", "no_semicolon", "forgets_y", "misaligned", "racy", "nothing", "includes_elsewhere")


@dataclasses.dataclass
class OpenEvolveResult:
    metrics: dict
    artifacts: dict


@dataclasses.dataclass
class ToolkitResult:
    valid: bool
    score: float
    feedback: str
    metrics: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class ToolkitSpec:
    name: str
    prompt: str
    modality: str
    main_file: str
    extras: dict


def stand_in(name, **members):
    """A module of that name with these members."""
    module = types.ModuleType(name)
    module.__dict__.update(members)
    sys.modules[name] = module
    return module


def score_in_child(path):
    """What a worker process of OpenEvolve does: it makes the evaluator again, and finds the server."""
    return openevolve.make_evaluate(**SETTINGS)(path).metrics["combined_score"], serving.server_of(
        *(SETTINGS[key] for key in ("config", "device", "templates")))


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


class Evaluators(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        stand_in("openevolve").evaluation_result = stand_in("openevolve.evaluation_result", EvaluationResult=OpenEvolveResult)
        stand_in("evotoolkit", EvaluationResult=ToolkitResult, TaskSpec=ToolkitSpec)
        cls.evaluator = evaluator.Evaluator(**SETTINGS)
        cls.url = cls.evaluator.url
        cls.reports = {name: cls.evaluator.evaluate_files({"kernel.cu": SOURCES[name]}) for name in SOME}
        cls.folder = tempfile.TemporaryDirectory()
        cls.paths = {}
        for name in SOME:
            cls.paths[name] = os.path.join(cls.folder.name, name + ".cu")
            with open(cls.paths[name], "w", encoding="utf-8") as file:
                file.write(SOURCES[name])

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()
        cls.evaluator.close()

    def test_verdicts_and_scores(self):
        for name, report in self.reports.items():
            self.assertEqual(report.verdict, candidates.EXPECTED[name], report.reason)
            if report.ok:
                self.assertAlmostEqual(report.score, report.baseline_us / report.score_us)
                self.assertEqual(report.metrics(), {"combined_score": report.score, "correct": 1.0, "score_us": report.score_us})
            else:
                self.assertEqual((report.score, report.score_us), (0.0, None))
                self.assertEqual(report.metrics(), {"combined_score": 0.0, "correct": 0.0})
        self.assertGreater(self.reports["float4_unroll_8"].score, 2 * self.reports["fmaf"].score)

    def test_texts_say_what_to_fix(self):
        texts = {name: report.texts() for name, report in self.reports.items()}
        self.assertIn("kernel.cu:8: compile error: expected a \";\"", texts["no_semicolon"]["faults"])
        self.assertIn("1 error detected", texts["no_semicolon"]["log"])
        self.assertRegex(texts["forgets_y"]["wrong"], r"z\[0\] is \S+, wanted \S+")
        self.assertIn("probe cases", texts["forgets_y"]["verdict"])
        self.assertIn("kernel.cu:9", texts["misaligned"]["reason"])
        self.assertIn("extern \"C\"", texts["nothing"]["reason"])
        self.assertIn("N=65536", texts["fmaf"]["cases"])
        self.assertIn("predicted for an emulated device", texts["fmaf"]["verdict"])
        self.assertIn("registers", texts["fmaf"]["resources"])

    def test_feedback_is_limited(self):
        report = self.reports["no_semicolon"]
        self.assertEqual(report.feedback(), report.feedback(10000))
        self.assertEqual(len(report.feedback(100).encode()), 100)
        self.assertTrue(report.feedback(100).startswith("verdict: compile_failed"))
        self.assertTrue(report.feedback(100).endswith("\n..."))

    def test_what_is_no_source(self):
        path = os.path.join(self.folder.name, "latin.cu")
        with open(path, "wb") as file:
            file.write(b"// \xe4\n")
        for report in (self.evaluator.evaluate_path(path), self.evaluator.evaluate_files({"kernel.cu": "// \0\n"}),
                       self.evaluator.evaluate_files({"kernel.cu": "//" + "x" * 5000000})):
            self.assertEqual((report.verdict, report.score, report.score_us), ("invalid", 0.0, None))
            self.assertRegex(report.reason, "UTF-8|NUL|4 MB")

    def test_baselines(self):
        """The score is against what is named."""
        fmaf = self.reports["fmaf"].score_us
        for baseline, expected in (("loop THREADS=256,BLOCKS=32", None), (2 * fmaf, 2.0), (str(fmaf), 1.0)):
            report = evaluator.Evaluator(**{**SETTINGS, "baseline": baseline}).evaluate_files({"kernel.cu": SOURCES["fmaf"]})
            if expected is None:
                self.assertLess(report.score, 0.5)
            else:
                self.assertAlmostEqual(report.score, expected)
        for baseline, said in (("-1", "is no time"), ("nosuch", "the baseline nosuch is invalid"), ("loop THREADS=1", "THREADS has no value")):
            with self.assertRaisesRegex(EvotileError, said):
                evaluator.Evaluator(**{**SETTINGS, "baseline": baseline}).connect()

    def test_mistakes_are_named(self):
        for changed, said in (({"solution": "/nowhere"}, "is no folder"), ({"solution": HERE}, "has no file solution.json"),
                              ({"source": "other.cu"}, "has no file other.cu"), ({"level": "static"}, "have no time"),
                              ({"genome": "THREADS=1"}, "cannot be judged.*THREADS"), ({"goal": 7}, "cannot be judged.*no goal 7")):
            with self.assertRaisesRegex(EvotileError, said):
                evaluator.Evaluator(**{**SETTINGS, **changed}).connect()
        with self.assertRaisesRegex(EvotileError, "EVOTILE_SOLUTION"):
            evaluator.Evaluator()
        with self.assertRaisesRegex(EvotileError, "evotile.serving CONFIG"):
            evaluator.Evaluator(solution=candidates.BASE)
        with self.assertRaisesRegex(EvotileError, "there is no program nosuch"):
            serving.Server(["nosuch"])
        with self.assertRaisesRegex(ConnectionLost, "did not start as a server"):
            serving.Server(serve_command_of("/nowhere.json"))

    def test_a_server_that_is_gone_is_no_verdict(self):
        with serving.Server(serve_command_of(SETTINGS["config"])) as server:
            lost = evaluator.Evaluator(solution=candidates.BASE, server=server.url)
            lost.connect()
        with self.assertRaises(ConnectionLost):
            lost.evaluate_files({"kernel.cu": SOURCES["fmaf"]})

    def test_champion_level(self):
        judged = evaluator.Evaluator(**{**SETTINGS, "level": "champion"})
        self.assertTrue(judged.evaluate_files({"kernel.cu": SOURCES["float4_unroll_8"]}).data["is_champion"])

    def test_openevolve(self):
        result = openevolve.make_evaluate(**SETTINGS)(self.paths["forgets_y"])
        self.assertEqual(result.metrics, {"combined_score": 0.0, "correct": 0.0})
        self.assertEqual(set(result.artifacts), {"verdict", "reason", "wrong", "resources", "log"})
        os.environ.update({"EVOTILE_SERVER": self.url, "EVOTILE_SOLUTION": candidates.BASE})
        try:
            self.assertEqual(openevolve.evaluate(self.paths["fmaf"]).metrics, self.reports["fmaf"].metrics())
        finally:
            del os.environ["EVOTILE_SERVER"], os.environ["EVOTILE_SOLUTION"]
        sys.modules["openevolve.evaluation_result"] = None  # as where the package is not installed
        try:
            self.assertEqual(openevolve.to_result(self.reports["fmaf"]), self.reports["fmaf"].metrics())
        finally:
            stand_in("openevolve.evaluation_result", EvaluationResult=OpenEvolveResult)

    def test_processes_share_a_server(self):
        """Forked ones, with the parent's connections, and fresh ones."""
        paths = [self.paths[name] for name in SOME]
        expected = [(self.reports[name].score, self.url) for name in SOME]
        with multiprocessing.get_context("fork").Pool(2) as pool:
            self.assertEqual(pool.map(score_in_child, paths), expected)
        self.assertEqual(serving.server_of(*(SETTINGS[key] for key in ("config", "device", "templates"))), self.url)

    def test_shinka(self):
        for name in ("fmaf", "forgets_y"):
            folder = os.path.join(self.folder.name, "results", name)
            status = subprocess.run([sys.executable, "-c", "from evotile.shinka import main\nmain()", "--program_path", self.paths[name],
                                     "--results_dir", folder], env=self.environment(), check=False).returncode
            report = self.reports[name]
            with open(folder + "/metrics.json", encoding="utf-8") as file:
                metrics = json.load(file)
            with open(folder + "/correct.json", encoding="utf-8") as file:
                correct = json.load(file)
            self.assertEqual(status, 0)
            self.assertEqual(sorted(os.listdir(folder)), ["correct.json", "metrics.json"])
            self.assertEqual((metrics["combined_score"], metrics["public"]["verdict"]), (report.score, report.verdict))
            self.assertEqual("score_us" in metrics["public"], report.ok)
            self.assertTrue(metrics["text_feedback"].startswith("verdict: " + report.verdict))
            self.assertEqual(correct["correct"], report.ok)
            self.assertRegex(correct["error"] or "", "^$" if report.ok else "^wrong: N=5")

    def test_shinka_needs_a_server(self):
        arguments = ["--program_path", self.paths["fmaf"], "--results_dir", os.path.join(self.folder.name, "none")]
        for settings in ({}, {"config": SETTINGS["config"]}):
            with self.assertRaisesRegex(SystemExit, "EVOTILE_SERVER is not set"):
                shinka.main(arguments, **settings)
        with self.assertRaisesRegex(SystemExit, "cannot reach the server"):
            shinka.main(arguments, server="http://127.0.0.1:1", solution=candidates.BASE)
        self.assertFalse(os.path.exists(os.path.join(self.folder.name, "none")))

    def test_evotoolkit(self):
        task = evotoolkit.Task(**SETTINGS)
        self.assertEqual((task.spec.name, task.spec.main_file), ("axpy", "kernel.cu"))
        self.assertIn("timed case: N=65536 ALPHA=2", task.spec.prompt)
        self.assertIn("output z: f32 [N]", task.spec.prompt)
        self.assertNotIn(self.url, repr(task.spec))
        self.assertEqual(list(task.files), ["kernel.cu"])
        good, bad = (task.evaluate({"kernel.cu": SOURCES[name]}) for name in ("fmaf", "no_semicolon"))
        self.assertEqual((good.valid, good.score), (True, self.reports["fmaf"].score))
        self.assertEqual((bad.valid, bad.score), (False, None))
        self.assertIn("expected a \";\"", bad.feedback)
        self.assertEqual((task.evaluate({}).valid, task.evaluate({}).score), (False, None))
        files = {"kernel.cu": '#include "sum.cuh"\n' + SOURCES["fmaf"].replace("fmaf(ALPHA, x[i], y[i])", "sum(ALPHA, x[i], y[i])"),
                 "sum.cuh": "__device__ float sum(float a, float x, float y) { return fmaf(a, x, y); }\n"}
        self.assertTrue(task.evaluate(files).valid)

    def test_the_command_line_of_serving(self):
        """The command gets the address of a server, its status is that of the whole, and the server ends."""
        script = "import sys, os\nfrom evotile import Client\nClient(os.environ['EVOTILE_SERVER']).health()\nprint(os.environ['EVOTILE_SERVER'])\nsys.exit(3)"
        ran = subprocess.run([sys.executable, "-m", "evotile.serving", SETTINGS["config"], "--device", SETTINGS["device"], "--templates",
                              SETTINGS["templates"], "--", sys.executable, "-c", script], env=self.environment(), stdout=subprocess.PIPE, text=True,
                             check=False)
        self.assertEqual(ran.returncode, 3)
        with self.assertRaises(ConnectionLost):
            Client(ran.stdout.strip()).health()

    def test_a_server_ends_with_a_process_that_is_killed(self):
        script = ("import sys\nfrom evotile import serving\n"
                  f"server = serving.Server({serve_command_of(SETTINGS['config'])!r})\nprint(server.keeper.pid, server.url, flush=True)\nsys.stdin.read()\n")
        with subprocess.Popen([sys.executable, "-c", script], env=self.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            keeper, url = process.stdout.readline().split()
            self.assertEqual(Client(url).health()["status"], "ok")
            self.assertTrue(is_alive(int(keeper)))
            process.send_signal(signal.SIGKILL)
            process.stderr.read()  # its end: nothing writes there any more, neither the keeper nor the server
        with self.assertRaises(ConnectionLost):
            Client(url).health()

    def test_texts_that_no_message_can_hold(self):
        client = Client(self.url)
        for text, said in (("\0", "NUL"), ("\ud800", "surrogate")):
            with self.assertRaisesRegex(RefusedError, said):
                client.submit(files={"kernel.cu": text})

    def environment(self):
        return {**os.environ, "PYTHONPATH": os.path.join(ROOT, "python"), "EVOTILE_SERVER": self.url, "EVOTILE_SOLUTION": candidates.BASE}


def serve_command_of(config):
    return serving.serve_command(config, SETTINGS["device"], SETTINGS["templates"])


if __name__ == "__main__":
    unittest.main(warnings="ignore")  # the connections of `evaluate` stay open as long as the process
