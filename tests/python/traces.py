"""Tests of evotile.flashinfer and evotile.kernelbench; run by traces_test.sh.

usage: traces.py PYTHON FOLDER [PYTHON_WITH_MODELS]
"""
import contextlib
import copy
import io
import json
import os
import shutil
import struct
import subprocess
import sys
import unittest

from evotile import flashinfer, kernelbench, problems, serving

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "traces")
EVOTILE = os.environ["EVOTILE"]
DEVICE = ["--device", "emulated:sm_90"]


def path(name):
    return os.path.join(HERE, name)


def load(name):
    with open(path(name), encoding="utf-8") as file:
        return json.load(file)


def run(module, *arguments):
    """(exit status, standard output, standard error)"""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = module.main(list(arguments))
    return status, out.getvalue(), err.getvalue()


def save(folder, name, content):
    os.makedirs(folder, exist_ok=True)
    where = os.path.join(folder, name)
    with open(where, "w", encoding="utf-8") as file:
        file.write(content if isinstance(content, str) else json.dumps(content))
    return where


def safetensors(where, tensors):
    header, data = {}, b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    with open(where, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = os.path.join(FOLDER, self.id().split(".")[-1])
        os.makedirs(self.folder)

    def imported(self, definition="rmsnorm.json", workloads="rmsnorm.jsonl", *more):
        out = os.path.join(self.folder, "problem")
        status, _, err = run(flashinfer, "import", path(definition), path(workloads), "--out", out, *more)
        self.assertEqual(status, 0, err)
        return out

    def refused(self, change, *words, workload=None):
        """An import of a changed Definition is refused in one line that has these words."""
        definition = load("rmsnorm.json")
        change(definition)
        workloads = path("rmsnorm.jsonl")
        if workload is not None:
            workloads = save(self.folder, "w.jsonl", {"uuid": "u", "axes": {"batch_size": 2}, "inputs": {}, **workload})
        status, _, err = run(flashinfer, "import", save(self.folder, "d.json", definition), workloads, "--out", os.path.join(self.folder, "no"))
        self.assertEqual(status, 2, err)
        self.assertEqual(len(err.splitlines()), 1, err)
        for word in words:
            self.assertIn(word, err)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "no")))


def solution_with(change_kernel=lambda text: text, change_description=lambda text: text, **spec):
    solution = load("rmsnorm_warp.json")
    solution["spec"].update(spec)
    for source in solution["sources"]:
        source["content"] = (change_description if source["path"] == "solution.json" else change_kernel)(source["content"])
    return solution


