# The baseline of gemm: what it asks of cuBLASLt, of which it takes the fastest algorithm, and what it says where an
# implementation does not fit; that of add_rms_norm with cuDNN. PyTorch and the GPU are stand-ins (stand_in/torch.py), and so
# are cuBLASLt, a library in C that has the declarations of cublasLt.h which the baseline calls through ctypes, and cuDNN's
# front end: both check that each product fits together.
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$ROOT/tests/cli/stand_in:$ROOT/templates/lib LD_LIBRARY_PATH=$PWD
cat >cublaslt.c <<'C'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct operation { int32_t trans_a, trans_b, epilogue, bias_type; void *bias; };
struct layout { int type; uint64_t rows, columns; int64_t pitch, stride; int32_t batch; };
struct result { uint64_t algorithm[8]; size_t workspace; int state; float waves; int reserved[4]; };
static int calls;

static void must(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "cuBLASLt: %s\n", what);
        exit(1);
    }
}
int cublasLtCreate(void **handle) { *handle = &calls; return 0; }
int cublasLtMatmulDescCreate(struct operation **made, int compute, int scale) {
    must(compute == 68 && scale == 0, "sums and scales in float");
    *made = calloc(1, sizeof **made);
    return 0;
}
int cublasLtMatmulDescSetAttribute(struct operation *of, int attribute, const void *value, size_t size) {
    void *to = attribute == 3 ? (void *)&of->trans_a : attribute == 4 ? (void *)&of->trans_b
             : attribute == 7 ? (void *)&of->epilogue : attribute == 8 ? (void *)&of->bias
             : attribute == 26 ? (void *)&of->bias_type : NULL;
    must(to != NULL && size == (attribute == 8 ? 8 : 4), "an attribute of an operation");
    memcpy(to, value, size);
    return 0;
}
int cublasLtMatrixLayoutCreate(struct layout **made, int type, uint64_t rows, uint64_t columns, int64_t pitch) {
    *made = calloc(1, sizeof **made);
    **made = (struct layout){type, rows, columns, pitch, 0, 1};
    return 0;
}
int cublasLtMatrixLayoutSetAttribute(struct layout *of, int attribute, const void *value, size_t size) {
    must((attribute == 5 && size == 4) || (attribute == 6 && size == 8), "an attribute of a layout");
    memcpy(attribute == 5 ? (void *)&of->batch : (void *)&of->stride, value, size);
    return 0;
}
int cublasLtMatmulPreferenceCreate(void **made) { *made = malloc(8); return 0; }
int cublasLtMatmulPreferenceSetAttribute(void *of, int attribute, const void *value, size_t size) {
    must(of != NULL && attribute == 1 && size == 8 && *(const uint64_t *)value >= 32 << 20, "a workspace");
    return 0;
}
int cublasLtMatmulPreferenceDestroy(void *of) { free(of); return 0; }

