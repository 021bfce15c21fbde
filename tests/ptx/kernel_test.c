/* Whole kernels, compiled by NVRTC, compared with C. */
#include "ptx/harness.h"

#include <math.h>

/* ---- divergence: each lane computes what a single thread computes ---- */

static const char divergence_source[] =
    "extern \"C\" __global__ void wander(const unsigned *in, unsigned *out) {\n"
    "    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i], sum = 0;\n"
    "    if (x % 7 == 3) { out[i] = 12345; return; }\n"
    "    for (unsigned j = 0; j < x % 37; j++) {\n"
    "        if ((x ^ j) & 1) { sum += j * x; if (sum % 5 == 0) continue; }\n"
    "        else if (j & 2) sum ^= x >> (j & 7);\n"
    "        else { unsigned k = j; while (k) { sum += k & 3; k >>= 1; if (sum > 4000000000u) "
    "break; } }\n"
    "        if (sum % 101 == 100) { sum += 7; break; }\n"
    "    }\n"
    "    switch (x & 7) {\n"
    "    case 0: sum += 1; break; case 1: sum *= 3; break; case 2: sum ^= 0xff; break;\n"
    "    case 3: sum -= x; /* falls through */ case 4: sum += 4; break; case 5: sum = ~sum; "
    "break;\n"
    "    case 6: return;\n"
    "    }\n"
    "    out[i] = sum;\n"
    "}\n";

static unsigned diverge(unsigned x, unsigned untouched) {
    unsigned sum = 0;
    if (x % 7 == 3)
        return 12345;
    for (unsigned j = 0; j < x % 37; j++) {
        if ((x ^ j) & 1) {
            sum += j * x;
            if (sum % 5 == 0)
                continue;
        } else if (j & 2) {
            sum ^= x >> (j & 7);
        } else {
            for (unsigned k = j; k;) {
                sum += k & 3;
                k >>= 1;
                if (sum > 4000000000u)
                    break;
            }
        }
        if (sum % 101 == 100) {
            sum += 7;
            break;
        }
    }
    switch (x & 7) {
    case 0:
        return sum + 1;
    case 1:
        return sum * 3;
    case 2:
        return sum ^ 0xff;
    case 3:
        return sum - x + 4;
    case 4:
        return sum + 4;
    case 5:
        return ~sum;
    case 6:
        return untouched;
    default:
        return sum;
    }
}

static void test_divergence(void **unused) {
    (void)unused;
    enum { COUNT = 4 * 200 };
    struct harness harness;
    uint32_t *in, *out;
    uint64_t state = 42;
    harness_open_cuda(&harness, divergence_source, "sm_80");
    uint64_t from = harness_buffer(&harness, "in", COUNT * 4, &in);
    uint64_t to = harness_buffer(&harness, "out", COUNT * 4, &out);
    for (int i = 0; i < COUNT; i++)
        in[i] = (uint32_t)harness_random(&state);
    harness_argument(&harness, &from, 8);
    harness_argument(&harness, &to, 8);
    harness_run(&harness, "wander", 4, 200);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(out[i], diverge(in[i], 0xffffffff));
    harness_close(&harness);
}

/* ---- warps: shuffles, votes and barriers after divergence ---- */

static const char warp_source[] =
    "extern \"C\" __global__ void warps(int *out, int live) {\n"
    "    __shared__ int total;\n"
    "    int lane = threadIdx.x & 31, i = threadIdx.x;\n"
    "    if (i == 0) total = 0;\n"
    "    __syncthreads();\n"
    "    int sum = lane + 1;\n"
    "    if (lane < 16) {\n"
    "        for (int j = 8; j; j >>= 1) sum += __shfl_xor_sync(0xffff, sum, j);\n"
    "    } else {\n"
    "        for (int j = 8; j; j >>= 1) sum += __shfl_down_sync(0xffff0000u, sum, j, 16);\n"
    "        if (lane == 16) atomicAdd(&total, sum);\n"
    "    }\n"
    "    __syncwarp();\n"
    "    unsigned odd = __ballot_sync(~0u, lane & 1);\n"
    "    int any = __any_sync(~0u, lane == 31), all = __all_sync(~0u, lane < 31);\n"
    "    int most = __reduce_max_sync(~0u, lane * 3);\n"
    "    unsigned same = __match_any_sync(~0u, lane / 4);\n"
    "    int counted = __syncthreads_count(i % 3 == 0);\n"
    "    out[8 * i] = sum; out[8 * i + 1] = odd; out[8 * i + 2] = any * 2 + all;\n"
    "    out[8 * i + 3] = most; out[8 * i + 4] = same; out[8 * i + 5] = counted; out[8 * i + 6] = "
    "total;\n"
    "    if (i >= live) return;\n"
    "    __syncthreads();\n" /* exited threads do not count */
    "    out[8 * i + 7] = __popc(__activemask());\n"
    "}\n";

