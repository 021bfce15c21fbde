"""An evaluator for evotoolkit (2.0.0), what its versions before 2 call a Task:

    from evotile.evotoolkit import Task
    from evotoolkit import Runner

    task = Task(config="configs/demo.json", solution="my_solution")
    runner = Runner(evaluator=task, proposer=..., strategy=EvoEngineerStrategy(task.spec), output_dir="results/demo", budget=50)
    best = runner.run()

A solution's score is its speed against the baseline; one that was refused is not valid and has no score. Its feedback, at most the
4096 bytes that the package keeps, is the verdict, the reason, the wrong elements, the faults and what fits of the
compiler's log. A proposal has one file, kernel.cu, or several: each takes the place of the base solution's file of that name.
"""
from .client import EvotileError
from .evaluator import Evaluator

FEEDBACK_BYTES = 4096  # evotoolkit's EventLog.FEEDBACK_LIMIT


def load_types():
    """evotoolkit's TaskSpec and EvaluationResult."""
    try:
        from evotoolkit import EvaluationResult, TaskSpec
    except ImportError as error:
        raise EvotileError("the package evotoolkit of version 2 is not installed: pip install 'evotoolkit>=2'") from error
    return TaskSpec, EvaluationResult


class Task:
    """evotoolkit's protocol Evaluator: `spec` and `evaluate(files)`. `settings` are evotile.evaluator.Evaluator's."""

    def __init__(self, name=None, prompt=None, **settings):
        """`prompt`: in place of the description of the problem that the server gives. The spec says nothing of the server's
        address, so that a run can be resumed with another server."""
        spec, self.result = load_types()
        self.evaluator = Evaluator(**settings)
        definition = self.evaluator.connect()[0].definitions()[0]
        self.spec = spec(name=name or definition["problem"], prompt=prompt or self.evaluator.describe(), modality="CUDA kernel",
                         main_file=self.evaluator.source, extras={"problem": definition["problem"], "level": self.evaluator.level})

    @property
    def files(self):
        """The base solution's files that a proposal replaces, such as the first proposal of a scripted search."""
        return {self.evaluator.source: self.evaluator.files[self.evaluator.source]}

    def evaluate(self, files):
        """Evaluates a proposal; may be called by several threads."""
        if not files:
            return self.result(valid=False, score=None, feedback=f"the proposal has no files: give {self.evaluator.source}")
        report = self.evaluator.evaluate_files(files)
        return self.result(valid=report.ok, score=report.score if report.ok else None, feedback=report.feedback(FEEDBACK_BYTES),
                           metrics={**report.metrics(), "verdict": report.verdict})
