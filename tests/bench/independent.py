"""Times an exported attention kernel without evotile: on PyTorch's stream, in CUDA graphs, in turns with the backends of
scaled_dot_product_attention. Prints a row per shape of the manifest. `make bench-independent` runs it.

usage: python3 tests/bench/independent.py KERNEL_DIR [--shape NAME | --shapes FILE]... [--seconds N] [--samples N]
                                          [--launches N] [--json]

--shapes FILE takes other shapes than the manifest's: a JSON list of objects, or what `evotile regret --json` prints.
The last line then has the geometric mean and the least of the ratios.

Each implementation is timed in two regimes: boost, one graph after a pause of 20 ms, so that the GPU stays below its
power limit, --samples of them (40) in turns; and sustained, graphs back to back for --seconds (2), of which the second
half counts; 0 leaves it out. SM clock and power are medians of what NVML reports meanwhile. A figure is the median over
graphs of --launches calls (20), from an event before to an event after the graph, so it includes a share of what the
launch of a graph costs. Four sets of tensors rotate, as evotile's do. The error is that of the first and the last
element of the batch against fp64. Needs a GPU, gcc, the CUDA Toolkit and PyTorch; prints SKIP without a GPU.
"""
import argparse
import ctypes
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

BACKENDS = {"flash": "FLASH_ATTENTION", "cudnn": "CUDNN_ATTENTION", "efficient": "EFFICIENT_ATTENTION"}
FIELD_TYPES = {"int64_t": ctypes.c_int64, "float": ctypes.c_float, "double": ctypes.c_double}
SETS, BOOST_PAUSE_S, REGIMES = 4, 0.02, ("boost", "sustained")


