// Attention of few queries, as when tokens are decoded: a block computes up to four neighbouring
// queries of one head and iterates over chunks of keys, one key per thread. For each query it keeps
// the running maximum, the sum of exp(score - maximum), and the unnormalised O.
#ifndef EVOTILE_ATTENTION_REFERENCE_FEW
#define EVOTILE_ATTENTION_REFERENCE_FEW

#include "reference_common.cuh"

constexpr int queries = 4; // per block; the grids in template.json depend on it

// The scores of all queries with one key.
template <typename real>
DEVICE void scores_of_key(real (&scores)[queries], const real (&query_smem)[queries][256],
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
DEVICE void few_queries(const u16 *q, const u16 *k, const u16 *v, output *o, log_output *lse, int H,
                        int H_KV, const sequences &queries_of, const sequences &keys_of, int D,
                        int DV, bool is_bf16, bool rows_outside, int gap, const scoring &scoring) {
    __shared__ real query_smem[queries][256];
    __shared__ real probability_smem[queries][threads];
    __shared__ real scratch_smem[queries][threads]; // exchanged between warps, then between threads
    const int tiles = (queries_of.rows + queries - 1) / queries, batch = blockIdx.x / tiles / H;
    const int head = blockIdx.x / tiles % H, kv_head = head / (H / H_KV);
    const int first_row = blockIdx.x % tiles * queries;
    const sequence_rows q_rows = queries_of[batch], k_rows = keys_of[batch];
    const int S = q_rows.count, S_KV = k_rows.count;
    const matrix<const u16> q_gmem(q, q_rows, head, H, D, rows_outside, gap);
    const matrix<const u16> k_gmem(k, k_rows, kv_head, H_KV, D, rows_outside, gap);
    const matrix<const u16> v_gmem(v, k_rows, kv_head, H_KV, DV, rows_outside, 0);
    const matrix<output> o_gmem(o, q_rows, head, H, DV, rows_outside, 0);
    const int warp = threadIdx.x / 32;
    const real factor = scoring.factor<real>(D);

    for (int i = threadIdx.x; i < queries * D; i += threads) {
        const int r = i / D, row = first_row + r;
        query_smem[r][i % D] = row < S ? widen(q_gmem.row(row)[i % D], is_bf16) : 0.0f;
    }
    // Panels of 128 columns of O, each with probabilities of its own.
    for (int first_column = 0; first_column < DV; first_column += threads) {
        const int width = min(threads, DV - first_column);
        const int column = threadIdx.x % width, column_group = threadIdx.x / width;
        const int column_groups = threads / width;
        real row_max[queries], sum[queries], o_sum[queries];
        int begin[queries], end[queries], last_end = 0; // each query's visible keys
        int first_begin = S_KV;
#pragma unroll
        for (int r = 0; r < queries; ++r) {
            const int row = first_row + r;
            begin[r] = scoring.begin(row, S, S_KV);
            end[r] = row >= S ? 0 : scoring.end(row, S, S_KV);
            first_begin = min(first_begin, begin[r]);
            last_end = max(last_end, end[r]);
            row_max[r] = lowest<real>;
            sum[r] = o_sum[r] = 0;
        }
        for (int first_key = first_begin; first_key < last_end; first_key += threads) {
            const int key = first_key + threadIdx.x;
            real scores[queries];
            __syncthreads(); // the queries are loaded, and the previous probabilities have been
                             // read
            scores_of_key(scores, query_smem, k_gmem.row(min(key, S_KV - 1)), D, is_bf16);
#pragma unroll
            for (int r = 0; r < queries; ++r) {
                scores[r] = key >= begin[r] && key < end[r] ? scoring.logit(scores[r] * factor)
                                                            : lowest<real>;
                const real chunk_max = group_max<32>(scores[r]);
                if (threadIdx.x % 32 == 0)
                    scratch_smem[r][warp] = chunk_max;
            }
            __syncthreads(); // every warp's maximum is written
#pragma unroll
            for (int r = 0; r < queries; ++r) {
                real new_max = row_max[r];
                for (int w = 0; w < warps; ++w)
                    new_max = scratch_smem[r][w] > new_max ? scratch_smem[r][w] : new_max;
                const real probability =
                    key >= begin[r] && key < end[r] ? exponential(scores[r] - new_max) : 0;
                const real correction = exponential(row_max[r] - new_max);
                probability_smem[r][threadIdx.x] = probability;
                sum[r] = sum[r] * correction + probability;
                o_sum[r] *= correction;
                row_max[r] = new_max;
            }
            __syncthreads(); // the probabilities of these keys are written
            for (int n = column_group;
                 column_group < column_groups && n < min(threads, last_end - first_key);
                 n += column_groups) {
                const real element =
                    widen(v_gmem.row(first_key + n)[first_column + column], is_bf16);
#pragma unroll
                for (int r = 0; r < queries; ++r)
                    o_sum[r] += probability_smem[r][n] * element;
            }
        }
        __syncthreads(); // the last probabilities have been read
#pragma unroll
        for (int r = 0; r < queries; ++r) {
            const real warp_row_sum = group_sum<32>(sum[r]);
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
                row_total += scratch_smem[r][s * width + column];
            const real o_factor = scoring.finish(row_max[r], row_sum, head);
            store(o_gmem.row(first_row + r) + first_column + column, row_total * o_factor, is_bf16);
            if (lse && first_column + column == 0)
                lse[(q_rows.batch * H + head) * q_rows.rows + q_rows.first + first_row + r] =
                    row_max[r] + logarithm(row_sum);
        }
        __syncthreads(); // the sums have been read
    }
}

#endif
