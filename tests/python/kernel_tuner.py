#!/usr/bin/env python3
"""python/evotile_kernel_tuner on the emulated device.

Where kernel_tuner is installed, the signature, the search spaces and the grids are compared with its own.
usage: kernel_tuner.py [UNITTEST...]     EVOTILE: the program
"""
import contextlib
import importlib.util
import inspect
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.realpath(os.path.join(HERE, "../.."))
sys.path.insert(0, os.path.join(ROOT, "python"))
sys.path.remove(HERE) if HERE in sys.path else None  # this file has the package's name
os.environ.setdefault("EVOTILE", os.path.join(ROOT, "build/evotile"))
os.environ.setdefault("EVOTILE_DEVICES", os.path.join(ROOT, "configs/devices"))
os.environ["EVOTILE_DEVICE"] = "emulated:sm_90"

import numpy  # noqa: E402

from evotile import EvotileError  # noqa: E402
from evotile_kernel_tuner import tune_kernel  # noqa: E402
from evotile_kernel_tuner import functions, launch, signature, template, tune  # noqa: E402

HAS_KERNEL_TUNER = importlib.util.find_spec("kernel_tuner") is not None
OTHER = unittest.skipUnless(HAS_KERNEL_TUNER, "kernel_tuner is not installed")

# As a script for Kernel Tuner has it; only the import differs.
VECTOR_ADD = '''
import numpy
from kernel_tuner import tune_kernel

kernel_string = """
__global__ void vector_add(float *c, float *a, float *b, int n) {
    int i = blockIdx.x * block_size_x + threadIdx.x;
    if (i<n) {
        c[i] = a[i] + b[i];
    }
}
"""

size = 20000
a = numpy.random.randn(size).astype(numpy.float32)
b = numpy.random.randn(size).astype(numpy.float32)
c = numpy.zeros_like(b)
n = numpy.int32(size)
args = [c, a, b, n]

tune_params = dict()
tune_params["block_size_x"] = [64, 128, 1024]

results, env = tune_kernel("vector_add", kernel_string, size, args, tune_params)
'''

MATMUL = '''
import numpy
from kernel_tuner import tune_kernel

kernel_string = """
#define WIDTH 48
__global__ void matmul(float *C, const float *A, const float *B) {
    const int x = blockIdx.x * block_size_x * tile_size_x + threadIdx.x;
    const int y = blockIdx.y * block_size_y + threadIdx.y;
    if (y >= WIDTH) return;
    float sum[tile_size_x] = {0};
    for (int k = 0; k < WIDTH; k++)
        for (int t = 0; t < tile_size_x; t++)
            if (x + t * block_size_x < WIDTH) sum[t] += A[y * WIDTH + k] * B[k * WIDTH + x + t * block_size_x];
    for (int t = 0; t < tile_size_x; t++)
        if (x + t * block_size_x < WIDTH) C[y * WIDTH + x + t * block_size_x] = sum[t];
}
"""

problem_size = (48, 48)
A = numpy.random.randn(*problem_size).astype(numpy.float32)
B = numpy.random.randn(*problem_size).astype(numpy.float32)
C = numpy.zeros_like(A)
args = [C, A, B]

tune_params = dict()
tune_params["block_size_x"] = [8, 16]
tune_params["block_size_y"] = [4, 8]
tune_params["tile_size_x"] = [1, 2, 4]

grid_div_x = ["block_size_x", "tile_size_x"]
grid_div_y = ["block_size_y"]
restrictions = lambda p: p["block_size_x"] * p["tile_size_x"] <= 32
answer = [numpy.matmul(A, B), None, None]
metrics = {"GFLOP/s": lambda p: (2 * 48 ** 3 / 1e9) / (p["time"] / 1e3), "twice": "2 * time"}

results, env = tune_kernel("matmul", kernel_string, problem_size, args, tune_params, grid_div_y=grid_div_y, grid_div_x=grid_div_x,
                           restrictions=restrictions, answer=answer, atol=1e-3, metrics=metrics)
'''