class Definitions(Case):
    def test_dimensions_tensors_and_cases(self):
        folder = self.imported()
        with open(os.path.join(folder, "rmsnorm_h96/problem.json"), encoding="utf-8") as file:
            problem = json.load(file)
        self.assertEqual(problem["dimensions"]["hidden_size"]["values"], [96])
        self.assertEqual((problem["dimensions"]["batch_size"]["minimum"], problem["dimensions"]["batch_size"]["maximum"]), (1, 64))
        self.assertTrue(problem["dimensions"]["eps"]["real"])
        self.assertEqual({name: (tensor["dtype"], tensor["shape"]) for name, tensor in problem["tensors"].items()},
                         {"hidden_states": ("bf16", ["batch_size", "hidden_size"]), "weight": ("bf16", ["hidden_size"]),
                          "output": ("bf16", ["batch_size", "hidden_size"])})
        self.assertNotIn("tolerance", problem["tensors"]["output"])
        self.assertEqual(problem["probe_cases"], [{"batch_size": 1}, {"batch_size": 3}, {"batch_size": 5}])
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["cases"], [{"batch_size": 7, "eps": 1e-06}, {"batch_size": 32, "eps": 1e-05}])

    def test_reference_computes_in_double_unless_it_looks_at_bits(self):
        import ast
        source = "import torch\ndef run(x):\n    '''torch.float32 .float()'''\n    return (x.float() * x.to(torch.float32)).to(torch.bfloat16)  # µ\n"
        text, note = flashinfer.in_double(source, ast.parse(source))
        self.assertIsNone(note)
        self.assertIn("return (x.double() * x.to(torch.float64)).to(torch.float64)  # µ", text)
        self.assertIn("'''torch.float32 .float()'''", text)
        bits = "import torch\ndef run(x):\n    return x.view(torch.int16).to(torch.float32)\n"
        text, note = flashinfer.in_double(bits, ast.parse(bits))
        self.assertEqual(text, bits)
        self.assertIn("line 3", note)

    def test_what_cannot_be_expressed_is_refused(self):
        def scalar_output(definition):
            definition["outputs"]["output"]["shape"] = None

        def four_bits(definition):
            definition["inputs"]["weight"]["dtype"] = "float4_e2m1"

        def sampling(definition):
            definition["op_type"] = "sampling"

        def no_run(definition):
            definition["reference"] = "def walk(x):\n    return x\n"

        def keyword(definition):
            definition["axes"]["int"] = {"type": "var"}

        def strange_axis(definition):
            definition["axes"]["half"] = {"type": "expr", "expression": "sqrt(hidden_size)"}
        self.refused(scalar_output, "Definition.outputs.output.shape", "null")
        self.refused(four_bits, "Definition.inputs.weight.dtype", "float4_e2m1")
        self.refused(sampling, "Definition.op_type", "random")
        self.refused(no_run, "Definition.reference", "run")
        self.refused(keyword, "Definition.axes.int", "rename")
        self.refused(strange_axis, "Definition.axes.half.expression", "sqrt(hidden_size)")
        self.refused(lambda definition: definition.pop("outputs"), "'outputs' is missing")

    def test_workloads_are_checked(self):
        def constrained(definition):
            definition["constraints"] = ["batch_size % 4 == 0"]
        self.refused(constrained, "Workload", "batch_size % 4 == 0")
        self.refused(lambda _: None, "custom", "safetensors", workload={"inputs": {"weight": {"type": "custom"}}})
        self.refused(lambda _: None, "Workload u.axes.batch_size", workload={"axes": {}})
        self.refused(lambda _: None, "Workload u.inputs.bias", workload={"inputs": {"bias": {"type": "random"}}})
        self.refused(lambda _: None, "gone.safetensors", workload={"inputs": {"weight": {"type": "safetensors", "path": "gone.safetensors", "tensor_key": "w"}}})

    def test_expressions(self):
        known = {"a", "b", "c"}
        for source, values, wanted in (("a == b * 4", {"a": 8, "b": 2}, 1), ("a // b % 3", {"a": 17, "b": 2}, 2), ("1 < a <= b and not c", {"a": 2, "b": 2, "c": 0}, 1),
                                       ("max(a, b) ** 2", {"a": 3, "b": 2}, 9), ("-a + b", {"a": 3, "b": 5}, 2)):
            self.assertEqual(problems.Expression(source, known).value(values), wanted, source)
        self.assertEqual(problems.Expression("1 < a <= b", known).text, "((1 < a) && (a <= b))")
        for source in ("a == t[-1].item()", "d + 1", "a if b else c", "__import__('os')", "a @ b", "1.5 * a"):
            self.assertIsNone(problems.Expression(source, known).text, source)
        self.assertEqual(problems.Expression("b + 1 == a", known).defines()[0], "a")

    def test_an_earlier_import_alone_is_replaced(self):
        self.imported()
        out = os.path.join(self.folder, "problem")
        self.assertEqual(run(flashinfer, "import", path("rmsnorm.json"), path("rmsnorm.jsonl"), "--out", out)[0], 2)
        self.imported("rmsnorm.json", "rmsnorm.jsonl", "--force")
        save(os.path.join(self.folder, "mine"), "notes.txt", "mine")
        self.assertEqual(run(flashinfer, "import", path("rmsnorm.json"), path("rmsnorm.jsonl"), "--out", os.path.join(self.folder, "mine"), "--force")[0], 2)


