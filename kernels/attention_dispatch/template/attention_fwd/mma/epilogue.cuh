// Included by kernel.cu: the epilogue of a work unit, after the mainloop. The combination of
// several blocks' results is in split_kv.cuh.

// Converts O to floats and reduces l of each row over the keys of the warp.
DEVICE void finalize_row_sums(o_float_fragments &acc_rmem, row_state &rows,
                              const o_fragments &o_rmem) {
#pragma unroll
    for (int i = 0; i < m_tiles * 2; ++i)
        rows.row_sum[i / 2][i % 2] = lanes_sum<4>(rows.row_sum[i / 2][i % 2]);
    to_floats(acc_rmem, o_rmem);
}

// Reduces m, l and O over the warp groups that split the keys; the result is in group 0. In each
// round the upper half of the groups writes to shared memory, and the threads of the lower half
// with the same fragments read it.
DEVICE void merge_warp_groups(o_float_fragments &o_rmem, row_state &rows, float scale,
                              const thread_coords &thread) {
    constexpr int stride =
        warps_m * 32; // distance, in words, between consecutive words of a thread
    float *thread_smem = reinterpret_cast<float *>(smem) + threadIdx.x % stride;
    __syncthreads(); // every warp has read the last tile, which is overwritten now
#pragma unroll
    for (int half = warps_kv / 2; half > 0; half /= 2) {
        float *word_smem = thread_smem + thread.group % half * merge_words * stride;
        if (thread.group >= half && thread.group < 2 * half) {
#pragma unroll
            for (int m = 0; m < m_tiles; ++m) {
#pragma unroll
                for (int h = 0; h < 2; ++h, word_smem += 2 * stride) {
                    word_smem[0] = rows.row_max[m][h];
                    word_smem[stride] = rows.row_sum[m][h];
                }
#pragma unroll
                for (int i = 0; i < 4 * d_tiles; ++i, word_smem += stride)
                    *word_smem = o_rmem[m][i / 4][i % 4];
            }
        }
        __syncthreads(); // the upper half has written its results
        if (thread.group < half) {
#pragma unroll
            for (int m = 0; m < m_tiles; ++m) {
                float own_factor[2], other_factor[2];
#pragma unroll
                for (int h = 0; h < 2; ++h, word_smem += 2 * stride) {
                    const float new_max = fmaxf(rows.row_max[m][h], word_smem[0]);
                    own_factor[h] = correction_factor(rows.row_max[m][h], new_max, scale);
                    other_factor[h] = correction_factor(word_smem[0], new_max, scale);
                    rows.row_max[m][h] = new_max;
                    rows.row_sum[m][h] =
                        rows.row_sum[m][h] * own_factor[h] + word_smem[stride] * other_factor[h];
                }
#pragma unroll
                for (int i = 0; i < 4 * d_tiles; ++i, word_smem += stride) {
                    float &value = o_rmem[m][i / 4][i % 4];
                    value = value * own_factor[i % 4 / 2] + *word_smem * other_factor[i % 4 / 2];
                }
            }
        }
        if (half > 1)
            __syncthreads(); // the results have been read and may be overwritten
    }
}

// 1 / l, or 0 for a query without visible keys.
DEVICE float inverse_row_sum(float row_sum) {
    return row_sum > 0 ? fast_math ? reciprocal_fast(row_sum) : 1.0f / row_sum : 0.0f;
}

// A row's end: with the head's sink, if there are any.
DEVICE finished_row finish_row(float row_max, float row_sum, int head,
                               const kernel_params &params) {
    if constexpr (has_sinks)
        return finish_with_sink(row_max, row_sum, params.scale, params.sinks[head]);
    return {row_max, row_sum, params.scale, inverse_row_sum(row_sum)};
}

// Brings the head's sink into m, l and O of the warp's rows. The scale of m is then 1: a sink divided
// by a small scale would overflow.
DEVICE void join_sinks(o_float_fragments &o_rmem, row_state &rows, int head,
                       const kernel_params &params) {
#pragma unroll
    for (int m = 0; m < m_tiles; ++m) {
        float factor[2];
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const finished_row end =
                finish_row(rows.row_max[m][h], rows.row_sum[m][h], head, params);
            factor[h] = end.factor * end.row_sum;
            rows.row_max[m][h] = end.row_max;
            rows.row_sum[m][h] = end.row_sum;
        }
#pragma unroll
        for (int d = 0; d < d_tiles; ++d)
            scale_rows(o_rmem[m][d], factor);
    }
}

// Offset of a query's row in O, and its index in the tensors that have one element or pair per
// query: LSE and the workspaces. `row` counts from the begin of a batch of O.
DEVICE i64 o_row_offset(int batch, int head, int row, const kernel_params &params) {
    return params.o.to_head(batch, head) + multiply_wide(row, params.o.row);
}

DEVICE i64 row_index(int batch, int head, int row, const kernel_params &params) {
    return static_cast<i64>(batch * params.heads + head) * params.rows + row;
}

// Writes the warp's rows within the tensor: O divided by l, or zeros where l is zero; and LSE.
DEVICE void store_o(element *o, float *lse, const o_float_fragments &o_rmem, const row_state &rows,
                    const work_unit &work, const kernel_params &params,
                    const thread_coords &thread) {
#pragma unroll
    for (int i = 0; i < m_tiles * 2; ++i) {
        const int m = i / 2, h = i % 2,
                  row = work.first_row + thread.first_row + m * 16 + h * 8 + thread.g;
        if (row >= work.S)
            continue;
        const float row_sum = rows.row_sum[m][h], inverse = inverse_row_sum(row_sum);
        element *row_gmem =
            o + o_row_offset(work.batch, work.head, work.first_query + row, params) + thread.t * 2;
        if (lse && thread.t == 0)
            lse[row_index(work.batch, work.head, work.first_query + row, params)] =
                log_sum_exp(rows.row_max[m][h], row_sum, params.scale);
#pragma unroll
        for (int d = 0; d < d_tiles; ++d)
            *reinterpret_cast<u32 *>(row_gmem + d * 8) = pack_pair<element>(
                o_rmem[m][d][h * 2] * inverse, o_rmem[m][d][h * 2 + 1] * inverse);
    }
}
