// A part of kernel.cu: adding up the splits of the keys, by way of a workspace or within a cluster.

// ---- a workspace: a second kernel, or the last block, adds up ----

// Writes what a split has of the rows of the warp that exist: the pair (m, l), and O as it is
// unless the split saw no key of that row.
DEVICE void store_part(float *partial_o, float *partial_ml, const o_sums &o_rmem,
                       const row_state &rows, const unit &u, const problem &all, const place &p) {
#pragma unroll
    for (int i = 0; i < m_tiles * 2; ++i) {
        const int m = i / 2, h = i % 2, row = u.first_row + p.first_row + m * 16 + h * 8 + p.g;
        const i64 line = line_of(u.batch, u.head, row, all) * kv_splits + u.split;
        if (row >= all.S)
            continue;
        if (p.t == 0)
            reinterpret_cast<float2 *>(partial_ml)[line] = {rows.largest[m][h], rows.sum[m][h]};
        if (rows.largest[m][h] == minus_infinity)
            continue;
#pragma unroll
        for (int d = 0; d < d_tiles; ++d)
            *reinterpret_cast<float2 *>(partial_o + line * head_dim + d * 8 +
                                        p.t * 2) = {o_rmem[m][d][h * 2], o_rmem[m][d][h * 2 + 1]};
    }
}

// Adds up the splits of a row: O = sum of w_i O_i over sum of w_i l_i, where w_i brings split i to
// the largest m of all. A row has row_threads threads, of four columns each.
constexpr int row_threads = head_dim / 4;

DEVICE void combine_row(const float *partial_o, const float *partial_ml, element *o, float *lse,
                        int batch, int head, int row, const problem &all) {
    const i64 line = line_of(batch, head, row, all);
    const int column = threadIdx.x % row_threads * 4;
    const float2 *ml_gmem = reinterpret_cast<const float2 *>(partial_ml) + line * kv_splits;
    float largest = minus_infinity, sum = 0, total[4] = {};
#pragma unroll 16
    for (int split = 0; split < kv_splits; ++split)
        largest = fmaxf(largest, ml_gmem[split].x);
#pragma unroll 8
    for (int split = 0; split < kv_splits; ++split) {
        const float2 ml = ml_gmem[split];
        if (ml.x == minus_infinity)
            continue; // this split saw no key of the row, and wrote no O
        const float weight = weight_at(ml.x, largest, all.scale);
        const float4 o_part = *reinterpret_cast<const float4 *>(
            partial_o + (line * kv_splits + split) * head_dim + column);
        sum += ml.y * weight;
        total[0] += o_part.x * weight;
        total[1] += o_part.y * weight;
        total[2] += o_part.z * weight;
        total[3] += o_part.w * weight;
    }
    const float by = inverse_of(sum);
    if (lse && column == 0)
        lse[line] = log_sum(largest, sum, all.scale);
    *reinterpret_cast<uint2 *>(o + o_offset(batch, head, row, all) +
                               column) = {pack_pair<element>(total[0] * by, total[1] * by),
                                          pack_pair<element>(total[2] * by, total[3] * by)};
}

// The counter of the blocks that share a tile of queries; the first is the queue's.
DEVICE u32 *counter_of(u32 *counters, const unit &u, const problem &all) {
    return counters + 1 + (u.batch * all.heads + u.head) * ceil_div(all.S, block_m) +
           u.first_row / block_m;
}

// Adds up the splits of a tile of queries, by all threads of one block.
DEVICE void combine_tile(const float *partial_o, const float *partial_ml, element *o, float *lse,
                         const unit &u, const problem &all) {
    const int end = min(u.first_row + block_m, all.S);
#pragma unroll 1
    for (int row = u.first_row + threadIdx.x / row_threads; row < end; row += threads / row_threads)
        combine_row(partial_o, partial_ml, o, lse, u.batch, u.head, row, all);
}

// ---- a cluster ----
// Each block ends a share of the columns: the others hand it m, l and their O of these.