class Ragged(Case):
    """Inputs of safetensors, which differ between workloads."""
    DEFINITION = {
        "name": "segment_sums", "op_type": "ragged", "axes": {"total": {"type": "var"}, "segments": {"type": "var"}, "len_indptr": {"type": "var"},
                                                            "width": {"type": "const", "value": 4}},
        "constraints": ["len_indptr == segments + 1", "total == indptr[-1].item()"],
        "inputs": {"x": {"shape": ["total", "width"], "dtype": "float32"}, "indptr": {"shape": ["len_indptr"], "dtype": "int32"}},
        "outputs": {"sums": {"shape": ["segments", "width"], "dtype": "float32"}},
        "reference": "import torch\n\ndef run(x, indptr):\n    assert indptr[-1].item() == x.shape[0]\n"
                     "    sums = torch.zeros((indptr.shape[0] - 1, x.shape[1]), dtype=torch.float32)\n    for i in range(sums.shape[0]):\n"
                     "        sums[i] = x[indptr[i].item():indptr[i + 1].item()].sum(dim=0)\n    return sums\n"}
    KERNEL = """
extern "C" __global__ void segment_sums(const float *x, const int *indptr, float *sums, int segments) {
    const int i = blockIdx.x * THREADS + threadIdx.x, segment = i / width, column = i % width;
    if (segment >= segments)
        return;
    float sum = 0.0f;
    for (int row = indptr[segment]; row < indptr[segment + 1] - LESS; row++)
        sum += x[row * width + column];
    sums[i] = sum;
}
"""
    SOLUTION = {"format": 2, "about": "a thread an element", "specialised": ["width"], "source": "kernel.cu",
                "genes": {"THREADS": {"about": "threads a block", "values": [32], "default": 32}, "LESS": {"about": "rows left out", "values": [0], "default": 0}},
                "launches": [{"kernel": "segment_sums", "grid": ["ceil_div(segments * width, THREADS)", "1", "1"], "block": ["THREADS", "1", "1"],
                              "arguments": ["x", "indptr", "sums", {"i32": "segments"}]}]}

    def test_each_workload_gets_its_data(self):
        rows = []
        for uuid, starts in (("one", [0, 3, 3, 10]), ("two", [0, 1, 9, 20, 21, 33])):
            safetensors(os.path.join(self.folder, f"{uuid}.safetensors"), {"pad": ("F32", [1], bytes(4)),
                                                                          "starts": ("I32", [len(starts)], struct.pack(f"<{len(starts)}i", *starts))})
            rows.append({"definition": "segment_sums", "solution": None, "evaluation": None, "workload": {
                "uuid": uuid, "axes": {"total": starts[-1], "segments": len(starts) - 1, "len_indptr": len(starts)},
                "inputs": {"x": {"type": "random"}, "indptr": {"type": "safetensors", "path": f"./{uuid}.safetensors", "tensor_key": "starts"}}}})
        os.makedirs(os.path.join(self.folder, "workloads"))
        workloads = save(os.path.join(self.folder, "workloads"), "w.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        out = os.path.join(self.folder, "problem")
        status, _, err = run(flashinfer, "import", save(self.folder, "d.json", self.DEFINITION), workloads, "--out", out)
        self.assertEqual(status, 0, err)
        self.assertIn("indptr[-1].item()", err)

        def solution(name, less):
            description = copy.deepcopy(self.SOLUTION)
            description["genes"]["LESS"].update(values=[less], default=less)
            return save(self.folder, f"{name}.json", {
                "name": name, "definition": "segment_sums", "author": "evotile", "spec": {"language": "cuda", "target_hardware": ["cuda"], "entry_point": "kernel.cu::segment_sums"},
                "sources": [{"path": "kernel.cu", "content": self.KERNEL}, {"path": "solution.json", "content": json.dumps(description)}]})
        status, text, err = run(flashinfer, "judge", out, solution("right", 0), solution("less", 1), *DEVICE)
        self.assertEqual(status, 0, err)
        found = [(trace["solution"], trace["workload"]["uuid"], trace["evaluation"]["status"]) for trace in map(json.loads, text.splitlines())]
        self.assertEqual(found, [("right", "one", "PASSED"), ("right", "two", "PASSED"), ("less", "one", "INCORRECT_NUMERICAL"), ("less", "two", "INCORRECT_NUMERICAL")])
        validate(text)


class Solutions(Case):
    def test_without_launches_a_skeleton_is_printed_that_the_judge_reads(self):
        folder = self.imported()
        status, out, err = run(flashinfer, "judge", folder, path("rmsnorm_host.json"), *DEVICE)
        self.assertEqual((status, out), (2, ""))
        self.assertIn('"solution.json"', err.splitlines()[0])
        printed = json.loads(err.split("\n", 1)[1])
        self.assertEqual(printed, json.loads(run(flashinfer, "skeleton", folder, path("rmsnorm_host.json"))[1]))
        self.assertEqual(printed["launches"][0]["kernel"], "rmsnorm")
        self.assertEqual(printed["launches"][0]["arguments"], ["hidden_states", "weight", "output", {"i32": "batch_size"}, {"f32": "eps"}])

    def test_other_languages_and_styles_are_refused(self):
        folder = self.imported()
        for spec, words in (({"language": "triton"}, "Solution.spec.language: triton"), ({"language": "python"}, "python"),
                            ({"destination_passing_style": False}, "destination_passing_style")):
            status, _, err = run(flashinfer, "judge", folder, save(self.folder, "s.json", solution_with(**spec)))
            self.assertEqual((status, len(err.splitlines())), (2, 1), err)
            self.assertIn(words, err)

    def test_a_short_name_is_no_macro(self):
        problem = {"name": "p", "tensors": {"x": {"dtype": "f16", "role": "input"}},
                   "dimensions": {"N": {"values": [8]}, "width": {"values": [4]}, "rows": {"minimum": 1, "maximum": 9}, "eps": {"real": True}}}
        made = problems.skeleton_of(problem)
        self.assertEqual(made["specialised"], ["width"])
        self.assertEqual(made["launches"][0]["arguments"], ["x", {"i32": "N"}, {"i32": "rows"}, {"f32": "eps"}])
        self.assertIn("kernel(const __half *x,\n", problems.skeleton_kernel(problem))

    def test_kernels_are_found(self):
        text = 'extern "C" __global__ void __launch_bounds__(128) one(int a) {}\n__global__ __launch_bounds__(64, 2) void two(float *b);\ntemplate <int N> __global__ void three() {}'
        self.assertEqual(flashinfer.kernels_of({"a.cu": text}), ["one", "two", "three"])


class Traces(Case):
    def judge(self, *solutions, words="flashinfer"):
        folder = self.imported()
        paths = [save(self.folder, f"{at}.json", solution) for at, solution in enumerate(solutions)]
        status, out, err = run(flashinfer, "judge", folder, *paths, *DEVICE, "--words", words)
        return status, [json.loads(line) for line in out.splitlines()], err, out

    def test_verdicts_become_their_words(self):
        def outside(text):
            return text.replace("output[(long long)row * hidden_size + i] =", "output[(long long)(row + 1) * hidden_size + i] =")
        solutions = [solution_with(), solution_with(lambda text: text.replace("sum / hidden_size", "sum / 32")),
                     solution_with(lambda text: text.replace("rsqrtf", "rsqrtq")), solution_with(outside),
                     solution_with(change_description=lambda text: text.replace('"weight"', '"weights"'))]
        for solution, name in zip(solutions, ("right", "wrong", "broken", "outside", "unnamed")):
            solution["name"] = name
        status, traces, err, text = self.judge(*solutions)
        self.assertEqual(status, 0, err)
        found = {(trace["solution"], trace["evaluation"]["status"]) for trace in traces}
        self.assertEqual(found, {("right", "PASSED"), ("wrong", "INCORRECT_NUMERICAL"), ("broken", "COMPILE_ERROR"), ("outside", "RUNTIME_ERROR"),
                                 ("unnamed", "COMPILE_ERROR")})
        self.assertEqual(len(traces), 10)
        right, wrong = traces[0]["evaluation"], traces[2]["evaluation"]
        self.assertLess(right["correctness"]["max_relative_error"], right["correctness"]["extra"]["bound_row_relative_l2"])
        self.assertGreater(right["performance"]["latency_ms"], 0)
        self.assertEqual(right["correctness"]["extra"]["latency_is"], "predicted")
        self.assertGreater(wrong["correctness"]["max_absolute_error"], 0)
        self.assertIn("rsqrtq", traces[4]["evaluation"]["log"])
        self.assertIsNone(traces[4]["evaluation"]["correctness"])
        validate(text)

    def test_a_server_elsewhere_judges(self):
        folder, other = self.imported(), os.path.join(self.folder, "axpy.json")
        with open(other, "w", encoding="utf-8") as file:
            json.dump({"template": os.path.abspath("tests/templates/axpy"), "cases": [{"N": 100}], "device": DEVICE[1]}, file)
        for config, said in ((os.path.join(folder, "config.json"), ""), (other, "judges axpy of 1 cases: start it with")):
            with serving.Server(serving.serve_command(config, DEVICE[1])) as server:
                status, text, err = run(flashinfer, "judge", folder, path("rmsnorm_warp.json"), "--url", server.url)
                self.assertIn(said, err)
                self.assertEqual(status, 2 if said else 0)
                self.assertEqual([json.loads(line)["evaluation"]["status"] for line in text.splitlines()], [] if said else ["PASSED", "PASSED"])

    def test_a_reference_that_fails_gives_no_trace(self):
        definition = load("rmsnorm.json")
        definition["reference"] = definition["reference"].replace("== 96", "== 95")
        out = os.path.join(self.folder, "problem")
        self.assertEqual(run(flashinfer, "import", save(self.folder, "d.json", definition), path("rmsnorm.jsonl"), "--out", out)[0], 0)
        status, text, err = run(flashinfer, "judge", out, path("rmsnorm_warp.json"), *DEVICE)
        self.assertEqual((status, text), (1, ""))
        self.assertIn("AssertionError", err)
        status, text, _ = run(flashinfer, "judge", out, path("rmsnorm_warp.json"), *DEVICE, "--words", "sol")
        self.assertEqual({json.loads(line)["evaluation"]["status"] for line in text.splitlines()}, {"INVALID_REFERENCE"})

    def test_every_verdict_has_a_word_or_none(self):
        with open("search/outcome/outcome.c", encoding="utf-8") as file:
            names = {line.split('"')[1] for line in file if line.strip().startswith("[VERDICT_")}
        self.assertEqual(names, set(flashinfer.STATUS))
        self.assertEqual(names, set(flashinfer.SOL_STATUS))
        for verdict, status in flashinfer.STATUS.items():
            if status is not None:
                case = {"errors": {"row_relative_l2": 0.1, "max_absolute": 1.0, "relative_l2": 0.1}, "bound": None, "warm": {"p50_us": 3.0}, "cold": {"p50_us": 4.0}}
                answer = {"verdict": verdict, "reason": "why", "cases": [case], "predicted": False, "wrong": {"elements": [{"got": "nan", "wanted": 1}]}}
                workload = {"uuid": "u", "axes": {"batch_size": 2}, "inputs": {"hidden_states": {"type": "random"}}}
                trace = flashinfer.trace_of("d", workload, "s", answer, {"hardware": "h", "libs": {}}, "flashinfer")
                self.assertEqual(trace["evaluation"]["status"], status)
                validate(json.dumps(trace))
                if verdict == "ok":
                    self.assertEqual(trace["evaluation"]["performance"]["latency_ms"], 0.004)


def validate(text):
    """By the package's own models, if they are there."""
    if MODELS is None:
        return
    program = """
import importlib.util, sys, types
top = importlib.util.find_spec("flashinfer_bench").submodule_search_locations[0]
for name, folder in (("flashinfer_bench", top), ("flashinfer_bench.data", top + "/data")):  # without what imports PyTorch
    module = types.ModuleType(name)
    module.__path__ = [folder]
    sys.modules[name] = module
from flashinfer_bench.data.trace import Trace
lines = sys.stdin.read().splitlines()
for line in lines:
    trace = Trace.model_validate_json(line)
    assert trace.definition and trace.evaluation is not None
    Trace.model_validate_json(trace.model_dump_json())
print(len(lines))
"""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run([MODELS, "-c", program], input=text, capture_output=True, text=True, env=environment, check=False)
    if ran.returncode != 0 or ran.stdout.strip() != str(len(text.splitlines())):
        raise AssertionError(ran.stderr[-3000:])


class KernelBench(Case):
    def imported_module(self, *more):
        out = os.path.join(self.folder, "problem")
        status, _, err = run(kernelbench, "import", path("7_Linear_ReLU.py"), "--out", out, "--python", PYTHON, *more)
        self.assertEqual(status, 0, err)
        return out

    def test_sizes_and_fills(self):
        folder = self.imported_module("--probe", '{"batch_size": 3, "in_features": 5}')
        with open(os.path.join(folder, "Linear_ReLU/problem.json"), encoding="utf-8") as file:
            problem = json.load(file)
        self.assertEqual(list(problem["tensors"]), ["x", "p_linear_weight", "p_linear_bias", "out"])
        self.assertEqual(problem["derived"], {"x_0": "SET == 0 ? 33 : 3", "x_1": "SET == 0 ? 64 : 5"})
        self.assertEqual(problem["tensors"]["p_linear_weight"]["shape"], ["40", "SET == 0 ? 64 : 5"])
        least, most = problem["tensors"]["p_linear_weight"]["fill"]["uniform"]
        self.assertTrue(-0.125 <= least < -0.1 and 0.1 < most <= 0.125)
        self.assertEqual(problem["probe_cases"], [{"SET": 1}])

    def test_modules_that_cannot_be_judged_are_refused(self):
        with open(path("7_Linear_ReLU.py"), encoding="utf-8") as file:
            source = file.read()
        for text, words in ((source.replace("def get_inputs", "def inputs"), "get_inputs"), (source.replace("class Model", "class Modal"), "Model"),
                            (source.replace("torch.relu(self.linear(x))", "self.linear(x) + torch.rand(1)"), "differ"),
                            (source.replace("torch.relu(self.linear(x))", "self.missing(x)"), "does not run")):
            module = save(self.folder, "8_Other.py", text)
            status, _, err = run(kernelbench, "import", module, "--out", os.path.join(self.folder, "no"), "--python", PYTHON)
            self.assertEqual((status, len(err.splitlines())), (2, 1), err)
            self.assertIn(words, err)
        status, _, err = run(kernelbench, "import", path("7_Linear_ReLU.py"), "--out", os.path.join(self.folder, "no"), "--probe", '{"rows": 3}')
        self.assertEqual(status, 2)
        self.assertIn("'rows'", err)

    def test_a_winner_becomes_a_module(self):
        folder = self.imported_module("--probe", '{"batch_size": 3, "in_features": 5}')
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
            config = json.load(file)
        config["template"] = "./Linear_ReLU/linear_relu"
        shutil.copytree(path("linear_relu"), os.path.join(folder, "Linear_ReLU/linear_relu"))
        results = os.path.join(self.folder, "run")
        ran = subprocess.run([EVOTILE, "run", save(folder, "run.json", config), "--out", results, "--trials", "2", *DEVICE], capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        out = os.path.join(self.folder, "winners")
        nvcc = os.environ.get("NVCC", "/usr/local/cuda/bin/nvcc")
        if not os.path.exists(nvcc):
            self.skipTest("nvcc is missing")
        status, _, err = run(kernelbench, "report", folder, results, "--out", out, "--nvcc", nvcc)
        self.assertEqual(status, 0, err)
        with open(os.path.join(out, "kernelbench_report.json"), encoding="utf-8") as file:
            winner = json.load(file)["winners"][0]
        self.assertEqual((winner["problem"], winner["problem_id"], winner["predicted"]), ("Linear_ReLU", 7, True))
        self.assertLess(winner["errors"]["relative_l2"], winner["bound"]["relative_l2"])
        self.check_module(out, winner["library"])

    def check_module(self, out, library):
        """The library loads and answers; without a driver beside an empty one."""
        with open(os.path.join(out, "Linear_ReLU.py"), encoding="utf-8") as file:
            compile(file.read(), "Linear_ReLU.py", "exec")
        empty = os.path.join(self.folder, "driver")
        os.makedirs(empty)
        subprocess.run(["cc", "-shared", "-x", "c", "-Wl,-soname,libcuda.so.1", "-o", os.path.join(empty, "libcuda.so.1"), "/dev/null"], check=True)
        program = ("import Linear_ReLU as module\nmodel = module.ModelNew(*module.get_init_inputs())\nprint(model.evotile_workspace)\n"
                   "print(model.evotile.Linear_ReLU_launch(None, None, None, 0, None))\n")
        ran = subprocess.run([PYTHON, "-c", program], cwd=out, capture_output=True, text=True, check=False,
                             env={**os.environ, "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", "") + ":" + empty})
        self.assertEqual((ran.stdout.split(), ran.stderr), (["0", "-1"], ""), library)


if __name__ == "__main__":
    PYTHON, FOLDER, *rest = sys.argv[1:]
    MODELS = rest[0] if rest else None
    unittest.main(argv=[sys.argv[0]], verbosity=1)
