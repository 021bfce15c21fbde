#!/usr/bin/env python3
"""Searches 50 candidates with a package from PyPI, a scripted mutator in place of its model and evotile's evaluator in it.

usage: search.py openevolve|shinka|evotoolkit FOLDER     run by the Python that has the package; EVOTILE: the program

The packages are used as they come: OpenEvolve and ShinkaEvolve by their own programs, with a model behind a URL, evotoolkit by its
Runner and its ChatProposer. It prints the best candidate and those that were refused, and fails if a verdict is not the one
of the script, a refused candidate has a time or a score, or the package's best is not the fastest.
"""
import glob
import importlib.metadata
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.realpath(os.path.join(HERE, "../.."))
sys.path[:0] = [os.path.join(ROOT, "python"), HERE]
os.environ.setdefault("EVOTILE", os.path.join(ROOT, "build/evotile"))

import candidates  # noqa: E402
from evotile import serving  # noqa: E402
from scripted_model import ScriptedModel  # noqa: E402

SETTINGS = {"config": os.path.join(HERE, "axpy.json"), "device": "emulated:sm_90", "templates": os.path.join(ROOT, "tests/templates")}
COUNT = len(candidates.CANDIDATES)


def run_with_server(command, folder):
    """A package's program, beside one server for all its processes."""
    environment = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "python"), "EVOTILE_SOLUTION": candidates.BASE, "COLUMNS": "200"}
    with open(os.path.join(folder, "log"), "w", encoding="utf-8") as log:
        status = subprocess.run([sys.executable, "-m", "evotile.serving", SETTINGS["config"], "--device", SETTINGS["device"], "--templates",
                                 SETTINGS["templates"], "--", *command],
                                cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT, check=False).returncode
    if status != 0:
        with open(os.path.join(folder, "log"), encoding="utf-8") as log:
            sys.exit(f"{command[0]} ended with status {status}:\n{log.read()[-4000:]}")


def program_of(name):
    return os.path.join(os.path.dirname(sys.executable), name)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def entry(source, verdict, reason, score, score_us, seen):
    """What a search kept of a candidate. `seen`: the text that a later prompt gets of it."""
    return {"name": candidates.name_of(source), "verdict": verdict.split(":")[0], "reason": reason or "", "score": score, "score_us": score_us,
            "seen": seen}


def search_openevolve(folder):
    write(f"{folder}/evaluator.py", "from evotile.openevolve import evaluate\n")
    with ScriptedModel() as model:
        write(f"{folder}/config.yaml", json.dumps({  # JSON is YAML
            "max_iterations": COUNT, "checkpoint_interval": COUNT, "language": "cuda", "file_suffix": ".cu", "diff_based_evolution": False,
            "llm": {"api_base": model.url, "api_key": "none", "models": [{"name": "scripted", "weight": 1.0}]},
            "evaluator": {"cascade_evaluation": False, "parallel_evaluations": 2, "max_retries": 0},
            "evolution_trace": {"enabled": True, "include_code": True, "include_prompts": False, "output_path": "trace.jsonl"}}))
        run_with_server([program_of("openevolve-run"), f"{candidates.BASE}/kernel.cu", "evaluator.py", "--config", "config.yaml", "--output", "out"],
                        folder)
        prompts = model.prompts
    found = []
    for line in read(f"{folder}/trace.jsonl").splitlines():
        child = json.loads(line)
        metrics, artifacts = child["child_metrics"], child["artifacts"]
        found.append(entry(child["child_code"], artifacts["verdict"], artifacts.get("reason"), metrics["combined_score"], metrics.get("score_us"),
                           "\n".join(artifacts.values())))
    return found, candidates.name_of(read(f"{folder}/out/best/best_program.cu")), prompts


def search_shinka(folder):
    write(f"{folder}/task/evaluate.py", "from evotile.shinka import main\n\nmain()\n")
    shutil.copy(f"{candidates.BASE}/kernel.cu", f"{folder}/task/initial.cu")
    with ScriptedModel() as model:
        settings = {"evo.llm_models": json.dumps([f"local/scripted@{model.url}"]), "evo.patch_types": '["full"]', "evo.patch_type_probs": "[1.0]",
                    "evo.embedding_model": "null", "evo.meta_rec_interval": "null", "evo.llm_dynamic_selection": "null",
                    "evo.use_text_feedback": "true", "evo.max_patch_resamples": "1", "evo.max_novelty_attempts": "1"}
        run_with_server([program_of("shinka_run"), "--task-dir", "task", "--results_dir", "out", "--num_generations", str(COUNT + 1),
                         "--max-evaluation-jobs", "2", "--max-proposal-jobs", "1",
                         *(word for key, value in settings.items() for word in ("--set", f"{key}={value}"))], folder)
        prompts = model.prompts
    stored = sqlite3.connect(f"{folder}/out/programs.sqlite")
    found = []
    for generation, code, score, correct, public, feedback in stored.execute(
            "SELECT generation, code, combined_score, correct, public_metrics, text_feedback FROM programs WHERE generation > 0"):
        public = json.loads(public)
        error = json.loads(read(f"{folder}/out/gen_{generation}/results/correct.json"))
        if bool(correct) != error["correct"]:
            sys.exit(f"generation {generation}: the package stored correct={correct}, the evaluator wrote {error}")
        found.append(entry(code, public["verdict"], (error["error"] or ": ").split(": ", 1)[1], score, public.get("score_us"), feedback))
    best = stored.execute("SELECT code FROM programs WHERE correct ORDER BY combined_score DESC LIMIT 1").fetchone()[0]
    stored.close()
    kept = glob.glob(f"{folder}/out/best/main.cu")
    return found, candidates.name_of(read(kept[0]) if kept else best), prompts


