"""What a user would run instead of gemm; torch_baseline.py times it.

cublaslt   cublasLtMatmul with its own epilogue (bias, GELU by tanh, beta = 1 for a residual): of all algorithms that its
           heuristic offers, at most 100, the fastest, found before anything else is timed. It has no SiLU: a kernel of
           PyTorch follows there.
eager      torch.matmul, addmm or baddbmm, and the epilogue as calls of its own
addmm_gelu torch._addmm_activation, whose GELU is cuBLASLt's
compiled   eager by torch.compile, with its own templates of products
cudnn_frontend  a graph of cuDNN's front end: the product and its epilogue
"""
import ctypes
import sys

import torch
import torch.nn.functional as functional

import cudnn_graph

NONE, BIAS, GELU, SILU, RESIDUAL = range(5)
ALGORITHMS = 100
WORKSPACE_BYTES = 64 << 20
NEAR = 2  # roughly so many times as long as the fastest: may still be it
LONG_US = 100  # one call with each set of inputs is enough to time it

# Numbers of cublasLt.h and library_types.h.
COMPUTE_32F, R_32F = 68, 0
DTYPES = {torch.float16: 2, torch.bfloat16: 14}
TRANSA, TRANSB, EPILOGUE_OF, BIAS_POINTER, BIAS_TYPE = 3, 4, 7, 8, 26
EPILOGUES = {NONE: 1, BIAS: 4, GELU: 36, SILU: 4, RESIDUAL: 1}
LAYOUT_BATCH_COUNT, LAYOUT_BATCH_STRIDE, PREFERENCE_WORKSPACE = 5, 6, 1


