"""PyTorch's scaled_dot_product_attention, each backend by name, timed as evotile times a kernel.

A sliding window is an explicit mask, which PyTorch's `efficient` and `math` take. A soft cap of logits and attention
sinks have no backend.

evotile runs this program; templates/README.md, "A baseline", documents the requests and answers.
Manual use, one request per line:

    { echo '{"ask":"begin","protocol":1,"device":"cuda:0"}'
      echo '{"ask":"capture","case":{"B":1,"H":8,"S":512,"D":64},"implementation":"flash","launches":20,"sets":4}'
      echo '{"ask":"warm","warmup_us":5000,"samples":5}'; echo '{"ask":"cold","samples":5}'; } | python3 baseline.py
"""
import json
import os
import sys
import warnings

BACKENDS = {"flash": "FLASH_ATTENTION", "cudnn": "CUDNN_ATTENTION", "efficient": "EFFICIENT_ATTENTION", "math": "MATH"}
DIMENSIONS = {"B", "H", "H_KV", "S", "S_KV", "D", "CAUSAL", "BF16", "BSHD", "LSE", "SCALE", "GAP", "DV", "WINDOW",
              "SOFT_CAP", "SINKS"}


class Unable(Exception):
    """This backend does not support this case."""


def begin(question):
    """Imports PyTorch, which takes seconds, and selects the device."""
    global torch, functional, device
    spec = question["device"]
    if not spec.startswith("cuda:"):
        raise RuntimeError(f"PyTorch is timed on GPUs only, not on {spec}: use --device cuda:0 on a machine with a GPU")
    try:
        import torch
        import torch.nn.attention
        import torch.nn.functional as functional
    except ImportError as reason:
        raise RuntimeError(f"PyTorch cannot be imported for {sys.executable} ({reason}): install torch, or choose "
                           "another Python with --python") from None
    if not torch.cuda.is_available():
        raise RuntimeError(f"PyTorch {torch.__version__} finds no GPU: it needs a CUDA build and an NVIDIA driver")
    device = torch.device(spec)
    torch.cuda.set_device(device)
    return {"baseline": f"PyTorch {torch.__version__} scaled_dot_product_attention",
            "device": torch.cuda.get_device_name(device), "implementations": list(BACKENDS)}


def window_mask(case):
    """True where query i sees key j; None without a window."""
    queries, keys = case["S"], case.get("S_KV", case["S"])
    if not case.get("WINDOW"):
        return None
    distance = torch.arange(queries, device=device)[:, None] + keys - queries - torch.arange(keys, device=device)
    return (distance < case["WINDOW"]) & (distance >= 0 if case.get("CAUSAL") else True)


def attend(case, q, k, v, mask=None):
    """One call, as in user code."""
    causal = bool(case.get("CAUSAL", 0))
    options = {"enable_gqa": True} if k.shape[1] != q.shape[1] else {}
    if case.get("SCALE"):
        options["scale"] = case["SCALE"]
    if mask is not None:
        return functional.scaled_dot_product_attention(q, k, v, mask, **options)
    if causal and q.shape[2] != k.shape[2]:  # is_causal aligns the mask to the first key, the template to the last
        from torch.nn.attention.bias import causal_lower_right
        return functional.scaled_dot_product_attention(q, k, v, causal_lower_right(q.shape[2], k.shape[2]), **options)
    return functional.scaled_dot_product_attention(q, k, v, is_causal=causal, **options)