class ScriptedChat:
    """The model of a ChatProposer."""
    _model = "scripted"

    def __init__(self):
        self.prompts, self.lock = [], threading.Lock()

    def get_response(self, messages):
        with self.lock:
            self.prompts.append(messages[0]["content"])
            return candidates.answer_of(len(self.prompts) - 1), {}


def search_evotoolkit(folder):
    from evotoolkit import Runner
    from evotoolkit.proposers import ChatProposer
    from evotoolkit.strategies import EvoEngineerStrategy
    from evotile.evotoolkit import Task

    task, chat = Task(solution=candidates.BASE, **SETTINGS), ScriptedChat()
    runner = Runner(evaluator=task, proposer=ChatProposer(chat), strategy=EvoEngineerStrategy(task.spec), output_dir=f"{folder}/out",
                    budget=COUNT, propose_workers=4, eval_workers=2, verbose=False)
    best = runner.run()
    command = [SETTINGS[key] for key in ("config", "device", "templates")]
    with serving.Server(serving.serve_command(*command)) as other:  # a run is resumed with the server that there is then
        resumed = Runner.resume(f"{folder}/out", evaluator=Task(solution=candidates.BASE, server=other.url), proposer=ChatProposer(chat),
                                strategy=EvoEngineerStrategy(task.spec))
        resumed.close()
    if resumed.best_solution.id != best.id:
        sys.exit(f"resumed, the best is {resumed.best_solution.name}, not {best.name}")
    found = []
    for line in read(f"{folder}/out/events.jsonl").splitlines():
        event = json.loads(line)
        if event["type"] == "solution":
            solution = event["solution"]
            result = solution["evaluation"]
            metrics, feedback = result["metrics"], result["feedback"]
            reason = next((line[len("reason: "):] for line in feedback.splitlines() if line.startswith("reason: ")), "")
            found.append(entry(solution["files"]["kernel.cu"], metrics["verdict"], reason, metrics["combined_score"], metrics.get("score_us"), feedback))
            if result["valid"] != (result["score"] is not None):
                sys.exit(f"{solution['name']}: valid={result['valid']} with the score {result['score']}")
    return found, candidates.name_of(best.files["kernel.cu"]), chat.prompts


def check(found, best, prompts):
    """What is wrong, as lines."""
    wrong = []
    names = [item["name"] for item in found]
    if sorted(names) != sorted(candidates.EXPECTED):
        wrong.append(f"{len(names)} candidates, not the {COUNT} of the script: {sorted(set(candidates.EXPECTED) ^ set(names))}")
    for item in found:
        expected = candidates.EXPECTED.get(item["name"])
        if item["verdict"] != expected:
            wrong.append(f"{item['name']}: the verdict {item['verdict']}, not {expected}: {item['reason']}")
        elif (expected == "ok") != bool(item["score_us"] and item["score"] > 0):
            wrong.append(f"{item['name']}: {expected} with the score {item['score']} and the time {item['score_us']}")
        elif expected != "ok" and item["reason"].splitlines()[0] not in item["seen"]:
            wrong.append(f"{item['name']}: a prompt does not get the reason")
    good = sorted((item for item in found if item["verdict"] == "ok"), key=lambda item: item["score_us"])
    if [item["score"] for item in good] != sorted((item["score"] for item in good), reverse=True):
        wrong.append("a candidate that is faster has no higher score")
    if not good or best != good[0]["name"]:
        wrong.append(f"the package's best is {best}, the fastest is {good[0]['name'] if good else 'none'}")
    if not any("times the speed of the baseline" in prompt for prompt in prompts):
        wrong.append("no prompt shows what the evaluator says")
    return wrong


def main():
    package, folder = sys.argv[1], os.path.abspath(sys.argv[2])
    distribution = {"shinka": "shinka-evolve"}.get(package, package)
    os.makedirs(folder, exist_ok=True)
    found, best, prompts = {"openevolve": search_openevolve, "shinka": search_shinka, "evotoolkit": search_evotoolkit}[package](folder)
    good = sorted((item for item in found if item["verdict"] == "ok"), key=lambda item: item["score_us"])
    refused = sorted((item for item in found if item["verdict"] != "ok"), key=lambda item: (item["verdict"], item["name"]))
    print(f"{distribution} {importlib.metadata.version(distribution)}: {len(found)} candidates, {len(good)} passed, {len(refused)} refused")
    for item in good[:5]:
        print(f"  {item['score']:.3f}  {item['score_us']:.3f} us predicted  {item['name']}{'  best' if item['name'] == best else ''}")
    for item in refused:
        print(f"  {item['verdict']:14}  {item['name']:22}  {(item['reason'].splitlines() or [''])[0][:110]}")
    wrong = check(found, best, prompts)
    print("\n".join(wrong) if wrong else "as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
