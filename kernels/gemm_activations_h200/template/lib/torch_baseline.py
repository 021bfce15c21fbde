"""Times functions of PyTorch as evotile times a kernel: the baseline of many templates.

Its argument is a template's baseline.py, which says what is timed:

    NAME = "torch.sum"                               # of the baseline
    def inputs(case): return (torch.randn(case["N"], device="cuda"),)     # a set of inputs
    def total(x): return x.sum()                     # one call, as in user code
    IMPLEMENTATIONS = {"eager": total, "compiled": torch.compile(total, dynamic=False)}

With `def inputs(case, given=None)` a set gets the lengths and page tables that the kernel's has: in a duel `given` has, by
name, the integer inputs that the template's setup writes, as lists.
An implementation that cannot compute a case raises NotImplementedError with the reason. One that is an object may have
`prepare(*inputs)`: what it returns are the arguments of its calls instead, made once for each set, outside of what is
timed. `PACKAGES = ["flash-attn-4"]` lists optional packages: the baseline's name has the version of each that is
installed. `check(result, *inputs)` says why what a call returned is wrong, or returns None: it gets what the first
graph of an implementation for a case has computed. One whose answer is wrong is reported as unable, with the reason.
evotile runs this program; docs/templates.md, "A baseline", documents the requests and answers. Manual use,
one request per line:

    { echo '{"ask":"begin","protocol":1,"device":"cuda:0"}'
      echo '{"ask":"capture","case":{"N":1000},"implementation":"eager","launches":20,"sets":4}'
      echo '{"ask":"warm","warmup_us":5000,"samples":5}'; echo '{"ask":"cold","samples":5}'
    } | python3 torch_baseline.py baseline.py
"""
import importlib.metadata
import inspect
import json
import os
import runpy
import sys
import warnings


class Baseline:
    """What the template's baseline.py defines, on one GPU."""

    def __init__(self, file, spec):
        """Imports PyTorch, which takes seconds, and selects the device."""
        global torch
        if not spec.startswith("cuda:"):
            raise RuntimeError(f"PyTorch is timed on GPUs only, not on {spec}: use --device cuda:0 on a machine with "
                               "a GPU")
        try:
            import torch
        except ImportError as reason:
            raise RuntimeError(f"PyTorch cannot be imported for {sys.executable} ({reason}): install torch, or choose "
                               "another Python with --python") from None
        if not torch.cuda.is_available():
            raise RuntimeError(f"PyTorch {torch.__version__} finds no GPU: it needs a CUDA build and an NVIDIA driver")
        torch.cuda.set_device(torch.device(spec))
        defined = runpy.run_path(file)
        self.name, self.inputs = defined["NAME"], defined["inputs"]
        self.implementations = defined["IMPLEMENTATIONS"]
        self.packages = defined.get("PACKAGES", [])
        self.check, self.checked = defined.get("check"), set()

    def new_inputs(self, question, index):
        """Of the set with that index: with what setup has made for it, if the request has it and `inputs` takes it."""
        given = question.get("inputs")
        if given is None or len(inspect.signature(self.inputs).parameters) < 2:
            return self.inputs(question["case"])
        return self.inputs(question["case"], given[index])

    def description(self):
        parts = [f"PyTorch {torch.__version__} {self.name}"]
        for package in self.packages:
            try:
                parts.append(f"{package} {importlib.metadata.version(package)}")
            except importlib.metadata.PackageNotFoundError:
                pass  # its implementations say so where they are timed
        return {"baseline": ", ".join(parts),
                "device": torch.cuda.get_device_name(), "implementations": list(self.implementations)}


class Captured:
    """CUDA graphs of one implementation's calls for one case."""

    def __init__(self, baseline, question):
        self.call = baseline.implementations[question["implementation"]]
        self.launches = question["launches"]
        self.sets = every = [baseline.new_inputs(question, index) for index in range(question["sets"])]
        if hasattr(self.call, "prepare"):
            self.sets = [self.call.prepare(*inputs) for inputs in self.sets]
        self.single = self.flush = None
        self.graph, result = self.capture(self.launches)
        of = question["implementation"], json.dumps(question["case"], sort_keys=True)
        if baseline.check is not None and of not in baseline.checked:
            self.graph.replay()
            torch.cuda.synchronize()
            why = baseline.check(result, *every[(self.launches - 1) % len(every)])
            if why is not None:
                raise NotImplementedError(f"its answer is wrong: {why}")
            baseline.checked.add(of)

    def capture(self, launches):
        """A graph of calls, and what the last one returns, which a replay fills."""
        with torch.no_grad():
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):  # what the first calls compile, plan and load must not be captured
                for _ in range(2):
                    for inputs in self.sets:
                        self.call(*inputs)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                for call in range(launches):
                    result = None  # its memory serves the next call, as in user code
                    result = self.call(*self.sets[call % len(self.sets)])
        torch.cuda.synchronize()
        return graph, result

    def replay(self, graph, count):
        """Consecutive replays, each timed by two events, so that the GPU is never idle when one begins."""
        marks = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(count)]
        for start, end in marks:
            start.record()
            graph.replay()
            end.record()
        torch.cuda.synchronize()
        return [start.elapsed_time(end) * 1e3 for start, end in marks]

    def warm(self, question):
        spent, warmup_us = 0.0, question["warmup_us"]
        while spent < warmup_us:
            spent += sum(self.replay(self.graph, 4))
        self.graph.replay()
        return [time / self.launches for time in self.replay(self.graph, question["samples"])]

    def cold(self, question):
        if self.single is None:
            self.single, _ = self.capture(1)
            size = 2 * torch.cuda.get_device_properties("cuda").L2_cache_size
            self.flush = torch.empty(size, dtype=torch.uint8, device="cuda")
        times = []
        for _ in range(question["samples"]):
            self.flush.fill_(1)  # twice the size of L2: evicts all inputs
            times += self.replay(self.single, 1)
        return times


class Session:
    """The answers to the requests, in order."""

    def __init__(self, file):
        self.file, self.baseline, self.captured = file, None, None

    def answer(self, question):
        ask = question["ask"]
        if ask == "begin":
            self.baseline = Baseline(self.file, question["device"])
            return self.baseline.description()
        if ask == "capture":
            return self.capture(question)
        if ask in ("warm", "cold"):
            if self.captured is None:
                raise ValueError(f"nothing is captured that could be timed {ask}")
            return {"samples_us": getattr(self.captured, ask)(question)}
        raise ValueError(f"an unknown question: {ask}")

    def capture(self, question):
        self.captured = None  # first, so that both need not fit on the GPU
        torch.cuda.empty_cache()
        try:
            self.captured = Captured(self.baseline, question)
        except NotImplementedError as reason:
            return {"unable": str(reason)}
        except RuntimeError as reason:  # no kernel for the case, or an allocation failed
            return {"unable": str(reason).strip().splitlines()[0][:200]}
        return {"captured": True}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    warnings.filterwarnings("ignore")  # the answer reports unsupported cases, so PyTorch's warnings are redundant
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # library output on stdout must not mix with answers
    session = Session(sys.argv[1])
    for line in sys.stdin:
        try:
            said = session.answer(json.loads(line))
        except Exception as reason:
            said = {"error": " ".join(f"{reason}".split())[:400] or type(reason).__name__}
        print(json.dumps(said), file=answers, flush=True)


if __name__ == "__main__":
    main()