static void test_warps(void **unused) {
    (void)unused;
    enum { THREADS = 96, LIVE = 40 };
    struct harness harness;
    int32_t *out;
    int live = LIVE;
    harness_open_cuda(&harness, warp_source, "sm_80");
    uint64_t to = harness_buffer(&harness, "out", THREADS * 32, &out);
    harness_argument(&harness, &to, 8);
    harness_argument(&harness, &live, 4);
    harness_run(&harness, "warps", 1, THREADS);
    for (int i = 0; i < THREADS; i++) {
        int lane = i % 32;
        const int32_t *got = out + 8 * i;
        if (lane < 16)
            assert_int_equal(got[0], 16 * 17 / 2);
        if (lane == 16)
            assert_int_equal(got[0], 16 * 16 + 16 * 17 / 2);
        assert_int_equal((uint32_t)got[1], 0xaaaaaaaa);
        assert_int_equal(got[2], 2);
        assert_int_equal(got[3], 93);
        assert_int_equal((uint32_t)got[4], 0xfu << lane / 4 * 4);
        assert_int_equal(got[5], 32);
        assert_int_equal(got[6], 3 * (16 * 16 + 16 * 17 / 2));
        assert_int_equal(got[7], i >= LIVE ? -1 : i < 32 ? 32 : 8);
    }
    harness_close(&harness);
}

/* ---- shuffles within segments of a warp, and votes of a block ---- */

static const char segments_source[] =
    "extern \"C\" __global__ void segments(int *out, int first, int second) {\n"
    "    int i = threadIdx.x, *to = out + 8 * i;\n"
    "    to[0] = __shfl_up_sync(~0u, i, 3, 8);\n"
    "    to[1] = __shfl_down_sync(~0u, i, 3, 8);\n"
    "    to[2] = __shfl_xor_sync(~0u, i, 12, 8);\n"
    "    to[3] = __shfl_sync(~0u, i, 13, 8);\n"
    "    bool is_named = i == first || i == second;\n"
    "    to[4] = __syncthreads_and(!is_named);\n"
    "    to[5] = __syncthreads_or(is_named);\n"
    "    to[6] = __syncthreads_count(is_named);\n"
    "    to[7] = __reduce_min_sync(~0u, i - 40);\n"
    "}\n";

static void run_segments(int first, int second) {
    enum { THREADS = 96 };
    struct harness harness;
    int32_t *out;
    int count = (first >= 0) + (second >= 0);
    harness_open_cuda(&harness, segments_source, "sm_80");
    uint64_t to = harness_buffer(&harness, "out", THREADS * 32, &out);
    harness_argument(&harness, &to, 8);
    harness_argument(&harness, &first, 4);
    harness_argument(&harness, &second, 4);
    harness_run(&harness, "segments", 1, THREADS);
    for (int i = 0; i < THREADS; i++) {
        const int32_t *got = out + 8 * i;
        int at = i % 8, base = i - at;
        assert_int_equal(got[0], at >= 3 ? i - 3 : i);
        assert_int_equal(got[1], at < 5 ? i + 3 : i);
        /* A partner in a later segment is out of range, in an earlier one it is not. */
        assert_int_equal(got[2], (i ^ 12) / 8 > i / 8 ? i : i ^ 12);
        assert_int_equal(got[3], base + 5);
        assert_int_equal(got[4] != 0, count == 0);
        assert_int_equal(got[5] != 0, count > 0);
        assert_int_equal(got[6], count);
        assert_int_equal(got[7], i / 32 * 32 - 40);
    }
    harness_close(&harness);
}

static void test_segments(void **unused) {
    (void)unused;
    run_segments(-1, -1);
    run_segments(70, -1);
    run_segments(0, 95);
}