class HeuristicResult(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t."""
    _fields_ = [("algorithm", ctypes.c_uint64 * 8), ("workspace_bytes", ctypes.c_size_t), ("state", ctypes.c_int),
                ("waves", ctypes.c_float), ("reserved", ctypes.c_int * 4)]


class Library:
    """libcublasLt, the one that PyTorch has loaded if there is one."""

    def __init__(self):
        self.library = None
        for name in self.names():
            try:
                self.library = ctypes.CDLL(name)
                break
            except OSError:
                pass
        if self.library is None:
            raise NotImplementedError("libcublasLt cannot be loaded")
        self.handle = ctypes.c_void_p()
        self.call("cublasLtCreate", ctypes.byref(self.handle))
        self.workspace = torch.empty(WORKSPACE_BYTES, device="cuda", dtype=torch.uint8)

    @staticmethod
    def names():
        try:
            with open("/proc/self/maps") as maps:
                loaded = {line.split()[-1] for line in maps if "libcublasLt.so" in line}
        except OSError:
            loaded = set()
        return [*sorted(loaded), "libcublasLt.so", *(f"libcublasLt.so.{major}" for major in (13, 12))]

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            raise NotImplementedError(f"{name} returned {status}")

    def set(self, name, of, attribute, value):
        self.call(name, of, attribute, ctypes.byref(value), ctypes.c_size_t(ctypes.sizeof(value)))


class Inputs:
    """A set of inputs, with the weight and C as they are stored."""

    def __init__(self, case):
        self.case, self.chosen = case, {}
        self.dtype = torch.bfloat16 if case["BF16"] else torch.float16
        m, n, k = case["M"], case["N"], case["K"]
        self.a = self.tensor(*(k, m) if case["TRANS_A"] else (m, k))
        self.b = self.tensor(*(n, k) if case["TRANS_B"] else (k, n))
        self.c = self.tensor(m, n)
        self.bias = torch.randn(n, device="cuda", dtype=self.dtype)
        self.residual = self.tensor(m, n)

    def tensor(self, rows, columns):
        batch = (self.case["BATCH"],) if self.case["BATCH"] > 1 else ()
        return torch.randn(*batch, rows, columns, device="cuda", dtype=self.dtype)

    def operands(self):
        a = self.a.transpose(-1, -2) if self.case["TRANS_A"] else self.a
        return a, self.b.transpose(-1, -2) if self.case["TRANS_B"] else self.b


class Matmul:
    """One cublasLtMatmul: the descriptors of a set of inputs. The library's matrices are stored by columns, so that it
    computes C^T = B^T A^T."""

    library = None  # of all of them: opened when the first one is made
    algorithms = {}  # the fastest of each case

    def __init__(self, inputs):
        if Matmul.library is None:
            Matmul.library = Library()
        self.inputs, library, case = inputs, Matmul.library, inputs.case
        self.operation, self.layouts = ctypes.c_void_p(), {}
        library.call("cublasLtMatmulDescCreate", ctypes.byref(self.operation), COMPUTE_32F, R_32F)
        attributes = [(TRANSA, ctypes.c_int32(case["TRANS_B"])), (TRANSB, ctypes.c_int32(case["TRANS_A"])),
                      (EPILOGUE_OF, ctypes.c_int32(EPILOGUES[case["EPILOGUE"]]))]
        if case["EPILOGUE"] in (BIAS, GELU, SILU):
            attributes += [(BIAS_POINTER, ctypes.c_void_p(inputs.bias.data_ptr())),
                           (BIAS_TYPE, ctypes.c_int32(DTYPES[inputs.dtype]))]
        for attribute, value in attributes:
            library.set("cublasLtMatmulDescSetAttribute", self.operation, attribute, value)
        m, n, k = case["M"], case["N"], case["K"]
        for name, rows, columns in (("b", k if case["TRANS_B"] else n, n if case["TRANS_B"] else k),
                                    ("a", m if case["TRANS_A"] else k, k if case["TRANS_A"] else m), ("c", n, m)):
            layout = ctypes.c_void_p()
            library.call("cublasLtMatrixLayoutCreate", ctypes.byref(layout), DTYPES[inputs.dtype],
                         ctypes.c_uint64(rows), ctypes.c_uint64(columns), ctypes.c_int64(rows))
            if case["BATCH"] > 1:
                library.set("cublasLtMatrixLayoutSetAttribute", layout, LAYOUT_BATCH_COUNT, ctypes.c_int32(case["BATCH"]))
                library.set("cublasLtMatrixLayoutSetAttribute", layout, LAYOUT_BATCH_STRIDE,
                            ctypes.c_int64(rows * columns))
            self.layouts[name] = layout
        self.one = ctypes.c_float(1)
        self.beta = ctypes.c_float(case["EPILOGUE"] == RESIDUAL)

    def offered(self):
        """The algorithms that the heuristic offers, at most ALGORITHMS."""
        library, preference, count = Matmul.library, ctypes.c_void_p(), ctypes.c_int()
        results = (HeuristicResult * ALGORITHMS)()
        library.call("cublasLtMatmulPreferenceCreate", ctypes.byref(preference))
        library.set("cublasLtMatmulPreferenceSetAttribute", preference, PREFERENCE_WORKSPACE,
                    ctypes.c_uint64(WORKSPACE_BYTES))
        library.call("cublasLtMatmulAlgoGetHeuristic", library.handle, self.operation, self.layouts["b"],
                     self.layouts["a"], self.layouts["c"], self.layouts["c"], preference, ALGORITHMS, results,
                     ctypes.byref(count))
        library.call("cublasLtMatmulPreferenceDestroy", preference)
        found = [result for result in results[: count.value] if result.state == 0]
        if not found:
            raise NotImplementedError("cuBLASLt offers no algorithm")
        return found

    def run(self, algorithm):
        inputs = self.inputs
        pointer = lambda tensor: ctypes.c_void_p(tensor.data_ptr())
        added = inputs.residual if inputs.case["EPILOGUE"] == RESIDUAL else inputs.c
        Matmul.library.call(
            "cublasLtMatmul", Matmul.library.handle, self.operation, ctypes.byref(self.one), pointer(inputs.b),
            self.layouts["b"], pointer(inputs.a), self.layouts["a"], ctypes.byref(self.beta), pointer(added),
            self.layouts["c"], pointer(inputs.c), self.layouts["c"], ctypes.byref(algorithm.algorithm),
            pointer(Matmul.library.workspace), ctypes.c_size_t(WORKSPACE_BYTES),
            ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
        return functional.silu(inputs.c) if inputs.case["EPILOGUE"] == SILU else inputs.c


def runs(matmuls, algorithm):
    """Whether it is not refused. The first call loads its kernel, which takes far longer than the call."""
    try:
        for one in matmuls:
            one.run(algorithm)
        torch.cuda.synchronize()
    except RuntimeError:
        return False
    return True


def rough_us(matmuls, algorithm):
    """Of a call: the least of one with each set of inputs. The GPU clears memory until all are queued, so that it need not
    wait for the host between two events."""
    for _ in range(16):
        Matmul.library.workspace.zero_()
    marks = []
    for one in matmuls:
        marks.append([torch.cuda.Event(enable_timing=True) for _ in range(2)])
        marks[-1][0].record()
        one.run(algorithm)
        marks[-1][1].record()
    torch.cuda.synchronize()
    return min(start.elapsed_time(end) * 1e3 for start, end in marks)


def graph_us(matmuls, algorithm, rounds):
    """Of a call: the median of five replays of a graph of so many calls with each set of inputs."""
    graph, times = torch.cuda.CUDAGraph(), []
    with torch.cuda.graph(graph):
        for _ in range(rounds):
            for one in matmuls:
                one.run(algorithm)
    graph.replay()
    for _ in range(5):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) * 1e3 / (rounds * len(matmuls)))
    return sorted(times)[2]


def fastest(matmuls):
    """Of the algorithms that are offered for the first, each timed on all in turn, the fastest. All are timed roughly
    first: a capture takes longer than some calls, and an algorithm that takes twice as long as another is not it."""
    report = lambda text: print(f"cuBLASLt: {text}", file=sys.stderr, flush=True)
    offered = matmuls[0].offered()
    report(f"loads the kernels of {len(offered)} algorithms")
    usable = [algorithm for algorithm in offered if runs(matmuls, algorithm)]
    rough = [rough_us(matmuls, algorithm) for algorithm in usable]
    near = [algorithm for algorithm, us in zip(usable, rough) if us <= NEAR * min(rough)]
    report(f"{len(usable)} run, of which {len(near)} are near the fastest and are timed in graphs")
    times = []
    for algorithm in near:
        try:
            times.append((graph_us(matmuls, algorithm, 1 if min(rough) > LONG_US else 5), algorithm))
        except RuntimeError:
            pass  # it cannot be captured
    if not times:
        raise NotImplementedError("cuBLASLt refuses every algorithm that it offers")
    us, algorithm = min(times, key=lambda one: one[0])
    report(f"the fastest of {len(usable)} algorithms takes {us:.2f} us")
    return algorithm


def cublaslt(inputs):
    case = tuple(inputs.case.items())
    if "cublaslt" not in inputs.chosen:
        inputs.chosen["cublaslt"] = Matmul(inputs)
    if case not in Matmul.algorithms:
        # Four sets of inputs, as a timed graph has.
        Matmul.algorithms[case] = fastest([inputs.chosen["cublaslt"], *(Matmul(Inputs(inputs.case)) for _ in range(3))])
    return inputs.chosen["cublaslt"].run(Matmul.algorithms[case])


def linear(a, b, bias, residual, kind):
    """The product and its epilogue as user code writes them."""
    if kind == RESIDUAL:
        return torch.baddbmm(residual, a, b) if a.dim() == 3 else torch.addmm(residual, a, b)
    if kind == NONE:
        return torch.matmul(a, b)
    z = torch.matmul(a, b) + bias if a.dim() == 3 else torch.addmm(bias, a, b)
    if kind == GELU:
        return functional.gelu(z, approximate="tanh")
    return functional.silu(z) if kind == SILU else z


def eager(inputs):
    return linear(*inputs.operands(), inputs.bias, inputs.residual, inputs.case["EPILOGUE"])


torch._dynamo.config.recompile_limit = 1000  # a shape is a compilation; beyond 8 it would fall back to eager
compiled_linear = torch.compile(linear, dynamic=False, mode="max-autotune-no-cudagraphs")


def compiled(inputs):
    return compiled_linear(*inputs.operands(), inputs.bias, inputs.residual, inputs.case["EPILOGUE"])


def addmm_gelu(inputs):
    if inputs.case["EPILOGUE"] != GELU or inputs.case["BATCH"] > 1:
        raise NotImplementedError("only a product of two matrices with GELU")
    return torch._addmm_activation(inputs.bias, *inputs.operands(), use_gelu=True)


def describe_product(graph, inputs):
    """Adds a product and its epilogue to a graph. Returns the tensor of each description, and the result."""
    case, bound = inputs.case, {}

    def described(tensor, rows, columns, *strides, batch=case["BATCH"]):
        one = graph.tensor(dim=[batch, rows, columns], stride=[rows * columns, *strides])
        bound[one] = tensor
        return one

    m, n, k = case["M"], case["N"], case["K"]
    a = described(inputs.a, m, k, *(1, m) if case["TRANS_A"] else (k, 1))
    b = described(inputs.b, k, n, *(1, k) if case["TRANS_B"] else (n, 1))
    z = graph.matmul(A=a, B=b)
    if case["EPILOGUE"] in (BIAS, GELU, SILU):
        z = graph.bias(input=z, bias=described(inputs.bias, 1, n, n, 1, batch=1))
    if case["EPILOGUE"] == GELU:
        z = graph.gelu_approx_tanh(input=z)
    if case["EPILOGUE"] == SILU:
        z = graph.swish(input=z)
    if case["EPILOGUE"] == RESIDUAL:
        z = graph.add(a=z, b=described(inputs.residual, m, n, n, 1))
    z.set_output(True)
    return bound | {z: inputs.c}, inputs.c


def cudnn_frontend(inputs):
    if "cudnn_frontend" not in inputs.chosen:
        inputs.chosen["cudnn_frontend"] = cudnn_graph.new_graph(
            inputs.case["BF16"], lambda graph: describe_product(graph, inputs))
    return inputs.chosen["cudnn_frontend"]()


def inputs(case):
    return (Inputs(case),)


def check(result, inputs):
    """Whether what a call returned is the product of the inputs in float."""
    in_float = [tensor.float() for tensor in (*inputs.operands(), inputs.bias, inputs.residual)]
    expected = linear(*in_float, inputs.case["EPILOGUE"])
    error = ((result.float() - expected).norm() / expected.norm()).item()
    return None if error < 0.01 else f"an error of {error:.2g} of the product"


NAME = "products"
# Of the first two the version is cuBLASLt's, if PyTorch came with one of them.
PACKAGES = ["nvidia-cublas", "nvidia-cublas-cu12", *cudnn_graph.PACKAGES]
IMPLEMENTATIONS = {"cublaslt": cublaslt, "eager": eager, "addmm_gelu": addmm_gelu, "compiled": compiled,
                   "cudnn_frontend": cudnn_frontend}
