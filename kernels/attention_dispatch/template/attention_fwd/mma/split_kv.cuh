// Included by kernel.cu: combination of the KV splits, through a workspace or within a cluster.

// ---- through a workspace: combined by a second kernel or by the last block ----

// Writes a split's partial results for the warp's rows within the tensor: the pair (m, l), and the
// unnormalised O unless the split has no visible key of that row.
DEVICE void store_partial(float *partial_o, float *partial_ml, const o_float_fragments &o_rmem,
                          const row_state &rows, const work_unit &work, const kernel_params &params,
                          const thread_coords &thread) {
#pragma unroll
    for (int i = 0; i < m_tiles * 2; ++i) {
        const int m = i / 2, h = i % 2,
                  row = work.first_row + thread.first_row + m * 16 + h * 8 + thread.g;
        const i64 row_id =
            row_index(work.batch, work.head, work.first_query + row, params) * kv_splits +
            work.split;
        if (row >= work.S)
            continue;
        if (thread.t == 0)
            reinterpret_cast<float2 *>(partial_ml)[row_id] = {rows.row_max[m][h],
                                                              rows.row_sum[m][h]};
        if (rows.row_max[m][h] == minus_infinity)
            continue;
#pragma unroll
        for (int d = 0; d < d_tiles; ++d)
            *reinterpret_cast<float2 *>(partial_o + row_id * v_dim + d * 8 + thread.t * 2) = {
                o_rmem[m][d][h * 2], o_rmem[m][d][h * 2 + 1]};
    }
}

// Combines the splits of a row: O = sum of c_i O_i / sum of c_i l_i, where c_i = exp(m_i - m)
// rescales split i to the largest m of all splits. A row has row_threads threads of four columns
// each.
constexpr int row_threads = v_dim / 4;

DEVICE void combine_row(const float *partial_o, const float *partial_ml, element *o, float *lse,
                        int batch, int head, int row, const kernel_params &params) {
    const i64 row_id = row_index(batch, head, row, params);
    const int column = threadIdx.x % row_threads * 4;
    const float2 *ml_gmem = reinterpret_cast<const float2 *>(partial_ml) + row_id * kv_splits;
    float row_max = minus_infinity, row_sum = 0, scale = params.scale, total[4] = {};
#pragma unroll 16
    for (int split = 0; split < kv_splits; ++split)
        row_max = fmaxf(row_max, ml_gmem[split].x);
#pragma unroll 8
    for (int split = 0; split < kv_splits; ++split) {
        const float2 ml = ml_gmem[split];
        if (ml.x == minus_infinity)
            continue; // this split has no visible key of the row and wrote no O
        const float factor = correction_factor(ml.x, row_max, params.scale);
        const float4 partial = *reinterpret_cast<const float4 *>(
            partial_o + (row_id * kv_splits + split) * v_dim + column);
        row_sum += ml.y * factor;
        total[0] += partial.x * factor;
        total[1] += partial.y * factor;
        total[2] += partial.z * factor;
        total[3] += partial.w * factor;
    }
    if constexpr (has_sinks) {
        const finished_row end = finish_row(row_max, row_sum, head, params);
        for (float &sum : total)
            sum *= end.factor * end.row_sum;
        row_max = end.row_max;
        scale = end.scale;
        row_sum = end.row_sum;
    }
    const float inverse = inverse_row_sum(row_sum);
    if (lse && column == 0)
        lse[row_id] = log_sum_exp(row_max, row_sum, scale);
    *reinterpret_cast<uint2 *>(o + o_row_offset(batch, head, row, params) + column) = {
        pack_pair<element>(total[0] * inverse, total[1] * inverse),
        pack_pair<element>(total[2] * inverse, total[3] * inverse)};
}

// The counter of the blocks that share a query tile; counter 0 belongs to the tile scheduler.
DEVICE u32 *split_counter(u32 *counters, const work_unit &work, const kernel_params &params) {
    return counters + 1 + (work.sequence * params.heads + work.head) * ceil_div(params.S, block_m) +
           work.first_row / block_m;
}

// Combines the splits of a query tile, by all threads of one block.
DEVICE void combine_tile(const float *partial_o, const float *partial_ml, element *o, float *lse,
                         const work_unit &work, const kernel_params &params) {
    constexpr int pass_rows = threads / row_threads; // some threads may be left over
    const int end = min(work.first_row + block_m, work.S);
    if (threads % row_threads != 0 && threadIdx.x >= pass_rows * row_threads)
        return;
#pragma unroll 1
    for (int row = work.first_row + threadIdx.x / row_threads; row < end; row += pass_rows)
        combine_row(partial_o, partial_ml, o, lse, work.batch, work.head, work.first_query + row,
                    params);
}