SCALE = "__global__ void scale(float *y, const float *x, int n) { int i = blockIdx.x * block_size_x + threadIdx.x; if (i < n) %s }"


def call(**changes):
    """The arguments of a small call that is right, with changes."""
    x = numpy.arange(1, 501, dtype=numpy.float32)
    given = {"kernel_name": "scale", "kernel_source": SCALE % "y[i] = 2 * x[i];", "problem_size": 500,
             "arguments": [numpy.zeros(500, numpy.float32), x, numpy.int32(500)], "tune_params": {"block_size_x": [32, 64]}, "quiet": True}
    return {**given, **changes}


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder.name)

    def run_script(self, text):
        """A script's variables, and what it printed."""
        names, printed = {}, io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(text.replace("from kernel_tuner import", "from evotile_kernel_tuner import"), "script", "exec"), names)
        return names, printed.getvalue()

    def refuse(self, pattern, **changes):
        with self.assertRaisesRegex(EvotileError, pattern) as caught:
            tune_kernel(**call(**changes))
        self.assertNotIn("\n", str(caught.exception))


class Scripts(Case):
    def test_vector_add(self):
        names, printed = self.run_script(VECTOR_ADD)
        results, env = names["results"], names["env"]
        self.assertEqual([result["block_size_x"] for result in results], [64, 128, 1024])
        for result in results:
            self.assertGreater(result["time"], 0)
            self.assertIn(result["time"], result["times"])  # of one sample, which is a prediction
            self.assertGreater(result["verification_time"], 0)
            self.assertIn("+00:00", result["timestamp"])
        self.assertEqual(env["device_name"], "NVIDIA H200, emulated")
        self.assertEqual(env["best_config"]["time"], min(result["time"] for result in results))
        self.assertIn("BEST PERFORMING CONFIGURATION FOR OBJECTIVE time:\nblock_size_x=", printed)
        self.assertIn("there is no answer", env["evotile"]["notes"][0])
        with open(os.path.join(os.path.dirname(env["evotile"]["config"]), "vector_add/template.json"), encoding="utf-8") as file:
            tensors = json.load(file)["tensors"]
        self.assertEqual({name: (one["role"], one.get("before"), one.get("fill")) for name, one in tensors.items()},
                         {"c": ("output", "zero", None), "a": ("input", None, {"file": "a.npy"}), "b": ("input", None, {"file": "b.npy"})})
        stored = numpy.load(os.path.join(os.path.dirname(env["evotile"]["config"]), "vector_add/a.npy"))
        self.assertTrue((stored == names["a"]).all())

    def test_matmul(self):
        names, printed = self.run_script(MATMUL)
        results, env = names["results"], names["env"]
        expected = {(x, y, t) for x in (8, 16) for y in (4, 8) for t in (1, 2, 4) if x * t <= 32}
        self.assertEqual({(r["block_size_x"], r["block_size_y"], r["tile_size_x"]) for r in results}, expected)
        self.assertEqual(len(results), len(expected))
        for result in results:
            self.assertAlmostEqual(result["GFLOP/s"], 2 * 48 ** 3 / 1e6 / result["time"])
            self.assertAlmostEqual(result["twice"], 2 * result["time"])
        self.assertIn("restrictions[0] is a function: it was called for all 6 combinations of block_size_x, tile_size_x, and is a table of them",
                      env["evotile"]["notes"])
        self.assertEqual(env["evotile"]["reference"], "answer")

    def test_a_second_call_has_a_folder_of_its_own(self):
        first, second = (tune_kernel(**call())[1]["evotile"]["run"] for _ in range(2))
        self.assertTrue(first.endswith("kernel_tuner/scale/run") and second.endswith("kernel_tuner/scale-2/run"))


