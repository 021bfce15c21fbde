// Attention without tensor cores or tiling, in two precisions: the reference, in double, and the
// plain kernel, in float with 16-bit outputs, whose error against the reference sets the error
// bound for all candidates. Formula and shapes are in kernel.cu.
//
// Both are compiled once for all cases: element type and layout are run-time arguments; the rows of
// Q and K may have gaps between them. `scale` 0 selects 1 / sqrt(D), and a null `lse` means that
// LSE is not wanted.
//
// A block computes a few neighbouring queries of one head and iterates over chunks of keys, one key
// per thread. For each query it keeps the running maximum, the sum of exp(score - maximum), and the
// unnormalised O.

#include "lib/bfloat.cuh"
#include "lib/half.cuh"
#include "lib/types.cuh"

constexpr int threads = 128;
constexpr int warps = threads / 32;
constexpr int queries = 4; // per block; the grids in template.json depend on it

struct alignas(16) eight_elements {
    u16 elements[8];
};

DEVICE float widen(u16 bits, bool is_bf16) {
    return is_bf16 ? bfloat_to_float(bf16{bits}) : half_to_float(f16{bits});
}

DEVICE double exponential(double x) {
    return exp(x);
}

DEVICE float exponential(float x) {
    return expf(x);
}

DEVICE double logarithm(double x) {
    return log(x);
}

DEVICE float logarithm(float x) {
    return logf(x);
}

DEVICE void store(double *to, double value, bool) {
    *to = value;
}

DEVICE void store(u16 *to, float value, bool is_bf16) {
    *to = is_bf16 ? float_to_bfloat(value).bits : float_to_half(value).bits;
}

// The matrix of one head; rows are `stride` elements apart.
template <typename element> struct matrix {
    element *first;
    i64 stride;

    // Head `head` of `heads` in batch `batch`; `gap` unused elements follow each row.
    DEVICE matrix(element *tensor, i64 batch, i64 head, i64 heads, i64 rows, i64 columns,
                  bool rows_outside, i64 gap)
        : first(tensor + batch * rows * (heads * columns + (rows_outside ? gap : heads * gap)) +
                head * (rows_outside ? columns : rows * (columns + gap))),
          stride((rows_outside ? heads * columns : columns) + gap) {
    }

    DEVICE element *row(i64 number) const {
        return first + number * stride;
    }
};

template <typename real> DEVICE real warp_max(real value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        const real other = __shfl_xor_sync(0xffffffffu, value, distance);
        value = other > value ? other : value;
    }
    return value;
}

template <typename real> DEVICE real warp_sum(real value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}

// The scores of all queries with one key.
template <typename real>
DEVICE void scores_of_key(real (&scores)[queries], const real (&query_smem)[queries][128],
                          const u16 *key_gmem, int D, bool is_bf16) {
#pragma unroll
    for (int r = 0; r < queries; ++r)
        scores[r] = 0;
    for (int d = 0; d < D; d += 8) {
        const eight_elements key = *reinterpret_cast<const eight_elements *>(key_gmem + d);
#pragma unroll
        for (int e = 0; e < 8; ++e) {
            const real element = widen(key.elements[e], is_bf16);
#pragma unroll
            for (int r = 0; r < queries; ++r)
                scores[r] += query_smem[r][d + e] * element;
        }
    }
}