/* ---- blocks in any order, a grid-wide reduction, calls, tables, locks ---- */

static const char blocks_source[] =
    "__constant__ float weights[4] = {1.f, 2.f, 4.f, 8.f};\n"
    "__device__ unsigned long long arrived = 0;\n"
    "__device__ int lock = 0;\n"
    "__device__ double locked_sum = 0;\n"
    "__device__ __noinline__ float scaled(float x, int n) {\n"
    "    if (n & 1) return x * weights[n & 3];\n"
    "    for (int i = 0; i < n; i++) x += weights[i & 3];\n"
    "    return x;\n"
    "}\n"
    "extern \"C\" __global__ void blocks(const float *in, float *out, double *sums, int n) {\n"
    "    __shared__ double partial[8];\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    float mine[12];\n"
    "    for (int j = 0; j < 12; j++) mine[j] = in[i] * j;\n"
    "    out[i] = scaled(mine[(i * 7 + n) % 12], i % 5) + sinf(in[i]) + in[i] / 3.f + "
    "__expf(-in[i]);\n"
    "    double sum = in[i];\n"
    "    for (int j = 16; j; j >>= 1) sum += __shfl_xor_sync(~0u, sum, j);\n"
    "    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;\n"
    "    __syncthreads();\n"
    "    if (threadIdx.x == 0) {\n"
    "        for (int j = 1; j < blockDim.x / 32; j++) partial[0] += partial[j];\n"
    "        sums[blockIdx.x] = partial[0];\n"
    "        __threadfence();\n"
    "        if (atomicAdd(&arrived, 1ull) == gridDim.x - 1) {\n"
    "            double all = 0;\n"
    "            for (int j = 0; j < gridDim.x; j++) all += ((volatile double *)sums)[j];\n"
    "            sums[gridDim.x] = all;\n"
    "        }\n"
    "    }\n"
    "    if (threadIdx.x % 40 == 3) {\n" /* several lanes of a warp compete for the lock */
    "        bool done = false;\n"
    "        while (!done)\n"
    "            if (atomicCAS(&lock, 0, 1) == 0) {\n"
    "                locked_sum += 1; __threadfence(); atomicExch(&lock, 0); done = true;\n"
    "            }\n"
    "    }\n"
    "}\n";

static float scaled_by_eighth(float x, int n) {
    static const float weights[] = {1, 2, 4, 8};
    if (n & 1)
        return x * weights[n & 3];
    for (int i = 0; i < n; i++)
        x += weights[i & 3];
    return x;
}

static void test_blocks(void **unused) {
    (void)unused;
    enum { BLOCKS = 7, THREADS = 128, COUNT = BLOCKS * THREADS };
    float first[COUNT];
    for (uint64_t seed = 0; seed < 6; seed++) {
        struct harness harness;
        float *in, *out;
        double *sums, expected = 0;
        int n = 5;
        size_t bytes;
        uint64_t state = 7;
        harness_open_cuda(&harness, blocks_source, seed % 2 ? "sm_80" : "sm_90");
        uint64_t from = harness_buffer(&harness, "in", COUNT * 4, &in);
        uint64_t to = harness_buffer(&harness, "out", COUNT * 4, &out);
        uint64_t sum = harness_buffer(&harness, "sums", (BLOCKS + 1) * 8, &sums);
        for (int i = 0; i < COUNT; i++) {
            in[i] = (float)(harness_random(&state) % 1000) / 256;
            expected += in[i];
        }
        harness_argument(&harness, &from, 8);
        harness_argument(&harness, &to, 8);
        harness_argument(&harness, &sum, 8);
        harness_argument(&harness, &n, 4);
        harness.launch.block_seed = seed * 7919;
        harness_run(&harness, "blocks", BLOCKS, THREADS);
        for (int i = 0; i < COUNT; i++) {
            double wanted = scaled_by_eighth(in[i] * (float)((i * 7 + n) % 12), i % 5) +
                            sin(in[i]) + in[i] / 3.0 + exp(-in[i]);
            assert_true(fabs(out[i] - wanted) < 1e-5 * (1 + fabs(wanted)));
        }
        if (!seed)
            memcpy(first, out, sizeof first);
        assert_memory_equal(first, out, sizeof first);
        assert_true(fabs(sums[BLOCKS] - expected) < 1e-9 * expected);
        uint64_t arrived = ptx_module_variable(harness.module, "arrived", &bytes);
        assert_int_equal(bytes, 8);
        assert_int_equal(*(uint64_t *)ptx_memory_host_bytes(harness.memory, arrived, 8), BLOCKS);
        uint64_t locked = ptx_module_variable(harness.module, "locked_sum", &bytes);
        assert_true(*(double *)ptx_memory_host_bytes(harness.memory, locked, 8) == BLOCKS * 4);
        harness_close(&harness);
    }
}

