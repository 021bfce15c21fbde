"""An evaluator for ShinkaEvolve (shinka-evolve 0.0.7). The evaluate.py of a task folder, beside its initial.cu, holds

    from evotile.shinka import main
    main()

and the search runs with one server for all evaluations, because ShinkaEvolve starts a process for each:

    EVOTILE_SOLUTION=my_solution python3 -m evotile.serving configs/demo.json -- shinka_run --task-dir task ...

It writes what the scheduler reads: correct.json, whether the candidate passed every gate and why not, and metrics.json, with
`combined_score`, the speed against the baseline, and `text_feedback`, which prompts show with `evo.use_text_feedback=true`.
"""
import argparse
import json
import os
import sys

from .client import EvotileError
from .evaluator import Evaluator

FEEDBACK_BYTES = 8192


def write_json(folder, name, value):
    """Whole or not at all: the scheduler may read at any time."""
    path = os.path.join(folder, name)
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(value, file, indent=4)
    os.replace(path + ".part", path)


def write_report(report, folder):
    """metrics.json and correct.json of a candidate."""
    os.makedirs(folder, exist_ok=True)
    metrics = report.metrics()
    public = {key: value for key, value in metrics.items() if key != "combined_score"}
    write_json(folder, "metrics.json", {"combined_score": metrics["combined_score"], "public": {**public, "verdict": report.verdict},
                                        "private": {"answer": report.data}, "text_feedback": report.feedback(FEEDBACK_BYTES)})
    error = None if report.ok else f"{report.verdict}: {report.reason}"
    write_json(folder, "correct.json", {"correct": report.ok, "error": error})


def main(arguments=None, **settings):
    """evaluate.py's command line. `settings` are evotile.evaluator.Evaluator's but `config`: a server for each evaluation would take
    longer to start than to judge, and several at once disturb each other's times."""
    parser = argparse.ArgumentParser(description="Evaluates a CUDA kernel by an evotile server.")
    parser.add_argument("--program_path", required=True)
    parser.add_argument("--results_dir", required=True)
    options = parser.parse_args(arguments)
    if "config" in settings or (settings.get("server") is None and not os.environ.get("EVOTILE_SERVER")):
        sys.exit("evotile.shinka: EVOTILE_SERVER is not set: run the search by `python3 -m evotile.serving CONFIG -- COMMAND`, or set it "
                 "to the address of `evotile serve`")
    try:
        with Evaluator(**settings) as evaluator:
            report = evaluator.evaluate_path(options.program_path)
    except EvotileError as error:
        # Nothing is known of the candidate, so nothing is written: the scheduler counts it as failed, and its log has the reason.
        sys.exit(f"evotile.shinka: {error}")
    write_report(report, options.results_dir)
    print(report.texts()["verdict"])