/* D = op(A) op(B): m x k, k x n and m x n. */
static void fits(const struct operation *of, const struct layout *a, const struct layout *b, const struct layout *d) {
    uint64_t m = of->trans_a ? a->columns : a->rows, k = of->trans_a ? a->rows : a->columns;
    must(m == d->rows && k == (of->trans_b ? b->columns : b->rows), "the factors do not fit");
    must((of->trans_b ? b->rows : b->columns) == d->columns, "the product does not fit");
    for (int i = 0; i < 3; i++) {
        const struct layout *one = i == 0 ? a : i == 1 ? b : d;
        must(one->pitch == (int64_t)one->rows && one->batch == d->batch && one->type == d->type, "a layout");
        must(one->batch == 1 || one->stride == (int64_t)(one->rows * one->columns), "a batch");
    }
    must((of->bias != NULL) == ((of->epilogue & 4) != 0) && (!of->bias || of->bias_type == d->type), "the bias");
}
int cublasLtMatmulAlgoGetHeuristic(void *handle, const struct operation *of, const struct layout *a, const struct layout *b,
                                   const struct layout *c, const struct layout *d, void *preference, int asked,
                                   struct result *results, int *count) {
    must(handle == &calls && preference != NULL && asked == 100 && c == d, "what is asked");
    fits(of, a, b, d);
    printf("%s%s m %d n %d k %d batch %d type %d epilogue %d\n", of->trans_a ? "T" : "N", of->trans_b ? "T" : "N",
           (int)d->rows, (int)d->columns, (int)(of->trans_a ? a->rows : a->columns), d->batch, d->type, of->epilogue);
    fflush(stdout);
    *count = d->rows == 24 ? 0 : 4;
    for (int i = 0; i < *count; i++)
        results[i] = (struct result){.algorithm = {(uint64_t)i + 1}, .state = i == 1 ? 7 : 0};
    return 0;
}
int cublasLtMatmul(void *handle, const struct operation *of, const float *alpha, const void *a, const struct layout *a_layout,
                   const void *b, const struct layout *b_layout, const float *beta, const void *c, const struct layout *c_layout,
                   void *d, const struct layout *d_layout, const uint64_t *algorithm, void *workspace, size_t bytes,
                   void *stream) {
    must(handle == &calls && *alpha == 1 && a && b && c && d && workspace == (void *)8192 && bytes >= 32 << 20, "a call");
    must(stream == (void *)16 && c_layout == d_layout, "a stream");
    fits(of, a_layout, b_layout, d_layout);
    must(*algorithm != 2, "an algorithm that is not offered");
    if (++calls == 1)
        printf("beta %g\n", *beta);
    fflush(stdout);
    return *algorithm == 3 ? 15 : 0; /* offered, and refused */
}
C
cc -shared -fPIC -o libcublasLt.so cublaslt.c
mkdir packages
cat >packages/cudnn.py <<'PYTHON'
import sys
from unittest.mock import MagicMock

data_type, heur_mode, norm_forward_phase = MagicMock(), MagicMock(), MagicMock(INFERENCE="inference")
create_handle, set_stream = lambda: 9, lambda handle, stream: None


class Tensor:
    def __init__(self, dim, stride=None, says=""): self.dim, self.stride, self.says = dim, stride, says
    def set_output(self, value): return self
    def set_data_type(self, value): return self


class pygraph:
    def __init__(self, handle, **types): self.described, self.last = [], None

    def given(self, tensor):
        self.described.append(tensor)
        return tensor

    def tensor(self, dim, stride): return self.given(Tensor(dim, stride, f"{dim} by {stride}"))
    def tensor_like(self, tensor): return self.given(Tensor(None))

    def result(self, dim, says):
        self.last = Tensor(dim, says=says)
        return self.last

    def matmul(self, A, B):
        (batch, m, k), (batches, depth, n) = A.dim, B.dim
        assert batch == batches and k == depth, "the factors do not fit"
        for one in A, B:  # all elements, each once
            assert sorted(one.stride[1:])[0] == 1 and one.stride[0] == one.dim[1] * one.dim[2] and \
                max(one.stride[1:]) == (one.dim[2] if one.stride[2] == 1 else one.dim[1]), "a factor's strides"
        return self.result([batch, m, n], f"{A.says} times {B.says}")

    def bias(self, input, bias):
        assert bias.dim == [1, 1, input.dim[2]] and bias.stride[2] == 1, "the bias does not fit"
        return self.result(input.dim, input.says + ", bias")

    def add(self, a, b):
        assert a.dim == b.dim and b.stride == [b.dim[1] * b.dim[2], b.dim[2], 1], "the residual does not fit"
        return self.result(a.dim, a.says + ", residual")

    def gelu_approx_tanh(self, input): return self.result(input.dim, input.says + ", GELU")
    def swish(self, input): return self.result(input.dim, input.says + ", SiLU")

    def rmsnorm(self, norm_forward_phase, input, scale, epsilon):
        assert norm_forward_phase == "inference" and len({input, scale, epsilon}) == 3
        return [self.result(None, "rmsnorm"), None]

    def build(self, modes): print("cuDNN:", self.last.says, file=sys.stderr)
    def get_workspace_size(self): return 0

    def execute(self, bound, workspace, handle):
        assert handle == 9 and set(bound) == {*self.described, self.last} and None not in bound.values()
