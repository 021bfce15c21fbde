// Included by kernel.cu: the epilogue. The block adds up what its warps found; and if its keys are
// one split of several, a second kernel, the last block or the cluster adds up the splits.

// Leaves a warp's results where the block adds them up.
DEVICE void store_warp(const o_fragments &o_rmem, softmax_rows &rows) {
    float *o_smem = reinterpret_cast<float *>(smem) + threadIdx.x / 32 * o_words;
    float2 *ml = reinterpret_cast<float2 *>(smem + ml_smem) + threadIdx.x / 32 * row_tile;
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        rows.row_sum[h] = lanes_sum<4>(rows.row_sum[h]);
        if (t == 0)
            ml[g + h * 8] = {rows.row_max[h], rows.row_sum[h]};
#pragma unroll
        for (int d = 0; d < d_tiles; ++d)
            *reinterpret_cast<float2 *>(o_smem + (g + h * 8) * o_pitch + d * 8 +
                                        t * 2) = {o_rmem[d][h * 2], o_rmem[d][h * 2 + 1]};
    }
}

// Adds up the warps' results of a row.
DEVICE row_part sum_warps(int row, int column, const kernel_params &params) {
    const float *o_smem = reinterpret_cast<const float *>(smem) + row * o_pitch + column;
    const float2 *ml = reinterpret_cast<const float2 *>(smem + ml_smem) + row;
    row_part sum;
#pragma unroll
    for (int w = 0; w < warps; ++w)
        sum.row_max = fmaxf(sum.row_max, ml[w * row_tile].x);
#pragma unroll
    for (int w = 0; w < warps; ++w)
        sum.add(ml[w * row_tile].y, *reinterpret_cast<const float4 *>(o_smem + w * o_words),
                correction_factor(ml[w * row_tile].x, sum.row_max, params.scale));
    return sum;
}

DEVICE i64 row_index(int batch, const query &it, const kernel_params &params) {
    return static_cast<i64>(batch * params.heads + it.head) * params.S + it.number;
}

// A row's end: with the head's sink, if there are any.
DEVICE finished_row finish_row(const row_part &sum, int head, const kernel_params &params) {
    if constexpr (has_sinks)
        return finish_with_sink(sum.row_max, sum.row_sum, params.scale, params.sinks[head]);
    return {sum.row_max, sum.row_sum, params.scale,
            sum.row_max == minus_infinity ? 0.0f : 1.0f / sum.row_sum};
}

// O divided by l, or zeros where l is zero; and LSE.
DEVICE void store_row(element *o, float *lse, const row_part &sum, int column, int batch,
                      const query &it, const kernel_params &params) {
    const finished_row end = finish_row(sum, it.head, params);
    const float inverse = end.factor;
    if (lse && column == 0)
        lse[row_index(batch, it, params)] = log_sum_exp(end.row_max, end.row_sum, end.scale);
    *reinterpret_cast<uint2 *>(o + params.o.to_head(batch, it.head) +
                               multiply_wide(it.number, params.o.row) + column) = {
        pack_pair<element>(sum.o[0] * inverse, sum.o[1] * inverse),
        pack_pair<element>(sum.o[2] * inverse, sum.o[3] * inverse)};
}

// A split's results; O only if the split has a key that the row sees.
DEVICE void store_partial(float *partial_o, float *partial_ml, const row_part &sum, int column,
                          int split, i64 row_id) {
    const i64 part = row_id * kv_splits + split;
    if (column == 0)
        reinterpret_cast<float2 *>(partial_ml)[part] = {sum.row_max, sum.row_sum};
    if (sum.row_max != minus_infinity)
        *reinterpret_cast<float4 *>(partial_o + part * v_dim + column) = {sum.o[0], sum.o[1],
                                                                          sum.o[2], sum.o[3]};
}

