"""The script of a search: 50 candidates for axpy_base, which stand for what a model writes.

Each has a name, what takes the place of the evolved block, and the verdicts that it may have. They are good, bad and cheating: the
good ones differ in speed, the cheating ones are right in some calls or for some shapes. Every candidate is whole, so that its verdict
does not depend on the parent that a search chose.
"""
import os
import re

BASE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "axpy_base")
HEAD = 'extern "C" __global__ void axpy(const float *x, const float *y, float *z, int N, float ALPHA) {'
OK = "ok"
FIRST = "blockIdx.x * THREADS + threadIdx.x"
ALL = "BLOCKS * THREADS"


def loop(statement, first=FIRST, condition="i < N", step=ALL, before="", after=""):
    return f"{HEAD}\n    {before}for (int i = {first}; {condition}; i += {step})\n        {statement}\n    {after}\n}}"


def unrolled(count):
    return f"{HEAD}\n    #pragma unroll {count}\n    for (int i = {FIRST}; i < N; i += {ALL})\n        z[i] = ALPHA * x[i] + y[i];\n}}"


def vectors(width, unroll=1, tail=True, load="p[i]"):
    """`width` numbers at a time, and the numbers behind the last whole vector one at a time."""
    type_name, parts = f"float{width}", "xyzw"[:width]
    sums = "".join(f" c.{part} = ALPHA * a.{part} + b.{part};" for part in parts)
    rest = (f"\n    for (int i = N / {width} * {width} + {FIRST}; i < N; i += {ALL})\n        z[i] = ALPHA * x[i] + y[i];" if tail else "")
    return (f"{HEAD}\n    const {type_name} *xs = reinterpret_cast<const {type_name} *>(x), *ys = reinterpret_cast<const {type_name} *>(y);\n"
            f"    {type_name} *zs = reinterpret_cast<{type_name} *>(z);\n    #pragma unroll {unroll}\n"
            f"    for (int i = {FIRST}; i < N / {width}; i += {ALL}) {{\n"
            f"        const {type_name} a = {load.replace('p', 'xs')}, b = {load.replace('p', 'ys')};\n        {type_name} c;{sums}\n"
            f"        zs[i] = c;\n    }}{rest}\n}}")


def loads_first(count):
    """A thread loads `count` numbers of each input before it stores one."""
    return (f"{HEAD}\n    for (int i = {FIRST}; i < N; i += {count} * {ALL}) {{\n        float a[{count}], b[{count}];\n"
            f"        for (int k = 0; k < {count}; ++k) {{\n            const int at = i + k * {ALL};\n"
            f"            a[k] = at < N ? x[at] : 0;\n            b[k] = at < N ? y[at] : 0;\n        }}\n"
            f"        for (int k = 0; k < {count}; ++k)\n            if (i + k * {ALL} < N)\n"
            f"                z[i + k * {ALL}] = ALPHA * a[k] + b[k];\n    }}\n}}")


def staged(barrier):
    """Through shared memory, each thread stores what its neighbour loaded."""
    return (f"{HEAD}\n    __shared__ float staged[THREADS];\n    for (int first = blockIdx.x * THREADS; first < N; first += {ALL}) {{\n"
            f"        const int i = first + threadIdx.x, other = THREADS - 1 - threadIdx.x;\n        {barrier}\n"
            f"        staged[threadIdx.x] = i < N ? ALPHA * x[i] + y[i] : 0;\n        {barrier}\n"
            f"        if (first + other < N)\n            z[first + other] = staged[other];\n    }}\n}}")


def unless(condition, otherwise="z[i] = ALPHA * x[i] + y[i];", statement="z[i] = 0;"):
    return loop(f"if ({condition}) {{ {statement} }} else {{ {otherwise} }}")


CHUNK = f"const int chunk = (N + {ALL} - 1) / ({ALL}), from = ({FIRST}) * chunk;\n    "
SUM = "z[i] = ALPHA * x[i] + y[i];"