class Data(Case):
    """What the kernel is given is what was given, and what is wrong is found."""

    def test_the_answer_is_compared(self):
        x = call()["arguments"][1]
        results, _ = tune_kernel(**call(answer=[2 * x, None, None]))
        self.assertFalse(any("__error__" in result for result in results))
        self.refuse("none of 2 configurations passed: wrong: ", answer=[2 * x + (x == 250), None, None])

    def test_the_tolerance_is_that_of_allclose(self):
        x = call()["arguments"][1]
        near = 2 * x + numpy.float32(0.01) * (x == 3)
        self.assertEqual(len(tune_kernel(**call(answer=[near, None, None], atol=0.02))[0]), 2)
        self.refuse("wrong: ", answer=[near, None, None], atol=0.005)

    def test_a_configuration_that_is_wrong_has_an_error(self):
        x = call()["arguments"][1]
        results, env = tune_kernel(**call(kernel_source=SCALE % "y[i] = (block_size_x == 64 ? 3 : 2) * x[i];", answer=[2 * x, None, None]))
        wrong = {result["block_size_x"]: str(result.get("__error__")) for result in results}
        self.assertEqual(wrong, {32: "None", 64: "RuntimeFailedConfig"})
        self.assertRegex(results[1]["__error__"].reason, "^wrong: ")
        self.assertNotIn("time", results[1])
        self.assertEqual(env["best_config"]["block_size_x"], 32)

    def test_without_an_answer_configurations_must_agree(self):
        source = SCALE % "y[i] = (block_size_x == 64 ? 3 : 2) * x[i];"
        self.assertEqual(["__error__" in result for result in tune_kernel(**call(kernel_source=source))[0]], [False, True])

    def test_what_does_not_compile(self):
        source = "#if block_size_x == 64\n#error no\n#endif\n" + SCALE % "y[i] = 2 * x[i];"
        self.assertEqual([str(result.get("__error__")) for result in tune_kernel(**call(kernel_source=source))[0]],
                         ["None", "CompilationFailedConfig"])

    def test_the_contents_of_what_is_added_to(self):
        y, x, n = call()["arguments"]
        y = y + numpy.arange(500, dtype=numpy.float32)
        source = SCALE % "y[i] += 2 * x[i];"
        for answer in (None, [y + 2 * x, None, None]):
            results, env = tune_kernel(**call(kernel_source=source, arguments=[y, x, n], answer=answer))
            self.assertFalse(any("__error__" in result for result in results))
            with open(os.path.join(os.path.dirname(env["evotile"]["config"]), "scale/template.json"), encoding="utf-8") as file:
                self.assertEqual(json.load(file)["tensors"]["y"]["role"], "inout")
        self.refuse("wrong: ", kernel_source=source, arguments=[y, x, n], answer=[2 * x, None, None])

    def test_an_input_that_is_written_unseen(self):
        source = "__device__ void put(float &to) { to = 1; }\n" + (SCALE % "{ y[i] = 2 * x[i]; put(x[i]); }").replace("const float", "float")
        self.refuse("the first configuration, with which all others have to agree, is changed_input at .* 'x' .*: put values that pass first "
                    "in the lists of tune_params, or give answer=", kernel_source=source)
        self.refuse("changed_input: ", kernel_source=source, answer=[2 * call()["arguments"][1], None, None])

    def test_types(self):
        """Every type arrives: a kernel counts what it was given."""
        source = ("__global__ void count(unsigned int *sum, const half_t *h, const unsigned long long *u, const float2 *z, const bool *b, double d, "
                  "unsigned int w, int n) { int i = blockIdx.x * block_size_x + threadIdx.x; if (i == 0) sum[0] = (unsigned)(h[1] == 0x4000) + "
                  "(u[1] == 1ull << 60) + (z[1].x == 3) + (z[1].y == 4) + b[1] + (d == 0.5) + (w == 4000000000u) + (n == -7) + taps[1]; }")
        source = "typedef unsigned short half_t;\n__constant__ int taps[2];\n" + source
        arguments = [numpy.zeros(1, numpy.uint32), numpy.array([1, 2], numpy.float16), numpy.array([1, 2 ** 60], numpy.uint64),
                     numpy.array([1, 3 + 4j], numpy.complex64), numpy.array([False, True]), numpy.float64(0.5), numpy.uint32(4000000000),
                     numpy.int32(-7)]
        given = call(kernel_name="count", kernel_source=source, arguments=arguments, problem_size=1,
                     cmem_args={"taps": numpy.array([3, 5], numpy.int32)}, answer=[numpy.array([13], numpy.uint32)] + [None] * 7)
        self.assertEqual(["__error__" in result for result in tune_kernel(**given)[0]], [False, False])

    def test_sources_in_files(self):
        with open("scale.cu", "w", encoding="utf-8") as file:
            file.write('#include "factor.h"\n' + SCALE % "y[i] = FACTOR * x[i];")
        with open("factor.h", "w", encoding="utf-8") as file:
            file.write("#define FACTOR 2\n")
        x = call()["arguments"][1]
        results, _ = tune_kernel(**call(kernel_source=["scale.cu", "factor.h"], answer=[2 * x, None, None]))
        self.assertFalse(any("__error__" in result for result in results))
        self.refuse("factor.h", kernel_source="scale.cu", answer=[2 * x, None, None])

    def test_an_atol_without_an_answer_is_said(self):
        self.assertIn("atol has no effect without an answer", tune_kernel(**call(atol=0.1))[1]["evotile"]["notes"])

    def test_shared_memory_and_macros(self):
        source = ("extern __shared__ float kept[];\n__global__ void scale(float *y, const float *x, int n) { int i = blockIdx.x * block_size_x + "
                  "threadIdx.x; kept[threadIdx.x] = i < n ? x[i] : 0; __syncthreads(); if (i < n) y[i] = kept[threadIdx.x] * (grid_size_x == "
                  "(500 + block_size_x - 1) / block_size_x ? 2 : 3) * kernel_tuner * block_size_y; }")
        for size in ("block_size_x * 4", lambda p: 4 * p["block_size_x"]):
            results, _ = tune_kernel(**call(kernel_source=source, smem_args={"size": size}, answer=[2 * call()["arguments"][1], None, None]))
            self.assertEqual([str(result.get("__error__")) for result in results], ["None", "None"])
        self.refuse("none of 2 configurations passed", kernel_source=source, smem_args={"size": 4},
                    answer=[2 * call()["arguments"][1], None, None])

    def test_words_and_real_numbers_come_back(self):
        source = SCALE.replace("float *y", "type *y") % "y[i] = factor * x[i];"
        given = call(kernel_source=source, tune_params={"block_size_x": [64, 32], "type": ["float"], "factor": [2.0, 1.5]},
                     restrictions=["factor == 2.0 or block_size_x == 32"])
        results, _ = tune_kernel(**given)
        self.assertEqual([(r["block_size_x"], r["type"], r["factor"], "__error__" in r) for r in sorted(results, key=lambda r: (r["block_size_x"], r["factor"]))],
                         [(32, "float", 1.5, True), (32, "float", 2.0, False), (64, "float", 2.0, False)])