PYTHON
ask() { # CHANGED DIMENSIONS: what the baseline answers
    jq -nc --argjson case "{\"M\": 5, \"N\": 16, \"K\": 40, \"BATCH\": 1, \"TRANS_A\": 0, \"TRANS_B\": 1, \"BF16\": 1, $1}" '
        {ask: "begin", protocol: 1, device: "cuda:0", device_name: "a GPU"},
        ({ask: "capture", case: $case, launches: 4, sets: 2,
          implementation: ("cublaslt", "eager", "addmm_gelu", "compiled", "cudnn_frontend")},
         {ask: "warm", warmup_us: 100, samples: 2})' |
        (cd "$ROOT/templates/gemm" && python3 "$ROOT/templates/lib/torch_baseline.py" baseline.py 2>&1) |
        grep -v 'nothing is captured'
}
ask '"EPILOGUE": 0'
export PYTHONPATH=$PWD/packages:$PYTHONPATH
ask '"EPILOGUE": 2, "TRANS_A": 1, "TRANS_B": 0'
ask '"EPILOGUE": 3, "BATCH": 7, "BF16": 0'
ask '"EPILOGUE": 4' | grep -e beta -e ' m ' -e cuDNN
echo "no algorithm"
ask '"EPILOGUE": 1, "N": 24' | grep -e unable
cat >choice.py <<'PYTHON'
import contextlib
import random
import sys
sys.path.insert(0, sys.argv[1])
import torch
import baseline


class Clock:
    """Of a GPU: what it has computed so far, in us. It counts what is captured apart."""
    us, captured = 0.0, None

    def add(self, us):
        if self.captured is None:
            self.us += us
        else:
            self.captured += us


class Event:
    def __init__(self, **options): pass
    def record(self): self.at = clock.us
    def elapsed_time(self, end): return (end.at - self.at) / 1e3


class Graph:
    def replay(self): clock.add(self.us)


@contextlib.contextmanager
def capture(graph):
    clock.captured = 0.0
    yield
    graph.us, clock.captured = clock.captured, None


class Set:
    """Of inputs: an algorithm is what a call takes, negative if it is refused, or over 1000 if only its capture is."""
    def offered(self): return algorithms

    def run(self, us):
        if us < 0 or (us > 1000 and clock.captured is not None):
            raise NotImplementedError("refused")
        captured.update([us] if clock.captured is not None else [])
        clock.add(us if us in loaded else us + 1e6)  # the first call loads a kernel
        clock.add(50 * us if random.random() < 0.1 and clock.captured is None else 0)  # something else runs
        loaded.add(us)


torch.cuda.Event, torch.cuda.CUDAGraph, torch.cuda.graph = Event, Graph, capture
baseline.Matmul.library = torch.cuda
random.seed(1)
for _ in range(200):
    clock, loaded, captured = Clock(), set(), set()
    algorithms = [random.choice((3, 300)) * random.uniform(1, 3) for _ in range(30)] + [-1]
    random.shuffle(algorithms)
    least = min(us for us in algorithms if us > 0)
    assert baseline.fastest([Set() for _ in range(4)]) == least, (least, algorithms)
    assert max(captured) < 2.1 * least, "what is far from the fastest is not captured"
for algorithms in [-1, -1], [1500.0], []:
    clock, loaded, captured = Clock(), set(), set()
    try:
        baseline.fastest([Set() for _ in range(4)])
        raise AssertionError(algorithms)
    except NotImplementedError as reason:
        print(reason)
PYTHON
python3 choice.py "$ROOT/templates/gemm" 2>progress
sed -n 1,3p progress | sed 's/[0-9.]\{1,\}/*/g'

echo "a norm"
norm='{"ask":"begin","protocol":1,"device":"cuda:0"}
{"ask":"capture","case":{"ROWS":8,"COLS":64,"EPSILON":1e-5,"BF16":1},"implementation":"cudnn_frontend","launches":4,"sets":2}'
echo "$norm" | (cd "$ROOT/templates/add_rms_norm" && python3 "$ROOT/templates/lib/torch_baseline.py" baseline.py 2>&1)
echo "$norm" | (cd "$ROOT/templates/add_rms_norm" && PYTHONPATH=$ROOT/tests/cli/stand_in python3 "$ROOT/templates/lib/torch_baseline.py" baseline.py 2>&1)