// Adds up the splits of a row: O = sum of c_i O_i / sum of c_i l_i, where c_i rescales split i to
// the largest m.
DEVICE row_part sum_splits(const float *partial_o, const float *partial_ml, int column, i64 row_id,
                           const kernel_params &params) {
    const float2 *ml = reinterpret_cast<const float2 *>(partial_ml) + row_id * kv_splits;
    const float *o_gmem = partial_o + row_id * kv_splits * v_dim + column;
    row_part sum;
#pragma unroll 16
    for (int split = 0; split < kv_splits; ++split)
        sum.row_max = fmaxf(sum.row_max, ml[split].x);
#pragma unroll 16
    for (int split = 0; split < kv_splits; ++split) {
        const float2 part = ml[split];
        if (part.x != minus_infinity)
            sum.add(part.y, *reinterpret_cast<const float4 *>(o_gmem + split * v_dim),
                    correction_factor(part.x, sum.row_max, params.scale));
    }
    return sum;
}

// ---- within a cluster ----

// Leaves what the block found where the others read it.
DEVICE void store_block(const row_part &sum, int row, int column) {
    *reinterpret_cast<float4 *>(smem + part_smem + (row * v_dim + column) * 4) = {
        sum.o[0], sum.o[1], sum.o[2], sum.o[3]};
    if (column == 0)
        reinterpret_cast<float2 *>(smem + part_ml_smem)[row] = {sum.row_max, sum.row_sum};
}

DEVICE row_part sum_blocks(int row, int column, const kernel_params &params) {
    const u32 ml_smem = smem_address(smem) + part_ml_smem + row * 8;
    const u32 o_smem = smem_address(smem) + part_smem + (row * v_dim + column) * 4;
    float2 ml[kv_splits];
    row_part sum;
#pragma unroll
    for (int split = 0; split < kv_splits; ++split) {
        ml[split] = load_shared_cluster_8(map_to_block(ml_smem, split));
        sum.row_max = fmaxf(sum.row_max, ml[split].x);
    }
#pragma unroll
    for (int split = 0; split < kv_splits; ++split)
        sum.add(ml[split].y, load_shared_cluster_16(map_to_block(o_smem, split)),
                correction_factor(ml[split].x, sum.row_max, params.scale));
    return sum;
}

// ---- of a block ----

// Runs `row(number, column)` for each row of the block that exists, by row_threads threads with
// four columns each; of `parts` blocks that share the work, this is one.
template <typename step>
DEVICE void for_rows(const work_unit &work, const kernel_params &params, int part, int parts,
                     const step &row) {
#pragma unroll 1
    for (int item = part * threads + threadIdx.x; item < row_tile * row_threads;
         item += parts * threads) {
        const query it = query_of(item / row_threads, work, params);
        if (it.exists)
            row(it, item / row_threads, item % row_threads * 4);
    }
}

// Adds up the warps' results: writes the rows, or what the splits' are added up from.
DEVICE void add_up_block(element *o, float *lse, float *partial_o, float *partial_ml,
                         const work_unit &work, const kernel_params &params) {
    for_rows(work, params, 0, 1, [&](const query &it, int row, int column) {
        const row_part sum = sum_warps(row, column, params);
        if constexpr (kv_splits == 1)
            store_row(o, lse, sum, column, work.batch, it, params);
        else if constexpr (combine_in_cluster)
            store_block(sum, row, column);
        else
            store_partial(partial_o, partial_ml, sum, column, work.split,
                          row_index(work.batch, it, params));
    });
}

// By the last block of the row tile.
DEVICE void add_up_splits(element *o, float *lse, const float *partial_o, const float *partial_ml,
                          const work_unit &work, const kernel_params &params) {
    for_rows(work, params, 0, 1, [&](const query &it, int, int column) {
        const i64 row_id = row_index(work.batch, it, params);
        store_row(o, lse, sum_splits(partial_o, partial_ml, column, row_id, params), column,
                  work.batch, it, params);
    });
}

// By all blocks of the cluster, each a share of the rows' columns.
DEVICE void add_up_cluster(element *o, float *lse, const work_unit &work,
                           const kernel_params &params) {
    cluster_arrive();
    cluster_wait(); // every block's results are in its shared memory
    for_rows(work, params, work.split, kv_splits, [&](const query &it, int row, int column) {
        store_row(o, lse, sum_blocks(row, column, params), column, work.batch, it, params);
    });
    cluster_arrive();
    cluster_wait(); // every block has been read, and may end
}