class Kernel:
    """An exported folder's launcher, built by gcc and called through its header's structs."""

    def __init__(self, folder, cuda_home):
        with open(os.path.join(folder, "manifest.json")) as file:
            self.manifest = json.load(file)
        self.name = self.manifest["name"]
        with open(os.path.join(folder, f"{self.name}.h")) as file:
            self.header = file.read()
        self.shape_type, self.tensors_type = self.structure("shape"), self.structure("tensors")
        library = os.path.join(tempfile.mkdtemp(), f"{self.name}.so")
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", f"-I{cuda_home}/include", f"-I{folder}", f"-Wa,-I{folder}",
                        "-o", library, os.path.join(folder, f"{self.name}.c"), f"-L{cuda_home}/lib64", "-lcudart", "-lcuda",
                        f"-Wl,-rpath,{cuda_home}/lib64"], check=True)
        functions = ctypes.CDLL(library)
        self.launch = getattr(functions, f"{self.name}_launch")
        self.workspace_bytes = getattr(functions, f"{self.name}_workspace_bytes")
        self.workspace_bytes.restype = ctypes.c_int64

    def structure(self, which):
        body = re.search(rf"struct {self.name}_{which} \{{(.*?)\n\}};", self.header, re.S).group(1)
        members = re.findall(r"(int64_t|float|double|const void \*|void \*)\s*(\w+)(?:\[(\d+)\])?;",
                             re.sub(r"/\*.*?\*/", "", body, flags=re.S))
        return type(which, (ctypes.Structure,), {"_fields_": [
            (name, (FIELD_TYPES.get(kind, ctypes.c_void_p)) * int(count) if count else
             FIELD_TYPES.get(kind, ctypes.c_void_p)) for kind, name, count in members]})

    def calls(self, shape, sets):
        """A function that launches one call on a set, on PyTorch's current stream."""
        names = {name for name, _ in self.shape_type._fields_}
        asked = self.shape_type(**{name: value for name, value in shape.items() if name in names})
        need = self.workspace_bytes(ctypes.byref(asked))
        if need < 0:
            raise RuntimeError(f"no kernel for {shape}")
        workspace = torch.empty(max(need, 16), dtype=torch.uint8, device="cuda")

        def call(index):
            q, k, v, o = sets[index]
            tensors = self.tensors_type(q=q.data_ptr(), k=k.data_ptr(), v=v.data_ptr(), o=o.data_ptr())
            status = self.launch(ctypes.byref(asked), ctypes.byref(tensors), ctypes.c_void_p(workspace.data_ptr()),
                                 ctypes.c_size_t(need), ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
            if status != 0:
                raise RuntimeError(f"launch of {self.name}: status {status}")
        return call


class Monitor:
    """SM clock in MHz and power in W of PyTorch's GPU, by NVML."""

    def __init__(self):
        self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
        self.device = ctypes.c_void_p()
        uuid = f"GPU-{torch.cuda.get_device_properties(0).uuid}".encode()
        if self.nvml.nvmlInit_v2() != 0 or self.nvml.nvmlDeviceGetHandleByUUID(uuid, ctypes.byref(self.device)) != 0:
            raise RuntimeError("NVML cannot be initialised")

    def read(self):
        clock, power = ctypes.c_uint(), ctypes.c_uint()
        self.nvml.nvmlDeviceGetClockInfo(self.device, 1, ctypes.byref(clock))  # 1: NVML_CLOCK_SM
        self.nvml.nvmlDeviceGetPowerUsage(self.device, ctypes.byref(power))
        return clock.value, power.value / 1000


def capture(call, launches):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for index in range(SETS):
            call(index)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for index in range(launches):
            call(index % SETS)
    graph.replay()
    torch.cuda.synchronize()
    return graph


def sample(graph, launches):
    """Microseconds per call."""
    before, after = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    before.record()
    graph.replay()
    after.record()
    after.synchronize()
    return before.elapsed_time(after) * 1000 / launches


def time_boost(graphs, options, monitor):
    parts = {name: ([], []) for name in graphs}
    for _ in range(options.samples):
        for name, graph in graphs.items():
            time.sleep(BOOST_PAUSE_S)
            graph.replay()  # the first after a pause is slower
            parts[name][0].append(sample(graph, options.launches))
            parts[name][1].append(monitor.read())
    return {name: summarise(*part) for name, part in parts.items()}


def time_sustained(graph, launches, monitor, seconds):
    samples, states, start = [], [], time.monotonic()
    while time.monotonic() - start < seconds:
        us = sample(graph, launches)
        if time.monotonic() - start > seconds / 2:
            samples.append(us)
            if len(samples) % 8 == 1:
                states.append(monitor.read())
    return samples, states


def summarise(samples, states):
    return {"us": statistics.median(samples), "samples": len(samples),
            "sm_mhz": statistics.median(clock for clock, _ in states),
            "power_w": statistics.median(power for _, power in states)}


def backends(shape, sets):
    """Each backend that supports the shape: its name and a function that makes one call."""
    causal = bool(shape.get("CAUSAL"))
    grouped = {"enable_gqa": True} if sets[0][0].shape[1] != sets[0][1].shape[1] else {}
    for name, member in BACKENDS.items():
        def call(index, backend=getattr(torch.nn.attention.SDPBackend, member)):
            with torch.nn.attention.sdpa_kernel(backend):
                functional.scaled_dot_product_attention(*sets[index][:3], is_causal=causal, **grouped)
        try:
            call(0)
        except RuntimeError:
            continue
        yield name, call


def error_of(shape, tensors):
    """Against fp64, of the first and the last element of the batch: all scores in fp64 would not fit."""
    wrong = norm = 0
    for element in {0, shape["B"] - 1}:
        q, k, v, o = (tensor[element:element + 1].double() for tensor in tensors)
        wanted = functional.scaled_dot_product_attention(q, k, v, is_causal=bool(shape.get("CAUSAL")),
                                                         enable_gqa=shape["H"] != shape["H_KV"])
        wrong, norm = wrong + (o - wanted).norm().item() ** 2, norm + wanted.norm().item() ** 2
    return math.sqrt(wrong / norm)


def time_sustained_all(graphs, options, monitor):
    parts = {name: ([], []) for name in graphs}
    for _ in range(2):  # in turns
        for name, graph in graphs.items():
            samples, states = time_sustained(graph, options.launches, monitor, options.seconds / 2)
            parts[name][0].extend(samples)
            parts[name][1].extend(states)
    return {name: summarise(*part) for name, part in parts.items()}


def time_shape(kernel, shape, options, monitor):
    """One row: all implementations in turns, in the regimes that are asked for."""
    q_shape = (shape["B"], shape["H"], shape["S"], shape["D"])
    k_shape = (shape["B"], shape["H_KV"], shape["S_KV"], shape["D"])
    dtype = torch.bfloat16 if shape.get("BF16") else torch.float16
    sets = [[torch.randn(size, device="cuda", dtype=dtype) for size in (q_shape, k_shape, k_shape)]
            + [torch.empty(q_shape, device="cuda", dtype=dtype)] for _ in range(SETS)]
    calls = {"exported": kernel.calls(shape, sets), **dict(backends(shape, sets))}
    graphs = {name: capture(call, options.launches) for name, call in calls.items()}
    row = {"shape": shape, "error": error_of(shape, sets[0]), "boost": time_boost(graphs, options, monitor)}
    if options.seconds > 0:
        row["sustained"] = time_sustained_all(graphs, options, monitor)
    return row


def best_other(figures):
    """The fastest of the others, or None; and its time over ours."""
    others = {name: it["us"] for name, it in figures.items() if name != "exported"}
    best = min(others, key=others.get, default=None)
    return best, others[best] / figures["exported"]["us"] if best else None


def print_row(name, recorded_us, row):
    for regime in REGIMES:
        if regime not in row:
            continue
        ours = row[regime]["exported"]
        best, ratio = best_other(row[regime])
        recorded = f"  recorded {recorded_us:9.2f} ({ours['us'] / recorded_us - 1:+.1%})" if recorded_us else ""
        print(f"{name:32} {regime:9} {ours['us']:9.2f} us{recorded}  {ours['sm_mhz']:.0f} MHz {ours['power_w']:.0f} W  ratio "
              + (f"{ratio:.3f} of {best}" if best else "-") + f"  error {row['error']:.1e}", flush=True)


def print_ratios(rows):
    for regime in REGIMES:
        ratios = {row["name"]: best_other(row[regime])[1] for row in rows if regime in row and best_other(row[regime])[0]}
        if ratios:
            least = min(ratios, key=ratios.get)
            print(f"{regime}: {len(ratios)} shapes, geometric mean {statistics.geometric_mean(ratios.values()):.3f}, least {ratios[least]:.3f} at "
                  f"{least}, {sum(ratio < 1 for ratio in ratios.values())} below 1; largest error {max(row['error'] for row in rows):.1e}")


def read_shapes(path, known):
    """Cases of shapes that may leave dimensions out: the kernel's own have them all."""
    with open(path) as file:
        rows = json.load(file)
    if isinstance(rows, dict):  # of evotile regret --json
        rows = [dict(pair.split("=") for pair in row["shape"].split(",")) for row in rows["shapes"]]
    for row in rows:
        given = {name: int(value) for name, value in row.items()}
        like = {"H_KV": given["H"], "S_KV": given["S"], "DV": given["D"], "CAUSAL": 0}
        yield {"name": ",".join(f"{name}={value}" for name, value in row.items()), "p50_us": None,
               "shape": {name: {**known, **like, **given}[name] for name in known}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernel")
    parser.add_argument("--shape", action="append", help="a case's name in the manifest (default: all)")
    parser.add_argument("--shapes", help="a file of other shapes")
    parser.add_argument("--seconds", type=float, default=2, help="of sustained load; 0: boost alone")
    parser.add_argument("--samples", type=int, default=40, help="of boost")
    parser.add_argument("--launches", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    global torch, functional
    try:
        import torch
        import torch.nn.attention
        import torch.nn.functional as functional
    except ImportError as problem:
        sys.exit(f"bench-independent: PyTorch cannot be imported ({problem}): install torch, or run another Python")
    if not torch.cuda.is_available():
        print("SKIP: no GPU")
        return
    kernel = Kernel(os.path.abspath(options.kernel), os.environ.get("CUDA_HOME", "/usr/local/cuda"))
    monitor, rows = Monitor(), []
    for case in read_shapes(options.shapes, kernel.manifest["cases"][0]["shape"]) if options.shapes else kernel.manifest["cases"]:
        if options.shape and case["name"] not in options.shape:
            continue
        try:
            row = time_shape(kernel, case["shape"], options, monitor)
        except RuntimeError as problem:
            print(f"{case['name']}: {problem}", file=sys.stderr)
            continue
        rows.append({"name": case["name"], "recorded_us": case["p50_us"], **row})
        if not options.json:
            print_row(case["name"], case["p50_us"], row)
    if options.json:
        print(json.dumps(rows, indent=1))
    else:
        print_ratios(rows)


if __name__ == "__main__":
    main()