template <typename real, typename output, typename log_output>
DEVICE void attention(const u16 *q, const u16 *k, const u16 *v, output *o, log_output *lse, int H,
                      int H_KV, int S, int S_KV, int D, bool causal, bool is_bf16,
                      bool rows_outside, int gap, float scale) {
    __shared__ real query_smem[queries][128];
    __shared__ real probability_smem[queries][threads];
    __shared__ real scratch_smem[queries][threads]; // exchanged between warps, then between threads
    const int tiles = (S + queries - 1) / queries;
    const i64 batch = blockIdx.x / tiles / H;
    const int head = blockIdx.x / tiles % H, kv_head = head / (H / H_KV);
    const int first_row = blockIdx.x % tiles * queries;
    const matrix<const u16> q_gmem(q, batch, head, H, S, D, rows_outside, gap);
    const matrix<const u16> k_gmem(k, batch, kv_head, H_KV, S_KV, D, rows_outside, gap);
    const matrix<const u16> v_gmem(v, batch, kv_head, H_KV, S_KV, D, rows_outside, 0);
    const matrix<output> o_gmem(o, batch, head, H, S, D, rows_outside, 0);
    const int warp = threadIdx.x / 32;
    const int column = threadIdx.x % D, column_group = threadIdx.x / D, column_groups = threads / D;
    const real factor = scale > 0 ? scale : 1 / sqrt(static_cast<real>(D));

    for (int i = threadIdx.x; i < queries * D; i += threads) {
        const int r = i / D, row = first_row + r;
        query_smem[r][i % D] = row < S ? widen(q_gmem.row(row)[i % D], is_bf16) : 0.0f;
    }
    real row_max[queries], sum[queries], o_sum[queries];
    int end[queries], last_end = 0; // end of each query's visible keys
#pragma unroll
    for (int r = 0; r < queries; ++r) {
        const int row = first_row + r;
        end[r] = row >= S ? 0 : causal ? max(min(S_KV, row + S_KV - S + 1), 0) : S_KV;
        last_end = max(last_end, end[r]);
        row_max[r] = static_cast<real>(-1e30);
        sum[r] = o_sum[r] = 0;
    }
    for (int first_key = 0; first_key < last_end; first_key += threads) {
        const int key = first_key + threadIdx.x;
        real scores[queries];
        __syncthreads(); // the queries are loaded, and the previous probabilities have been read
        scores_of_key(scores, query_smem, k_gmem.row(min(key, S_KV - 1)), D, is_bf16);
#pragma unroll
        for (int r = 0; r < queries; ++r) {
            scores[r] = key < end[r] ? scores[r] * factor : static_cast<real>(-1e30);
            const real chunk_max = warp_max(scores[r]);
            if (threadIdx.x % 32 == 0)
                scratch_smem[r][warp] = chunk_max;
        }
        __syncthreads(); // every warp's maximum is written
#pragma unroll
        for (int r = 0; r < queries; ++r) {
            real new_max = row_max[r];
            for (int w = 0; w < warps; ++w)
                new_max = scratch_smem[r][w] > new_max ? scratch_smem[r][w] : new_max;
            const real probability = key < end[r] ? exponential(scores[r] - new_max) : 0;
            const real correction = exponential(row_max[r] - new_max);
            probability_smem[r][threadIdx.x] = probability;
            sum[r] = sum[r] * correction + probability;
            o_sum[r] *= correction;
            row_max[r] = new_max;
        }
        __syncthreads(); // the probabilities of these keys are written
        for (int n = column_group; n < min(threads, last_end - first_key); n += column_groups) {
            const real element = widen(v_gmem.row(first_key + n)[column], is_bf16);
#pragma unroll
            for (int r = 0; r < queries; ++r)
                o_sum[r] += probability_smem[r][n] * element;
        }
    }
    __syncthreads(); // the last probabilities have been read
#pragma unroll
    for (int r = 0; r < queries; ++r) {
        const real warp_row_sum = warp_sum(sum[r]);
        probability_smem[r][threadIdx.x] = warp_row_sum;
        scratch_smem[r][threadIdx.x] = o_sum[r];
    }
    __syncthreads(); // the warps' sums and partial O are written
#pragma unroll
    for (int r = 0; r < queries; ++r) {
        real row_sum = 0, row_total = 0;
        if (r % column_groups != column_group || first_row + r >= S)
            continue;
        for (int w = 0; w < warps; ++w)
            row_sum += probability_smem[r][w * 32];
        for (int s = 0; s < column_groups; ++s)
            row_total += scratch_smem[r][s * D + column];
        store(o_gmem.row(first_row + r) + column,
              row_sum > 0 ? row_total / row_sum : static_cast<real>(0), is_bf16);
        if (lse && column == 0)
            lse[(batch * H + head) * S + first_row + r] = row_max[r] + logarithm(row_sum);
    }
}

extern "C" __global__ void attention_reference(const u16 *q, const u16 *k, const u16 *v, double *o,
                                               double *lse, int H, int H_KV, int S, int S_KV, int D,
                                               int causal, int is_bf16, int rows_outside, int gap,
                                               float scale) {
    attention<double>(q, k, v, o, lse, H, H_KV, S, S_KV, D, causal, is_bf16, rows_outside, gap,
                      scale);
}

extern "C" __global__ void attention_plain(const u16 *q, const u16 *k, const u16 *v, u16 *o,
                                           float *lse, int H, int H_KV, int S, int S_KV, int D,
                                           int causal, int is_bf16, int rows_outside, int gap,
                                           float scale) {
    attention<float>(q, k, v, o, lse, H, H_KV, S, S_KV, D, causal, is_bf16, rows_outside, gap,
                     scale);
}