// Where group 0's thread of block `to` finds what block `from` of its cluster hands it; a block has
// no part from itself.
DEVICE int part_place(int from, int to) {
    const int number = from > to ? from - 1 : from;
    return parts_smem + (number * part_words * warps_m * 32 + static_cast<int>(threadIdx.x)) * 4;
}

DEVICE void hand_parts(const o_sums &o_rmem, const row_state &rows, int rank) {
    constexpr int stride = warps_m * 32 * 4; // from a thread's word to its next, in bytes
#pragma unroll
    for (int to = 0; to < kv_splits; ++to) {
        u32 word_smem = map_to_block(smem_address(smem) + part_place(rank, to), to);
        if (to == rank)
            continue;
#pragma unroll
        for (int m = 0; m < m_tiles; ++m) {
#pragma unroll
            for (int h = 0; h < 2; ++h, word_smem += 2 * stride) {
                store_to_block(word_smem, rows.largest[m][h]);
                store_to_block(word_smem + stride, rows.sum[m][h]);
            }
#pragma unroll
            for (int i = 0; i < 4 * part_tiles; ++i, word_smem += stride)
                store_to_block(word_smem, o_rmem[m][to * part_tiles + i / 4][i % 4]);
        }
    }
}

// One tile of 16 queries of the warp: brings what this block has, and what others handed it, to the
// largest m of all, adds up, and writes.
DEVICE void end_rows(element *o, float *lse, float (&o_rmem)[part_tiles][4], float (&largest)[2],
                     float (&sum)[2], int m, const unit &u, const problem &all, const place &p) {
    constexpr int stride = warps_m * 32;
#pragma unroll
    for (int from = 0; from < kv_splits; ++from) {
        const float *word_smem = reinterpret_cast<const float *>(smem + part_place(from, u.split)) +
                                 m * (4 + 4 * part_tiles) * stride;
        float own[2], other[2];
        if (from == u.split)
            continue;
#pragma unroll
        for (int h = 0; h < 2; ++h, word_smem += 2 * stride) {
            const float common = fmaxf(largest[h], word_smem[0]);
            own[h] = weight_at(largest[h], common, all.scale);
            other[h] = weight_at(word_smem[0], common, all.scale);
            largest[h] = common;
            sum[h] = sum[h] * own[h] + word_smem[stride] * other[h];
        }
#pragma unroll
        for (int i = 0; i < 4 * part_tiles; ++i, word_smem += stride) {
            float &total = o_rmem[i / 4][i % 4];
            total = total * own[i % 4 / 2] + *word_smem * other[i % 4 / 2];
        }
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const int row = u.first_row + p.first_row + m * 16 + h * 8 + p.g;
        if (row >= all.S)
            continue;
        const float by = inverse_of(sum[h]);
        element *row_gmem =
            o + o_offset(u.batch, u.head, row, all) + u.split * part_tiles * 8 + p.t * 2;
        if (lse && u.split == 0 && p.t == 0)
            lse[line_of(u.batch, u.head, row, all)] = log_sum(largest[h], sum[h], all.scale);
#pragma unroll
        for (int d = 0; d < part_tiles; ++d)
            *reinterpret_cast<u32 *>(row_gmem + d * 8) =
                pack_pair<element>(o_rmem[d][h * 2] * by, o_rmem[d][h * 2 + 1] * by);
    }
}

DEVICE void end_part(element *o, float *lse, const o_sums &o_rmem, row_state &rows, const unit &u,
                     const problem &all, const place &p) {
#pragma unroll
    for (int m = 0; m < m_tiles; ++m) {
        float own_rmem[part_tiles][4] = {};
#pragma unroll
        for (int part = 0; part < kv_splits; ++part) // a register's number must be a constant
#pragma unroll
            for (int i = 0; i < 4 * part_tiles; ++i)
                if (part == u.split)
                    own_rmem[i / 4][i % 4] = o_rmem[m][part * part_tiles + i / 4][i % 4];
        end_rows(o, lse, own_rmem, rows.largest[m], rows.sum[m], m, u, all, p);
    }
}