/* ---- matrix multiplication on tensor cores: cp.async, ldmatrix, mma ---- */

static const char product_source[] =
    "typedef unsigned short half_bits;\n"
    "__device__ void copy16(unsigned to, const void *from, int bytes) {\n"
    "    asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16, %2;\" :: \"r\"(to), \"l\"(from), "
    "\"r\"(bytes));\n"
    "}\n"
    "extern __shared__ __align__(16) half_bits smem[];\n"
    "extern \"C\" __global__ void product(const half_bits *a, const half_bits *b, float *c, int m, "
    "int n,\n"
    "                                   int k) {\n" /* a: m x k; b: k x n; both row-major */
    "    constexpr int A_ROW = 16 + 8, B_ROW = 64 + 8;\n"
    "    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;\n"
    "    unsigned a_smem = (unsigned)__cvta_generic_to_shared(smem), b_smem = a_smem + 64 * A_ROW "
    "* 2;\n"
    "    float acc[8][4] = {};\n"
    "    for (int step = 0; step < k; step += 16) {\n"
    "        for (int i = threadIdx.x; i < 64 * 2; i += blockDim.x) {\n"
    "            int row = blockIdx.x * 64 + i / 2;\n"
    "            copy16(a_smem + (i / 2 * A_ROW + i % 2 * 8) * 2,\n"
    "                   a + (row < m ? row : 0) * k + step + i % 2 * 8, row < m ? 16 : 0);\n"
    "        }\n"
    "        for (int i = threadIdx.x; i < 16 * 8; i += blockDim.x)\n"
    "            copy16(b_smem + (i / 8 * B_ROW + i % 8 * 8) * 2, b + (step + i / 8) * n + i % 8 * "
    "8, 16);\n"
    "        asm volatile(\"cp.async.commit_group;\");\n"
    "        if (WAIT) asm volatile(\"cp.async.wait_group 0;\");\n"
    "        __syncthreads();\n"
    "        unsigned x[4], y[4];\n"
    "        asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\"\n"
    "            : \"=r\"(x[0]), \"=r\"(x[1]), \"=r\"(x[2]), \"=r\"(x[3])\n"
    "            : \"r\"(a_smem + ((warp * 16 + lane % 16) * A_ROW + lane / 16 * 8) * 2));\n"
    "        for (int j = 0; j < 8; j += 2) {\n"
    "            asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, "
    "[%4];\"\n"
    "                : \"=r\"(y[0]), \"=r\"(y[1]), \"=r\"(y[2]), \"=r\"(y[3])\n"
    "                : \"r\"(b_smem + (lane % 16 * B_ROW + j * 8 + lane / 16 * 8) * 2));\n"
    "            for (int h = 0; h < 2; h++)\n"
    "                asm volatile(\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 \"\n"
    "                    \"{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"\n"
    "                    : \"+f\"(acc[j + h][0]), \"+f\"(acc[j + h][1]), \"+f\"(acc[j + h][2]),\n"
    "                      \"+f\"(acc[j + h][3])\n"
    "                    : \"r\"(x[0]), \"r\"(x[1]), \"r\"(x[2]), \"r\"(x[3]), \"r\"(y[2 * h]),\n"
    "                      \"r\"(y[2 * h + 1]));\n"
    "        }\n"
    "        __syncthreads();\n"
    "    }\n"
    "    for (int j = 0; j < 8; j++)\n"
    "        for (int h = 0; h < 2; h++) {\n"
    "            int row = blockIdx.x * 64 + warp * 16 + lane / 4 + 8 * h;\n"
    "            if (row < m)\n"
    "                *(float2 *)(c + row * n + j * 8 + lane % 4 * 2) =\n"
    "                    make_float2(acc[j][2 * h], acc[j][2 * h + 1]);\n"
    "        }\n"
    "}\n";