CANDIDATES = [
    ("fmaf", loop("z[i] = fmaf(ALPHA, x[i], y[i]);"), OK),
    ("no_semicolon", loop("z[i] = ALPHA * x[i] + y[i]"), "compile_failed"),
    ("unroll_2", unrolled(2), OK),
    ("forgets_y", loop("z[i] = ALPHA * x[i];"), "wrong"),
    ("float2", vectors(2), OK),
    ("unknown_name", loop("z[i] = alpha * x[i] + y[i];"), "compile_failed"),
    ("read_only_loads", loop("z[i] = ALPHA * __ldg(x + i) + __ldg(y + i);"), OK),
    ("one_too_many", loop(SUM, condition="i <= N"), "crashed"),
    ("unroll_8", unrolled(8), OK),
    ("zeros", loop("z[i] = 0;"), "wrong"),
    ("loads_first_4", loads_first(4), OK),
    ("no_tail", vectors(4, tail=False), "wrong"),
    ("backward", loop(SUM, first=f"N - 1 - ({FIRST})", condition="i >= 0", step=f"-{ALL}"), OK),
    ("open_brace", loop(SUM) + "\nvoid open() {", "compile_failed"),
    ("staged", staged("__syncthreads();"), OK),
    ("racy", staged(""), "racy"),
    ("chunks", f"{HEAD}\n    {CHUNK}for (int i = from; i < N && i < from + chunk; ++i)\n        {SUM}\n}}", OK),
    ("alpha_is_2", loop("z[i] = 2 * x[i] + y[i];"), "wrong"),
    ("double", loop("z[i] = (float)((double)ALPHA * x[i] + y[i]);"), OK),
    ("wrong_stride", loop(SUM, step=f"2 * {ALL}"), "wrong"),
    ("float4", vectors(4), OK),
    ("remembers", f"__device__ int called;\n{HEAD}\n    if (called)\n        return;\n    for (int i = {FIRST}; i < N; i += {ALL})\n        {SUM}\n"
                  "    __syncthreads();\n    if (threadIdx.x == 0)\n        called = 1;\n}", "racy"),
    ("streaming_stores", loop("__stcs(z + i, ALPHA * x[i] + y[i]);"), OK),
    ("includes_elsewhere", '#include "/etc/hostname"\n' + loop(SUM), "invalid"),
    ("float4_unroll_2", vectors(4, 2), OK),
    ("endless", loop(SUM, step="0"), "timeout"),
    ("wide_index", loop(SUM).replace("int i", "long long i"), OK),
    ("small_shapes_only", unless("N >= 4096 && i >= N / 2"), "wrong"),
    ("float4_unroll_4", vectors(4, 4), OK),
    ("other_name", loop(SUM).replace(" axpy(", " saxpy("), "launch_failed"),
    ("loads_first_8", loads_first(8), OK),
    ("no_alpha", loop("z[i] = x[i] + y[i];"), "wrong"),
    ("float4_streaming", vectors(4, 2, load="__ldcs(p + i)"), OK),
    ("half", "#include <cuda_fp16.h>\n" + loop("z[i] = __half2float(__hadd(__hmul(__float2half(ALPHA), __float2half(x[i])), "
                                               "__float2half(y[i])));"), "wrong"),
    ("unroll_16", unrolled(16), OK),
    ("misaligned", vectors(4).replace("<const float4 *>(x)", "<const float4 *>(x + 1)"), "crashed"),
    ("float4_unroll_8", vectors(4, 8), OK),
    ("listed_shapes_only", unless("N != 5 && N != 131 && N != 4096 && N != 65536"), "wrong"),
    ("fmaf_rounded", loop("z[i] = __fmaf_rn(ALPHA, x[i], y[i]);"), OK),
    ("writes_inputs", loop("z[i] = ALPHA * x[i] + y[i]; const_cast<float *>(x)[i] = 0;").replace("        z[i]", "        { z[i]")
     .replace("[i] = 0;", "[i] = 0; }"), "changed_input"),
    ("float4_ldg", vectors(4, 4, load="__ldg(p + i)"), OK),
    ("no_such_header", "#include <no_such_header.h>\n" + loop(SUM), "compile_failed"),
    ("loads_first_2", loads_first(2), OK),
    ("nothing", "", "launch_failed"),
    ("starts_at_1", loop(SUM, first=f"1 + {FIRST}"), "wrong"),
    ("past_the_end", loop("z[i + 1] = ALPHA * x[i] + y[i];"), "wrote_outside"),
    ("keeps_the_first_answer", "__device__ float kept[1048576];\n__device__ int kept_count;\n" + HEAD + f"\n    const bool same = kept_count == N;\n"
     f"    for (int i = {FIRST}; i < N; i += {ALL}) {{\n        if (!same)\n            kept[i] = ALPHA * x[i] + y[i];\n        z[i] = kept[i];\n    }}\n"
     "    __syncthreads();\n    if (threadIdx.x == 0)\n        kept_count = N;\n}", "wrong"),
    ("gene_again", "#define THREADS 32\n" + loop(SUM), "invalid"),
    ("unwritten_shared", f"{HEAD}\n    __shared__ float unset[THREADS];\n    for (int i = {FIRST}; i < N; i += {ALL})\n"
                         "        z[i] = ALPHA * x[i] + y[i] + 0 * unset[threadIdx.x];\n}", "wrong"),
    ("adds_to_the_output", loop("z[i] = z[i] * 0 + ALPHA * x[i] + y[i];"), "wrong"),
]


def source_of(name, block):
    """The whole kernel.cu, which says whose it is."""
    with open(os.path.join(BASE, "kernel.cu"), encoding="utf-8") as file:
        text = file.read()
    start, end = "// EVOLVE-BLOCK-START\n", "// EVOLVE-BLOCK-END"
    return text[:text.index(start) + len(start)] + f"// candidate: {name}\n{block}\n" + text[text.index(end):]


def name_of(source):
    """The candidate whose source this is; "base" if it is none."""
    found = re.search(r"^// candidate: (\w+)$", source, re.M)
    return found[1] if found else "base"


def answer_of(number):
    """What a model would write: one text that the three packages can read."""
    name, block, _ = CANDIDATES[number % len(CANDIDATES)]
    return (f"name: {name}\n\n<NAME>\n{name}\n</NAME>\n\n<DESCRIPTION>\nThe candidate {name}.\n</DESCRIPTION>\n\n<CODE>\n```cuda\n"
            f"{source_of(name, block)}```\n</CODE>\n\nthought: The candidate {name}.\n")


EXPECTED = {name: verdicts for name, _, verdicts in CANDIDATES}
assert len(EXPECTED) == len(CANDIDATES) == 50