// ---- within a cluster ----

// Offset in shared memory of block `to` where this thread, of warp group 0, finds the partial
// results from block `from`; a block sends none to itself.
DEVICE int partial_offset(int from, int to) {
    const int sender = from > to ? from - 1 : from;
    return partials_smem +
           (sender * partial_words * warps_m * 32 + static_cast<int>(threadIdx.x)) * 4;
}

DEVICE void send_partials(const o_float_fragments &o_rmem, const row_state &rows, int rank) {
    constexpr int stride = warps_m * 32 * 4; // bytes between consecutive words of a thread
#pragma unroll
    for (int to = 0; to < kv_splits; ++to) {
        u32 word_smem = map_to_block(smem_address(smem) + partial_offset(rank, to), to);
        if (to == rank)
            continue;
#pragma unroll
        for (int m = 0; m < m_tiles; ++m) {
#pragma unroll
            for (int h = 0; h < 2; ++h, word_smem += 2 * stride) {
                store_shared_cluster(word_smem, rows.row_max[m][h]);
                store_shared_cluster(word_smem + stride, rows.row_sum[m][h]);
            }
#pragma unroll
            for (int i = 0; i < 4 * owned_tiles; ++i, word_smem += stride)
                store_shared_cluster(word_smem, o_rmem[m][to * owned_tiles + i / 4][i % 4]);
        }
    }
}

// For one tile of 16 queries of the warp: rescales this block's and the received partial results to
// the common maximum, adds them up and writes the rows.
DEVICE void reduce_rows_and_store(element *o, float *lse, float (&o_rmem)[owned_tiles][4],
                                  float (&row_max)[2], float (&row_sum)[2], int m,
                                  const work_unit &work, const kernel_params &params,
                                  const thread_coords &thread) {
    constexpr int stride = warps_m * 32;
#pragma unroll
    for (int from = 0; from < kv_splits; ++from) {
        const float *word_smem =
            reinterpret_cast<const float *>(smem + partial_offset(from, work.split)) +
            m * (4 + 4 * owned_tiles) * stride;
        float own_factor[2], other_factor[2];
        if (from == work.split)
            continue;
#pragma unroll
        for (int h = 0; h < 2; ++h, word_smem += 2 * stride) {
            const float new_max = fmaxf(row_max[h], word_smem[0]);
            own_factor[h] = correction_factor(row_max[h], new_max, params.scale);
            other_factor[h] = correction_factor(word_smem[0], new_max, params.scale);
            row_max[h] = new_max;
            row_sum[h] = row_sum[h] * own_factor[h] + word_smem[stride] * other_factor[h];
        }
#pragma unroll
        for (int i = 0; i < 4 * owned_tiles; ++i, word_smem += stride) {
            float &total = o_rmem[i / 4][i % 4];
            total = total * own_factor[i % 4 / 2] + *word_smem * other_factor[i % 4 / 2];
        }
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const int row = work.first_row + thread.first_row + m * 16 + h * 8 + thread.g;
        if (row >= work.S)
            continue;
        const finished_row end = finish_row(row_max[h], row_sum[h], work.head, params);
        const float inverse = end.factor;
        element *row_gmem = o +
                            o_row_offset(work.batch, work.head, work.first_query + row, params) +
                            work.split * owned_tiles * 8 + thread.t * 2;
        if (lse && work.split == 0 && thread.t == 0)
            lse[row_index(work.batch, work.head, work.first_query + row, params)] =
                log_sum_exp(end.row_max, end.row_sum, end.scale);
#pragma unroll
        for (int d = 0; d < owned_tiles; ++d)
            *reinterpret_cast<u32 *>(row_gmem + d * 8) =
                pack_pair<element>(o_rmem[d][h * 2] * inverse, o_rmem[d][h * 2 + 1] * inverse);
    }
}

DEVICE void reduce_and_store(element *o, float *lse, const o_float_fragments &o_rmem,
                             row_state &rows, const work_unit &work, const kernel_params &params,
                             const thread_coords &thread) {
#pragma unroll
    for (int m = 0; m < m_tiles; ++m) {
        float own_rmem[owned_tiles][4] = {};
#pragma unroll
        for (int part = 0; part < kv_splits;
             ++part) // register indices must be compile-time constants
#pragma unroll
            for (int i = 0; i < 4 * owned_tiles; ++i)
                if (part == work.split)
                    own_rmem[i / 4][i % 4] = o_rmem[m][part * owned_tiles + i / 4][i % 4];
        reduce_rows_and_store(o, lse, own_rmem, rows.row_max[m], rows.row_sum[m], m, work, params,
                              thread);
    }
}