enum { M = 100, N = 64, K = 48 };

/* Small multiples of 1/8 as f16 bits, without rounding. */
static uint16_t eighths(int value) {
    int magnitude = abs(value), exponent = 0;
    if (!magnitude)
        return 0;
    while (magnitude >> (exponent + 1))
        exponent++;
    int bits = (exponent - 3 + 15) << 10 | ((magnitude << 10 >> exponent) & 1023);
    return (uint16_t)(bits | (value < 0 ? 0x8000 : 0));
}

/* The largest difference from the result in double; NaN if there is a NaN. */
static double product_error(int wait) {
    char source[sizeof product_source + 32];
    struct harness harness;
    uint16_t *a, *b;
    float *c;
    int m = M, n = N, k = K, left[M * K], right[K * N];
    uint64_t state = 99;
    double worst = 0;
    snprintf(source, sizeof source, "#define WAIT %d\n%s", wait, product_source);
    harness_open_cuda(&harness, source, "sm_80");
    uint64_t a_at = harness_buffer(&harness, "a", sizeof left / 2, &a);
    uint64_t b_at = harness_buffer(&harness, "b", sizeof right / 2, &b);
    uint64_t c_at = harness_buffer(&harness, "c", M * N * 4, &c);
    for (int i = 0; i < M * K; i++)
        a[i] = eighths(left[i] = (int)(harness_random(&state) % 41) - 20);
    for (int i = 0; i < K * N; i++)
        b[i] = eighths(right[i] = (int)(harness_random(&state) % 41) - 20);
    const uint64_t pointers[] = {a_at, b_at, c_at};
    const int sizes[] = {m, n, k};
    for (int i = 0; i < 3; i++)
        harness_argument(&harness, &pointers[i], 8);
    for (int i = 0; i < 3; i++)
        harness_argument(&harness, &sizes[i], 4);
    harness.launch.smem_bytes = (64 * 24 + 16 * 72) * 2;
    harness_run(&harness, "product", 2, 128);
    for (int row = 0; row < M; row++)
        for (int column = 0; column < N; column++) {
            double sum = 0;
            for (int i = 0; i < K; i++)
                sum += left[row * K + i] * right[i * N + column] / 64.0;
            double error = fabs(sum - c[row * N + column]);
            worst = error > worst || error != error ? error : worst;
        }
    assert_int_equal(harness.counts.mma_operations, 2 * 128 * N * K);
    assert_true(harness.counts.async_bytes > 0 && harness.counts.shared_wavefronts > 0);
    harness_close(&harness);
    return worst;
}

static void test_matrix_product(void **unused) {
    (void)unused;
    assert_true(product_error(1) == 0); /* eighths: every sum is exact */
}

static void test_missing_wait_is_visible(void **unused) {
    (void)unused;
    double error = product_error(0);
    assert_true(error != error || error > 1);
}

/* ---- the instructions that cuda_fp16.h and cuda_bf16.h emit ---- */

static const char halves_source[] =
    "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
    "extern \"C\" __global__ void halves(const float *x, float *y, unsigned *bits) {\n"
    "    int i = threadIdx.x;\n"
    "    __half2 a = __floats2half2_rn(x[i], -x[i]), b = __float2half2_rn(0.25f);\n"
    "    __half2 r = __hfma2(a, b, __hmax2(a, __hneg2(b)));\n"
    "    r = __hadd2_sat(r, __hmul2_sat(a, b));\n"
    "    r = __hsub2(r, __hmin2(h2exp2(b), __habs2(a)));\n"
    "    y[4 * i] = __low2float(r); y[4 * i + 1] = __high2float(r);\n"
    "    __nv_bfloat162 c = __floats2bfloat162_rn(x[i], 2.f);\n"
    "    c = __hfma2(c, c, c);\n"
    "    y[4 * i + 2] = __low2float(c) + __high2float(c);\n"
    "    y[4 * i + 3] = __half2float(hrcp(__float2half_ru(x[i]))) + __half2int_rd(a.x)\n"
    "        + __half2float(__float2half_rd(1e-9f)) + __half2float(hsqrt(b.x)) + "
    "__half2float(htrunc(a.x))\n"
    "        + __half2float(__int2half_rz(i)) + (__hlt(a.x, b.x) ? 1 : 0);\n"
    "    bits[2 * i] = __heq2_mask(a, a) ^ __hgt2_mask(a, b); bits[2 * i + 1] = __hbgt2(a, b);\n"
    "    atomicAdd((__half2 *)bits + 64, b);\n"
    "}\n";

