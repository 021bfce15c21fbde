"""Shows what steady load does to the time of a call: a graph of one scaled_dot_product_attention of cuDNN, replayed
back to back, and with pauses between bursts. `make bench-power` runs it.

usage: python3 tests/bench/power.py [--shape B,H,S,D] [--seconds N]

For each series a row per interval of time since its start: calls, their median, least and largest time in us, the
range of the SM clock, power, and NVML's reasons for a lower clock (0x4: the power limit). Then how often NVML's
figures of power and energy change. Needs a GPU and PyTorch; prints SKIP without one.
"""
import argparse
import ctypes
import statistics
import sys
import threading
import time

EDGES_S = [0, 0.01, 0.02, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3]
BURST, PAUSES_S = 4, [0, 0.002, 0.005, 0.02]


class Monitor:
    """NVML's figures of the first GPU."""

    def __init__(self):
        self.library = ctypes.CDLL("libnvidia-ml.so.1")
        self.library.nvmlInit_v2()
        self.gpu = ctypes.c_void_p()
        self.library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.gpu))

    def figure(self, name, kind, *arguments):
        value = kind()
        getattr(self.library, name)(self.gpu, *arguments, ctypes.byref(value))
        return value.value

    def read(self):
        return (self.figure("nvmlDeviceGetTotalEnergyConsumption", ctypes.c_ulonglong),
                self.figure("nvmlDeviceGetPowerUsage", ctypes.c_uint) / 1000,
                self.figure("nvmlDeviceGetClockInfo", ctypes.c_uint, 1),
                self.figure("nvmlDeviceGetCurrentClocksThrottleReasons", ctypes.c_ulonglong))


def series(torch, graph, monitor, seconds, pause_s):
    """Bursts of replays; returns (time, reading) and (time, microseconds of each call of a burst)."""
    readings, bursts, ended = [], [], []
    start = time.time()

    def watch():
        while not ended:
            readings.append((time.time() - start, *monitor.read()))

    thread = threading.Thread(target=watch)
    thread.start()
    while time.time() - start < seconds:
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(BURST + 1)]
        marks[0].record()
        for mark in marks[1:]:
            graph.replay()
            mark.record()
        marks[-1].synchronize()
        bursts.append((time.time() - start, [1e3 * a.elapsed_time(b) for a, b in zip(marks, marks[1:])]))
        if pause_s:
            time.sleep(pause_s)
    ended.append(True)
    thread.join()
    return readings, bursts


def show(readings, bursts):
    for begin, end in zip(EDGES_S, EDGES_S[1:]):
        times = [us for at, burst in bursts if begin <= at < end for us in burst]
        seen = [reading for reading in readings if begin <= reading[0] < end]
        if times and seen:
            clocks, reasons = [reading[3] for reading in seen], sorted({hex(reading[4]) for reading in seen})
            print(f"  {1e3 * begin:5.0f} to {1e3 * end:5.0f} ms: {len(times):5d} calls, {statistics.median(times):8.1f} us "
                  f"({min(times):.1f} to {max(times):.1f}), SM {min(clocks)} to {max(clocks)} MHz, {seen[-1][2]:.0f} W, "
                  f"{' '.join(reasons)}")


def interval_ms(readings, column):
    """The median time between two changes of a figure."""
    changes = [b[0] for a, b in zip(readings, readings[1:]) if a[column] != b[column]]
    return 1e3 * statistics.median([b - a for a, b in zip(changes, changes[1:])]) if len(changes) > 2 else float("nan")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", default="2,16,4096,128")
    parser.add_argument("--seconds", type=float, default=3)
    arguments = parser.parse_args()
    try:
        import torch
    except ImportError:
        torch = None
    if torch is None or not torch.cuda.is_available():
        print("SKIP: no GPU with PyTorch")
        return 0
    shape = [int(size) for size in arguments.shape.split(",")]
    inputs = [torch.randn(shape, device="cuda", dtype=torch.float16) for _ in range(3)]
    attend = torch.nn.functional.scaled_dot_product_attention
    graph = torch.cuda.CUDAGraph()
    with torch.nn.attention.sdpa_kernel([torch.nn.attention.SDPBackend.CUDNN_ATTENTION]):
        for _ in range(3):
            attend(*inputs)
        with torch.cuda.graph(graph):
            attend(*inputs)
    torch.cuda.synchronize()
    monitor = Monitor()
    for pause_s in PAUSES_S:
        time.sleep(0.5)
        readings, bursts = series(torch, graph, monitor, arguments.seconds, pause_s)
        print(f"bursts of {BURST} calls, then {1e3 * pause_s:g} ms" if pause_s else "back to back")
        show(readings, bursts)
        if not pause_s:
            print(f"  power changes every {interval_ms(readings, 2):.0f} ms, energy every {interval_ms(readings, 1):.0f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
