// Attention without tensor cores, tiles or tricks, in two precisions: the reference, in double, and the
// plain kernel, in float with half outputs, whose error against the reference is the measure of
// everybody's. See kernel.cu for the formula and the shapes.
//
// A block takes a few neighbouring queries of one head, and walks the keys in chunks, a key a thread.
// For each query it keeps the largest score so far, the sum of exp(score - largest), and O before its
// division by that sum.

#include "lib/half.cuh"
#include "lib/types.cuh"

constexpr int threads = 128;
constexpr int warps = threads / 32;
constexpr int queries = 4; // a block; template.json's grids know it

struct alignas(16) eight_halves {
    f16 part[8];
};

DEVICE double exponential(double x) {
    return exp(x);
}

DEVICE float exponential(float x) {
    return expf(x);
}

DEVICE void store(double *to, double value) {
    *to = value;
}

DEVICE void store(f16 *to, float value) {
    *to = float_to_half(value);
}

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
                          const f16 *key_gmem, int D) {
#pragma unroll
    for (int r = 0; r < queries; ++r)
        scores[r] = 0;
    for (int d = 0; d < D; d += 8) {
        const eight_halves key = *reinterpret_cast<const eight_halves *>(key_gmem + d);
#pragma unroll
        for (int e = 0; e < 8; ++e) {
            const real element = half_to_float(key.part[e]);
#pragma unroll
            for (int r = 0; r < queries; ++r)
                scores[r] += query_smem[r][d + e] * element;
        }
    }
}

template <typename real, typename output>
DEVICE void attention(const f16 *q, const f16 *k, const f16 *v, output *o, int S, int S_KV, int D,
                      int causal) {
    __shared__ real query_smem[queries][128];
    __shared__ real weight_smem[queries][threads];
    __shared__ real part_smem[queries][threads]; // what warps, and then threads, tell each other
    const int tiles = (S + queries - 1) / queries;
    const i64 head = blockIdx.x / tiles;
    const int first_row = blockIdx.x % tiles * queries;
    const f16 *k_gmem = k + head * S_KV * D, *v_gmem = v + head * S_KV * D;
    const int warp = threadIdx.x / 32;
    const int column = threadIdx.x % D, share = threadIdx.x / D, shares = threads / D;
    const real root = sqrt(static_cast<real>(D));

    for (int i = threadIdx.x; i < queries * D; i += threads) {
        const int r = i / D, row = first_row + r;
        query_smem[r][i % D] = row < S ? half_to_float(q[(head * S + row) * D + i % D]) : 0.0f;
    }
    real largest[queries], sum[queries], total[queries];
    int end[queries], last_end = 0; // of the keys that a query sees
#pragma unroll
    for (int r = 0; r < queries; ++r) {
        const int row = first_row + r;
        end[r] = row >= S ? 0 : causal ? max(min(S_KV, row + S_KV - S + 1), 0) : S_KV;
        last_end = max(last_end, end[r]);
        largest[r] = static_cast<real>(-1e30);
        sum[r] = total[r] = 0;
    }
    for (int first = 0; first < last_end; first += threads) {
        const int key = first + threadIdx.x;
        real scores[queries];
        __syncthreads(); // the queries are there, and the weights before have been read
        scores_of_key(scores, query_smem, k_gmem + static_cast<i64>(min(key, S_KV - 1)) * D, D);
#pragma unroll
        for (int r = 0; r < queries; ++r) {
            scores[r] = key < end[r] ? scores[r] / root : static_cast<real>(-1e30);
            const real most = warp_max(scores[r]);
            if (threadIdx.x % 32 == 0)
                part_smem[r][warp] = most;
        }
        __syncthreads(); // every warp's largest is there
#pragma unroll
        for (int r = 0; r < queries; ++r) {
            real common = largest[r];
            for (int w = 0; w < warps; ++w)
                common = part_smem[r][w] > common ? part_smem[r][w] : common;
            const real weight = key < end[r] ? exponential(scores[r] - common) : 0;
            const real old_weight = exponential(largest[r] - common);
            weight_smem[r][threadIdx.x] = weight;
            sum[r] = sum[r] * old_weight + weight;
            total[r] *= old_weight;
            largest[r] = common;
        }
        __syncthreads(); // the weights of these keys are there
        for (int n = share; n < min(threads, last_end - first); n += shares) {
            const real element = half_to_float(v_gmem[static_cast<i64>(first + n) * D + column]);
#pragma unroll
            for (int r = 0; r < queries; ++r)
                total[r] += weight_smem[r][n] * element;
        }
    }
    __syncthreads(); // the last weights have been read
#pragma unroll
    for (int r = 0; r < queries; ++r) {
        const real warp_total = warp_sum(sum[r]);
        weight_smem[r][threadIdx.x] = warp_total;
        part_smem[r][threadIdx.x] = total[r];
    }
    __syncthreads(); // the sums of the warps, and the shares of O, are there
    for (int r = share; r < queries; r += shares) {
        real row_sum = 0, row_total = 0;
        for (int w = 0; w < warps; ++w)
            row_sum += weight_smem[r][w * 32];
        for (int s = 0; s < shares; ++s)
            row_total += part_smem[r][s * D + column];
        if (first_row + r < S)
            store(o + (head * S + first_row + r) * D + column,
                  row_sum > 0 ? row_total / row_sum : static_cast<real>(0));
    }
}

extern "C" __global__ void attention_reference(const f16 *q, const f16 *k, const f16 *v, double *o,
                                               int S, int S_KV, int D, int causal) {
    attention<double>(q, k, v, o, S, S_KV, D, causal);
}

extern "C" __global__ void attention_plain(const f16 *q, const f16 *k, const f16 *v, f16 *o, int S,
                                           int S_KV, int D, int causal) {
    attention<float>(q, k, v, o, S, S_KV, D, causal);
}
