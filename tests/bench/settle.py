"""Shows how two kernels share a clock at the power limit: cuDNN's scaled_dot_product_attention on random numbers (A)
and on zeros (B), which needs less power. `make bench-settle` runs it.

usage: python3 tests/bench/settle.py [--shape B,H,S,D] [--turns N]

Prints the median time of a call by the time since its side began: each alone after a rest, in long turns, and A after
pauses of some milliseconds during its load; then both medians in turns of a few calls. Needs a GPU and PyTorch; prints
SKIP without one.
"""
import argparse
import statistics
import sys
import time

EDGES_MS = [0, 5, 10, 20, 30, 40, 60, 80, 100, 125, 150, 200, 300, 400]
LONG_CALLS, REST_S = 800, 0.6


def captured(torch, shape, scale):
    """A CUDA graph of one call, and its inputs, which must live as long."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    inputs = [(scale * torch.randn(*shape, device="cuda")).half() for _ in range(3)]

    def call():
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            torch.nn.functional.scaled_dot_product_attention(*inputs)

    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        call()
    return graph, inputs


class Timer:
    """Times every call of a sequence of segments."""

    def __init__(self, torch):
        self.torch = torch
        self.events = [torch.cuda.Event(enable_timing=True) for _ in range(8000)]

    def run(self, segments):
        """Segments are (graph, calls) or (None, ms of pause). Returns a list of (ms since its start, us) for each graph's."""
        used, timed = 0, []
        for graph, count in segments:
            if graph is None:
                self.torch.cuda.synchronize()
                until = time.perf_counter() + 1e-3 * count
                while time.perf_counter() < until:
                    pass
                continue
            events = self.events[used:used + count + 1]
            used += count + 1
            events[0].record()
            for event in events[1:]:
                graph.replay()
                event.record()
            timed.append(events)
        self.torch.cuda.synchronize()
        return [[(events[0].elapsed_time(b), 1000 * a.elapsed_time(b)) for a, b in zip(events, events[1:])]
                for events in timed]

    def rest(self):
        self.torch.cuda.synchronize()
        time.sleep(REST_S)


def print_row(name, segments):
    row = []
    for low, high in zip(EDGES_MS, EDGES_MS[1:]):
        us = [us for calls in segments for ms, us in calls if low < ms <= high]
        row.append("%6.1f" % statistics.median(us) if us else "     -")
    print("%-30s %s" % (name, " ".join(row)), flush=True)


def median_of_later(segments):
    return statistics.median(us for calls in segments[len(segments) // 3:] for _, us in calls)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shape", default="2,16,4096,128")
    parser.add_argument("--turns", type=int, default=4, help="long turns of each side")
    arguments = parser.parse_args()
    try:
        import torch
        if not torch.cuda.is_available():
            raise RuntimeError("PyTorch finds no GPU")
    except (ImportError, RuntimeError) as why:
        print(f"SKIP {why}")
        return
    shape = [int(word) for word in arguments.shape.split(",")]
    a, a_inputs = captured(torch, shape, 1)
    b, b_inputs = captured(torch, shape, 0)
    timer = Timer(torch)
    timer.run([(a, 50), (b, 50)])
    print("%-30s %s" % ("us per call, until ms", " ".join("%6d" % edge for edge in EDGES_MS[1:])))
    for name, graph in (("A", a), ("B", b)):
        timer.rest()
        print_row(f"{name} alone, after a rest", timer.run([(graph, LONG_CALLS)]))
    turns = timer.run([(a, LONG_CALLS), (b, LONG_CALLS)] * arguments.turns)
    print_row("A after B", turns[2::2])
    print_row("B after A", turns[1::2])
    for ms in (1, 2, 5, 10, 20, 40, 80, 160, 320):
        print_row(f"A after {ms} ms of pause", timer.run([(a, LONG_CALLS), (None, ms), (a, LONG_CALLS // 2)])[1:])
    for calls in (1, 10, 50, 100, 200):
        timer.run([(a, LONG_CALLS)])
        turns = timer.run([(a, calls), (b, calls)] * (1500 // calls))
        print("in turns of %d: A %.1f us, B %.1f us" % (calls, median_of_later(turns[0::2]), median_of_later(turns[1::2])))
    del a_inputs, b_inputs


if __name__ == "__main__":
    sys.exit(main())