class Searches(Case):
    def test_budget_and_seed(self):
        sizes = {"block_size_x": [32 * i for i in range(1, 17)]}
        for strategy in ("random_sample", "auto"):
            results, _ = tune_kernel(**call(tune_params=sizes, strategy=strategy, strategy_options={"max_fevals": 3}, seed=7))
            self.assertEqual(len(results), 3)

    def test_another_objective(self):
        metrics = {"threads": "block_size_x"}
        _, env = tune_kernel(**call(metrics=metrics, objective="threads", objective_higher_is_better=True))
        self.assertEqual(env["best_config"]["block_size_x"], 64)
        self.refuse("cannot guide a search", metrics=metrics, objective="threads", objective_higher_is_better=True, strategy="auto")
        self.refuse("say objective_higher_is_better", metrics=metrics, objective="threads")
        self.refuse("no key of metrics", objective="energy")


class Refused(Case):
    """One line that names the remedy; nothing is ignored."""

    def test_what_is_not_supported(self):
        for name in ("verify", "log", "cache", "simulation_mode", "parallel", "observers", "objectives", "texmem_args", "compiler", "defines"):
            value = (lambda *_: True) if name == "verify" else {"a": 1}
            self.refuse(f"^{name} is not supported: .", **{name: value})
        self.refuse("^platform is not supported", platform=1)
        self.refuse("strategy 'pso' is not supported: choose among brute_force, ", strategy="pso")
        self.refuse("strategy_options\\['popsize'\\] is not supported", strategy="random_sample", strategy_options={"popsize": 3})
        self.refuse("lang is 'OpenCL'", lang="OpenCL")
        self.refuse("is in OpenCL", kernel_source="__kernel void scale(__global float *y) {}")
        self.refuse("kernel_source is a function", kernel_source=lambda p: "")
        self.refuse("none.cu cannot be read", kernel_source="none.cu")
        self.refuse("iterations is 1: evotile takes 3 to 256", iterations=1)
        self.refuse("compiler_options has -I/usr/include", compiler_options=["-I/usr/include"])
        self.refuse("device is None", device=None)
        self.refuse("smem_args\\['config'\\]", smem_args={"config": 1})

    def test_arguments(self):
        y, x, n = call()["arguments"]
        self.refuse("argument 2, n is a builtins.int: give a NumPy array, or a number as numpy.int32", arguments=[y, x, 500])
        self.refuse("argument 1, x is not contiguous", arguments=[y, numpy.zeros(1000, numpy.float32)[::2], n])
        self.refuse("the kernel takes 3 parameters, and arguments has 2", arguments=[y, x])
        self.refuse("answer has 2 items, and arguments 3", answer=[x, None])
        self.refuse("the answer of argument 0, y has 3 elements", answer=[x[:3], None, None])
        self.refuse("answer has a value for argument 2, n, a number", answer=[None, None, n])
        self.refuse("argument 2, n is 0.1, and a number of a template is a float", arguments=[y, x, numpy.float64(0.1)])
        self.refuse("the kernel writes no argument", kernel_source=SCALE % ";")
        self.refuse("does not show which arguments the kernel writes", kernel_name="other")

    def test_spaces(self):
        self.refuse("has no values", tune_params={"block_size_x": []})
        self.refuse("tune_params\\['grid_size_x'\\] is not supported", tune_params={"grid_size_x": [1]})
        self.refuse("for which Kernel Tuner removes the pragma", tune_params={"block_size_x": [32], "loop_unroll_factor_k": [0, 1]})
        self.refuse("no configuration that was tried satisfies the restrictions", restrictions=["block_size_x > 64"])
        self.refuse("restrictions\\[0\\] is a int", restrictions=[3])
        self.refuse("restrictions\\[0\\] raised ZeroDivisionError: .* for {'block_size_x': 32}", restrictions=[lambda p: 1 / (p["block_size_x"] - 32)])
        self.refuse("restrictions\\[0\\] is a function of q, r", restrictions=[lambda q, r: True])


