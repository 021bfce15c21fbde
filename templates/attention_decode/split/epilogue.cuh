// Included by kernel.cu: the epilogue. The block adds up what its pipelines found; and if it shares
// its unit with other blocks, the last of them, or their cluster, adds up the parts.

// Leaves a warp's results where the block adds them up.
DEVICE void store_warp(const o_fragments &o_rmem, softmax_rows &rows, int pipeline_number) {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const int first_row = threadIdx.x % pipeline_threads / 32 * 16 + g;
    float *o_smem = reinterpret_cast<float *>(smem) + pipeline_number * o_words;
    float2 *ml = reinterpret_cast<float2 *>(smem + ml_smem) + pipeline_number * row_tile;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const int row = first_row + h * 8;
        rows.row_sum[h] = lanes_sum<4>(rows.row_sum[h]);
        if (t == 0)
            ml[row] = {rows.row_max[h], rows.row_sum[h]};
#pragma unroll
        for (int d = 0; d < d_tiles; d += 2) {
            const float(&low)[4] = o_rmem[d], (&high)[4] = o_rmem[d + 1];
            float *to = o_smem + row * o_pitch + d * 8;
            if constexpr (fp8) { // the even and the odd of 16 columns
                *reinterpret_cast<float4 *>(to + t * 4) = {low[h * 2], high[h * 2], low[h * 2 + 1],
                                                           high[h * 2 + 1]};
            } else {
                *reinterpret_cast<float2 *>(to + t * 2) = {low[h * 2], low[h * 2 + 1]};
                *reinterpret_cast<float2 *>(to + 8 + t * 2) = {high[h * 2], high[h * 2 + 1]};
            }
        }
    }
}

// Adds up `count` parts of a row; `ml(i)` gives m and l of part i, and `o(i)` its four columns.
// Those of a part that saw no key need not exist.
template <typename ml_of, typename o_of>
DEVICE row_part sum_parts(int count, float scale, const ml_of &ml, const o_of &o) {
    row_part sum;
#pragma unroll 8
    for (int i = 0; i < count; ++i)
        sum.row_max = fmaxf(sum.row_max, ml(i).x);
#pragma unroll 8
    for (int i = 0; i < count; ++i) {
        const float2 part = ml(i);
        if (part.x != minus_infinity)
            sum.add(part.y, o(i), correction_factor(part.x, sum.row_max, scale));
    }
    return sum;
}

DEVICE row_part sum_pipelines(int row, int column, float scale) {
    const float *o_smem = reinterpret_cast<const float *>(smem) + row * o_pitch + column;
    const float2 *ml = reinterpret_cast<const float2 *>(smem + ml_smem) + row;
    return sum_parts(
        pipelines, scale, [&](int i) { return ml[i * row_tile]; },
        [&](int i) { return *reinterpret_cast<const float4 *>(o_smem + i * o_words); });
}

// O divided by l, or zeros where no key was seen; and LSE.
DEVICE void store_row(const row_part &sum, int column, const query &it, const work_unit &work,
                      const unit_scales &scales, const kernel_params &params) {
    const float inverse = sum.row_max == minus_infinity ? 0.0f : scales.v / sum.row_sum;
    if (params.lse && column == 0)
        params.lse[(work.sequence * params.heads + it.head) * params.S + it.number] =
            log_sum_exp(sum.row_max, sum.row_sum, scales.softmax);
    *reinterpret_cast<uint2 *>(params.o + params.o_strides.to_head(work.sequence, it.head) +
                               multiply_wide(it.number, params.o_strides.row) + column) = {
        pack_pair<element>(sum.o[0] * inverse, sum.o[1] * inverse),
        pack_pair<element>(sum.o[2] * inverse, sum.o[3] * inverse)};
}

// ---- parts in the workspace ----

constexpr int part_floats = row_tile * (head_dim + 2); // O of all rows, then m and l of each

DEVICE void store_part(const row_part &sum, int row, int column, int slot,
                       const kernel_params &params) {
    float *part_gmem = params.parts + multiply_wide(slot, part_floats);
    if (column == 0)
        reinterpret_cast<float2 *>(part_gmem + row_tile * head_dim)[row] = {sum.row_max,
                                                                            sum.row_sum};
    if (sum.row_max != minus_infinity)
        *reinterpret_cast<float4 *>(part_gmem + row * head_dim + column) = {sum.o[0], sum.o[1],
                                                                            sum.o[2], sum.o[3]};
}

DEVICE row_part sum_blocks(int row, int column, const work_unit &work, float scale,
                           const kernel_params &params) {
    const auto part_gmem = [&](int i) {
        return params.parts + multiply_wide(work.slot(i), part_floats);
    };
    return sum_parts(
        work.parts, scale,
        [&](int i) {
            return reinterpret_cast<const float2 *>(part_gmem(i) + row_tile * head_dim)[row];
        },
        [&](int i) {
            return *reinterpret_cast<const float4 *>(part_gmem(i) + row * head_dim + column);
        });
}

// ---- parts in the shared memory of a cluster ----

DEVICE void store_for_cluster(const row_part &sum, int row, int column) {
    *reinterpret_cast<float4 *>(smem + part_smem + (row * head_dim + column) * 4) = {
        sum.o[0], sum.o[1], sum.o[2], sum.o[3]};
    if (column == 0)
        reinterpret_cast<float2 *>(smem + part_ml_smem)[row] = {sum.row_max, sum.row_sum};
}

DEVICE row_part sum_cluster(int row, int column, float scale) {
    const u32 ml_smem = smem_address(smem) + part_ml_smem + row * 8;
    const u32 o_smem = smem_address(smem) + part_smem + (row * head_dim + column) * 4;
    return sum_parts(
        kv_splits, scale, [&](int i) { return load_shared_cluster_8(map_to_block(ml_smem, i)); },
        [&](int i) { return load_shared_cluster_16(map_to_block(o_smem, i)); });
}

// ---- of a block ----

// Runs `row(query, number, column)` for each row of the block that exists, by row_threads threads
// with four columns each; of `parts` blocks that share the work, this is one.
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

// Called by all threads when every warp has stored its results.
DEVICE void add_up(const work_unit &work, const unit_scales &scales, const kernel_params &params) {
    for_rows(work, params, 0, 1, [&](const query &it, int row, int column) {
        const row_part sum = sum_pipelines(row, column, scales.softmax);
        if (work.parts == 1)
            store_row(sum, column, it, work, scales, params);
        else if constexpr (combine_in_cluster)
            store_for_cluster(sum, row, column);
        else
            store_part(sum, row, column, work.slot(work.part), params);
    });
    if (work.parts == 1)
        return;
    if constexpr (combine_in_cluster) {
        cluster_arrive();
        cluster_wait(); // every block's part is in its shared memory
        for_rows(work, params, work.part, work.parts, [&](const query &it, int row, int column) {
            const row_part sum = sum_cluster(row, column, scales.softmax);
            store_row(sum, column, it, work, scales, params);
        });
        cluster_arrive();
        cluster_wait(); // every block's part has been read, and the block may end
    } else if (arrive_is_last_block(params.counters + work.unit, work.parts)) {
        for_rows(work, params, 0, 1, [&](const query &it, int row, int column) {
            const row_part sum = sum_blocks(row, column, work, scales.softmax, params);
            store_row(sum, column, it, work, scales, params);
        });
    }
}