class Captured:
    """CUDA graphs of one backend's calls for one case."""

    def __init__(self, question):
        self.case = case = question["case"]
        unknown = set(case) - DIMENSIONS
        if unknown:
            raise Unable(f"the baseline does not know the dimension {min(unknown)}")
        if case.get("LSE"):
            raise Unable("scaled_dot_product_attention gives no log-sum-exp")
        if case.get("SOFT_CAP") or case.get("SINKS"):
            raise Unable("scaled_dot_product_attention has neither a soft cap of logits nor attention sinks")
        self.backend = getattr(torch.nn.attention.SDPBackend, BACKENDS[question["implementation"]], None)
        if self.backend is None:
            raise Unable(f"PyTorch {torch.__version__} has no such backend")
        self.launches, self.sets = question["launches"], question["sets"]
        self.dtype = torch.bfloat16 if case.get("BF16") else torch.float16
        heads = (case["H"], case.get("H_KV", case["H"]), case.get("H_KV", case["H"]))
        lengths = (case["S"], case.get("S_KV", case["S"]), case.get("S_KV", case["S"]))
        gaps = (case.get("GAP", 0), case.get("GAP", 0), 0)
        columns = (case["D"], case["D"], case.get("DV", case["D"]))
        self.inputs = [[self.tensor(*extents) for extents in zip(heads, lengths, columns, gaps)] for _ in range(self.sets)]
        self.mask = window_mask(case)
        self.single = self.flush = None
        try:
            self.graph = self.capture(self.launches)
        except RuntimeError as reason:  # the backend has no kernel for the case, or an allocation failed
            raise Unable(str(reason).strip().splitlines()[0][:200]) from None

    def tensor(self, heads, rows, columns, gap):
        """[B, H, S, D] as SDPA takes it; with BSHD a view of [B, S, H, D], the layout of SDPA's O too. The gap is
        between rows, with BSHD between the rows of all heads."""
        inside, outside = (heads, rows) if self.case.get("BSHD") else (1, heads * rows)
        made = torch.randn(self.case["B"], outside, inside * columns + gap, device=device, dtype=self.dtype)
        made = made[..., : inside * columns]
        if self.case.get("BSHD"):
            return made.unflatten(2, (heads, columns)).transpose(1, 2)
        return made.unflatten(1, (heads, rows))

    def capture(self, launches):
        with torch.nn.attention.sdpa_kernel(self.backend), torch.no_grad():
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):  # planning and loading at the first call must not be captured
                for inputs in self.inputs:
                    attend(self.case, *inputs, mask=self.mask)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                for call in range(launches):
                    attend(self.case, *self.inputs[call % self.sets], mask=self.mask)
        torch.cuda.synchronize()
        return graph

    def replay(self, graph, count):
        """Consecutive replays, each timed by two events, so that the GPU is never idle when one begins."""
        marks = [(event(), event()) for _ in range(count)]
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
            self.single = self.capture(1)
            size = 2 * torch.cuda.get_device_properties(device).L2_cache_size
            self.flush = torch.empty(size, dtype=torch.uint8, device=device)
        times = []
        for _ in range(question["samples"]):
            self.flush.fill_(1)  # twice the size of L2: evicts all inputs
            times += self.replay(self.single, 1)
        return times


def event():
    return torch.cuda.Event(enable_timing=True)


def answer(question, state):
    """The answer to one request; `state` holds the captured graphs."""
    ask = question["ask"]
    if ask == "begin":
        return begin(question)
    if ask == "capture":
        state.clear()  # first, so that both need not fit on the GPU
        torch.cuda.empty_cache()
        try:
            state["captured"] = Captured(question)
        except Unable as reason:
            return {"unable": str(reason)}
        return {"captured": True}
    if ask in ("warm", "cold"):
        return {"samples_us": getattr(state["captured"], ask)(question)}
    raise ValueError(f"an unknown question: {ask}")


def main():
    warnings.filterwarnings("ignore")  # the answer reports unsupported cases, so PyTorch's warnings are redundant
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # library output on stdout must not mix with answers
    state = {}
    for line in sys.stdin:
        try:
            said = answer(json.loads(line), state)
        except Exception as reason:
            said = {"error": " ".join(f"{reason}".split())[:400] or type(reason).__name__}
        print(json.dumps(said), file=answers, flush=True)


if __name__ == "__main__":
    main()
