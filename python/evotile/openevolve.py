"""An evaluator for OpenEvolve (0.4.0). The file that `openevolve-run` gets holds one line:

    from evotile.openevolve import evaluate

with EVOTILE_SERVER and EVOTILE_SOLUTION in the environment (evotile.evaluator lists all), or

    from evotile.openevolve import make_evaluate
    evaluate = make_evaluate(config="configs/demo.json", solution="my_solution")

The program that evolves is kernel.cu of that solution, with EVOLVE-BLOCK-START and EVOLVE-BLOCK-END in comments; the config of
OpenEvolve needs `file_suffix: ".cu"` and `language: "cuda"`. `combined_score` is the speed against the baseline, 0 for a candidate
that was refused. The artifacts are what the next prompt shows: verdict, reason, wrong elements, faults, the compiler's log.

OpenEvolve loads that file in its own process first, which starts the server of `config`; its worker processes inherit the
address. They evaluate at the same time, and the server times one candidate after another.
"""
from .evaluator import Evaluator

_shared = []  # the evaluator of `evaluate`, which this process makes at its first call


def to_result(report):
    """OpenEvolve's EvaluationResult; where the package is not installed, its metrics alone."""
    try:
        from openevolve.evaluation_result import EvaluationResult
    except ImportError:
        return report.metrics()
    return EvaluationResult(metrics=report.metrics(), artifacts=report.texts())


def make_evaluate(**settings):
    """An `evaluate` of its own; `settings` are evotile.evaluator.Evaluator's."""
    evaluator = Evaluator(**settings)

    def evaluate(program_path):
        return to_result(evaluator.evaluate_path(program_path))

    return evaluate


def evaluate(program_path):
    """Evaluates the file of a candidate, with the settings of the environment."""
    if not _shared:
        _shared.append(Evaluator())
    return to_result(_shared[0].evaluate_path(program_path))