class Functions(unittest.TestCase):
    PARAMETERS = {"a": [1, 2, 4, 8], "b": [1, 2, 3], "mode": ["slow", "fast"], "ratio": [0.5, 1.5], "unread": list(range(100000))}

    def equal_everywhere(self, function, reads):
        text, about = functions.as_text(function, self.PARAMETERS, "it", convert=int)
        names, _ = functions.table_of(lambda p: int(function(p)), self.PARAMETERS, "it")
        self.assertEqual(names, reads)
        for a in self.PARAMETERS["a"]:
            for b in self.PARAMETERS["b"]:
                for mode in self.PARAMETERS["mode"]:
                    for ratio in self.PARAMETERS["ratio"]:
                        p = {"a": a, "b": b, "mode": mode, "ratio": ratio, "unread": 3}
                        self.assertEqual(eval(text, {}, p), function(p), text)
        return text

    def test_tables(self):
        self.equal_everywhere(lambda p: p["a"] * p["b"], ["a", "b"])
        self.equal_everywhere(lambda p: 3, [])
        self.equal_everywhere(lambda p: p["a"] if p["mode"] == "fast" else p["b"] * p["ratio"] // 1, ["a", "b", "mode", "ratio"])
        self.equal_everywhere(lambda p: p.get("a") + p.get("none", 5), ["a"])
        self.assertEqual(self.equal_everywhere(lambda p: p["a"] >= 4, ["a"]), "(0 if a <= 2 else 1)")

    def test_what_reads_all(self):
        small = {"a": [1, 2], "b": [3, 4]}
        for function in (lambda p: sum(p.values()), lambda p: dict(p)["b"], lambda p: {**p}["b"], lambda p: p.copy()["b"],
                         lambda p: sum(value for _, value in p.items()), lambda p: int(repr(p)[-2]), lambda p: p == {"a": 1, "b": 3}):
            names, table = functions.table_of(function, small, "it")
            for a in small["a"]:
                for b in small["b"]:
                    self.assertEqual(table[tuple({"a": a, "b": b}[n] for n in names)], function({"a": a, "b": b}))

    def test_what_is_no_function_of_the_parameters(self):
        calls = []
        with self.assertRaisesRegex(EvotileError, "differs from call to call"):
            functions.table_of(lambda p: calls.append(1) or len(calls) % 2 + p["a"], {"a": [1, 2]}, "it")
        with self.assertRaisesRegex(EvotileError, "have 300000 combinations, more than 100000: write it as a string"):
            functions.table_of(lambda p: p["unread"] + p["b"], self.PARAMETERS, "it")

    def test_functions_by_name(self):
        by_name = functions.called(lambda a, b: a + b, self.PARAMETERS, "it")
        self.assertEqual(by_name({"a": 1, "b": 2, "mode": "slow"}), 3)
        of_tuple = functions.called((lambda b, a: b - a, ["b", "a"]), self.PARAMETERS, "it")
        self.assertEqual(of_tuple({"a": 1, "b": 3}), 2)


class Signatures(unittest.TestCase):
    def written(self, body, parameter="float *p"):
        found = signature.read_signature("k", f"__global__ void k({parameter}, int n) {{ {body} }}")
        return found[0].written

    def test_uses(self):
        for body in ("float x = p[n];", "if (p[n] == 1) return;", "float x = p[p2[n]] + -p[n + 1];", "x = p[n].y;", "// p[0] = 1;\n", 'f("p[0] = 1");',
                     "other.p = 1; x->p = 2;", "x = p[q[1] = 2];"):
            self.assertFalse(self.written(body), body)
        for body in ("p[n] = 1;", "p[n] += 1;", "p[n]++;", "++p[n];", "f(p);", "f(&p[n]);", "*p = 1;", "p[n].y = 1;", "p[n].y[2] <<= 1;", "q = p + 1;",
                     "float4 *v = (float4 *)p;", "p[0][1] = 2;"):
            self.assertTrue(self.written(body), body)
        self.assertFalse(self.written("f(p);", "const float *__restrict__ p"))
        self.assertFalse(self.written("f(p);", "float const *p"))
        self.assertTrue(self.written("f(p);", "float *const p"))
        self.assertTrue(self.written("p[0] = 1;", "float p[]"))

    def test_kernels(self):
        read = signature.read_signature
        found = read("k", "__global__ void k(int);\ntemplate <int N> __global__ void __launch_bounds__(N) k(pair<int, float> *a, T b[4], int n) { a[0] = b[1]; }")
        self.assertEqual([tuple(one) for one in found], [("a", True, True), ("b", True, False), ("n", False, False)])
        self.assertIsNone(read("other", "__global__ void k(int n) {}"))
        self.assertIsNone(read("k", "__global__ void k(int n) {}\n__global__ void k(float n) {}"))
        self.assertIsNone(read("k", "__global__ void k(int a\n#if X\n, int b\n#endif\n) {}"))


class AsKernelTuner(unittest.TestCase):
    """The same as the package itself says."""

    @OTHER
    def test_signature(self):
        import kernel_tuner
        self.assertEqual(str(inspect.signature(tune_kernel)), str(inspect.signature(kernel_tuner.tune_kernel)))

    @OTHER
    def test_searchspaces(self):
        from kernel_tuner.searchspace import Searchspace
        parameters = {"block_size_x": [1, 2, 4, 8, 16, 32 * 1, 64, 128, 256, 512, 1024], "block_size_y": [1, 2, 4, 8, 16, 32],
                      "tile": [1, 2, 3, 4, 6], "mode": ["slow", "fast"]}
        # Kernel Tuner reads the source of a lambda's line, on which there must be no other.
        least = lambda p: p["block_size_x"] * p["tile"] <= 96  # noqa: E731
        words = lambda p: p["mode"] == "fast" and p["tile"] in (2, 3)  # noqa: E731
        for restrictions in (None, ["block_size_x * block_size_y >= 32"], ["block_size_x % tile == 0", "tile > 1 or mode == 'slow'"], least, words,
                             [least, "block_size_y > 1"], ["32 <= block_size_x*block_size_y <= 256", "block_size_x / tile > 3.5"]):
            expected = {tuple(one) for one in Searchspace(parameters, restrictions, 1024).list}
            with tempfile.TemporaryDirectory() as folder:
                self.assertEqual(space_of(parameters, restrictions, folder), len(expected), restrictions)

    @OTHER
    def test_grids(self):
        from kernel_tuner.util import get_problem_size, setup_block_and_grid
        parameters = {"block_size_x": [32, 48, 128], "block_size_y": [1, 4], "tile": [1, 3]}
        for problem_size, x, y, z in ((1000, None, None, None), ((1000, 77), ["block_size_x", "tile"], ["block_size_y"], None),
                                      ((1000, "tile*30", 5), ["block_size_x/32"], [], None), (lambda p: (p["tile"] * 100, 9), None, None, []),
                                      (500, lambda p: p["block_size_x"] * p["tile"], None, None), ((7, 9, 11), ["tile", lambda p: 2], None, ["tile"])):
            texts = launch.grid_texts(problem_size, [x, y, z], launch.BLOCK_NAMES, parameters, [])
            for values in ((a, b, c) for a in parameters["block_size_x"] for b in parameters["block_size_y"] for c in parameters["tile"]):
                p = dict(zip(parameters, values))
                _, grid = setup_block_and_grid(get_problem_size(problem_size, p), (x, y, z), p, list(launch.BLOCK_NAMES))
                names = {"ceil": __import__("math").ceil, **p}
                self.assertEqual(tuple(eval(text, names) for text in texts), tuple(grid), (problem_size, p))


def space_of(parameters, restrictions, folder):
    """How many configurations the template of a call has, as evotile counts them."""
    one = call(tune_params=parameters, restrictions=restrictions)
    made = tune.make_call({**{name: p.default for name, p in inspect.signature(tune_kernel).parameters.items()}, **one}, [])
    config, _ = template.write_template(made, tune.find_program(), os.path.join(folder, "made"))
    shown = json.loads(subprocess.run([os.environ["EVOTILE"], "space", config, "--json", "--device", "emulated:sm_90"], capture_output=True, text=True,
                                      check=True).stdout)
    return shown["goals"][0]["valid"]


if __name__ == "__main__":
    unittest.main(verbosity=1)