static void test_halves(void **unused) {
    (void)unused;
    struct harness harness;
    float *x, *y;
    uint32_t *bits;
    harness_open_cuda(&harness, halves_source, "sm_90");
    uint64_t from = harness_buffer(&harness, "x", 32 * 4, &x);
    uint64_t to = harness_buffer(&harness, "y", 32 * 16, &y);
    uint64_t words = harness_buffer(&harness, "bits", 65 * 4, &bits);
    for (int i = 0; i < 32; i++)
        x[i] = (float)(i + 1) / 8; /* exact in both formats */
    bits[64] = 0;
    harness_argument(&harness, &from, 8);
    harness_argument(&harness, &to, 8);
    harness_argument(&harness, &words, 8);
    harness_run(&harness, "halves", 1, 32);
    for (int i = 0; i < 32; i++) {
        for (int half = 0; half < 2; half++) {
            double a = half ? -x[i] : x[i], b = 0.25;
            double r = a * b + fmax(a, -b);
            double product = fmin(fmax(a * b, 0), 1);
            r = fmin(fmax(r + product, 0), 1) - fmin(exp2(b), fabs(a));
            assert_true(fabs(y[4 * i + half] - r) < 2e-3);
        }
        double square = (double)x[i] * x[i] + x[i];
        assert_true(fabs(y[4 * i + 2] - (square + 6)) < 1e-2 * (1 + square));
        double sum = 1 / x[i] + floor(x[i]) + 0.5 + trunc(x[i]) + i + (x[i] < 0.25);
        assert_true(fabs(y[4 * i + 3] - sum) < 1e-2 * sum);
        assert_int_equal(bits[2 * i], x[i] > 0.25 ? 0xffff0000 : 0xffffffff);
        assert_int_equal(bits[2 * i + 1], 0);
    }
    assert_int_equal(bits[64], 0x48004800); /* 32 times 0.25 is 8 */
    harness_close(&harness);
}

/* ---- two warps of four use named barriers ---- */

static const char named_source[] =
    "extern \"C\" __global__ void relay(int *out) {\n"
    "    __shared__ int box;\n"
    "    int warp = threadIdx.x / 32;\n"
    "    if (warp == 0) {\n"
    "        for (int i = 0; i < 5; i++) {\n"
    "            asm volatile(\"bar.sync 1, 64;\" ::: \"memory\");\n" /* the box is empty */
    "            if (threadIdx.x == 0) box = i * i;\n"
    "            asm volatile(\"bar.arrive 2, 64;\" ::: \"memory\");\n" /* full */
    "        }\n"
    "    } else if (warp == 1) {\n"
    "        for (int i = 0; i < 5; i++) {\n"
    "            asm volatile(\"bar.arrive 1, 64;\" ::: \"memory\");\n"
    "            asm volatile(\"bar.sync 2, 64;\" ::: \"memory\");\n"
    "            out[i * 32 + threadIdx.x - 32] = ((volatile int *)&box)[0];\n"
    "        }\n"
    "    }\n"
    "    __syncthreads();\n" /* where the others wait */
    "}\n";

static void test_named_barriers(void **unused) {
    (void)unused;
    struct harness harness;
    int32_t *out;
    harness_open_cuda(&harness, named_source, "sm_80");
    uint64_t to = harness_buffer(&harness, "out", 5 * 32 * 4, &out);
    harness_argument(&harness, &to, 8);
    harness_run(&harness, "relay", 1, 128);
    for (int i = 0; i < 5 * 32; i++)
        assert_int_equal(out[i], i / 32 * (i / 32));
    harness_close(&harness);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_divergence),     cmocka_unit_test(test_warps),
        cmocka_unit_test(test_segments),       cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_matrix_product), cmocka_unit_test(test_missing_wait_is_visible),
        cmocka_unit_test(test_named_barriers), cmocka_unit_test(test_halves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
