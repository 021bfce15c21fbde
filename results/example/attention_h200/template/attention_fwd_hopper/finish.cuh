// A part of kernel.cu: the end of a unit, when all its tiles have been walked.

// The logarithm of l exp(scale given * m): of the sum of exp(scale given * score).
DEVICE float log_sum(float largest, float sum, float scale) {
    return largest == minus_infinity ? minus_infinity
                                     : (largest * scale + log2_fast(sum)) * (1.0f / log2_e);
}

// 1 / l, or 0 for a query that saw no key. (Its l need not be zero: exp2_polynomial never is.)
DEVICE float inverse_sum(float largest, float sum) {
    return largest == minus_infinity ? 0.0f : 1.0f / sum;
}

// l of each row over all keys of the warpgroup.
DEVICE void total_rows(row_state &rows) {
    rows.sum[0] = lanes_sum<4>(rows.sum[0]);
    rows.sum[1] = lanes_sum<4>(rows.sum[1]);
}

// Adds up the sets that shared out the keys; the result is set 0's. In each round the upper half of
// the sets hand m, l and O to the lower half: the thread with the same fragments reads what one
// wrote.
DEVICE void merge_sets(o_sums &o_rmem, row_state &rows, const problem &all, const place &p) {
    constexpr int stride =
        groups_m * 128; // word w of a thread lies `stride` words after word w - 1
    float *thread_smem = reinterpret_cast<float *>(smem) + threadIdx.x % stride;
#pragma unroll
    for (int half = groups_kv / 2; half > 0; half /= 2) {
        float *word_smem = thread_smem + p.set % half * merge_words * stride;
        barrier_sync(1, consumers); // tiles, or what was written before, have been read
        if (p.set >= half && p.set < 2 * half) {
#pragma unroll
            for (int h = 0; h < 2; ++h, word_smem += 2 * stride) {
                word_smem[0] = rows.largest[h];
                word_smem[stride] = rows.sum[h];
            }
#pragma unroll
            for (int i = 0; i < o_registers; ++i, word_smem += stride)
                *word_smem = o_rmem[i];
        }
        barrier_sync(1, consumers); // what the upper half wrote is there to be read
        if (p.set < half) {
            float own[2], other[2];
#pragma unroll
            for (int h = 0; h < 2; ++h, word_smem += 2 * stride) {
                const float common = fmaxf(rows.largest[h], word_smem[0]);
                own[h] = weight_at(rows.largest[h], common, all.scale);
                other[h] = weight_at(word_smem[0], common, all.scale);
                rows.largest[h] = common;
                rows.sum[h] = rows.sum[h] * own[h] + word_smem[stride] * other[h];
            }
#pragma unroll
            for (int i = 0; i < o_registers; ++i, word_smem += stride)
                o_rmem[i] = o_rmem[i] * own[i / 2 % 2] + *word_smem * other[i / 2 % 2];
        }
    }
}

// Where a thread of block `to` finds what block `from` of its cluster hands it; a block has no part
// from itself.
DEVICE int part_place(int from, int to) {
    const int number = (from > to ? from - 1 : from) * groups_m + threadIdx.x / 128;
    return parts_smem + (number * part_words * 128 + static_cast<int>(threadIdx.x % 128)) * 4;
}

// Hands each other block of the cluster m, l and the columns of O that it ends.
DEVICE void hand_parts(const o_sums &o_rmem, const row_state &rows, int rank) {
#pragma unroll
    for (int to = 0; to < kv_splits; ++to) {
        if (to == rank)
            continue;
        const u32 word_smem = map_to_block(smem_address(smem) + part_place(rank, to), to);
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            store_to_block(word_smem + h * 512, rows.largest[h]);
            store_to_block(word_smem + (2 + h) * 512, rows.sum[h]);
        }
#pragma unroll
        for (int i = 0; i < part_registers; ++i)
            store_to_block(word_smem + (4 + i) * 512, o_rmem[to * part_registers + i]);
    }
}

// Adds up what all blocks of the cluster have of this one's columns, and writes them.
DEVICE void end_part(element *o_gmem, float *lse, i64 line, const o_sums &o_rmem,
                     const row_state &rows, int rank, const walk &w, const problem &all,
                     const place &p) {
    float largest[2] = {rows.largest[0], rows.largest[1]}, sum[2], total[part_registers], weight[2];
#pragma unroll
    for (int from = 0; from < kv_splits; ++from)
#pragma unroll
        for (int h = 0; h < 2; ++h)
            if (from != rank)
                largest[h] =
                    fmaxf(largest[h],
                          *reinterpret_cast<float *>(smem + part_place(from, rank) + h * 512));
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        weight[h] = weight_at(rows.largest[h], largest[h], all.scale);
        sum[h] = rows.sum[h] * weight[h];
    }
#pragma unroll
    for (int own = 0; own < kv_splits; ++own) // a register's number must be a constant
        if (own == rank)
#pragma unroll
            for (int i = 0; i < part_registers; ++i)
                total[i] = o_rmem[own * part_registers + i] * weight[i / 2 % 2];
#pragma unroll
    for (int from = 0; from < kv_splits; ++from) {
        const unsigned char *part = smem + part_place(from, rank);
        if (from == rank)
            continue;
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            weight[h] =
                weight_at(*reinterpret_cast<const float *>(part + h * 512), largest[h], all.scale);
            sum[h] += *reinterpret_cast<const float *>(part + (2 + h) * 512) * weight[h];
        }
#pragma unroll
        for (int i = 0; i < part_registers; ++i)
            total[i] += *reinterpret_cast<const float *>(part + (4 + i) * 512) * weight[i / 2 % 2];
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const int row = w.row + h * 8;
        const float inverse = inverse_sum(largest[h], sum[h]);
        element *pair_gmem =
            o_gmem + multiply_wide(row, all.o.row) + rank * part_registers * 2 + p.t * 2;
        if (lse && rank == 0 && p.t == 0 && row < w.S)
            lse[line + row] = log_sum(largest[h], sum[h], all.scale);
#pragma unroll
        for (int d = 0; d < part_registers / 4; ++d)
            if (row < w.S)
                *reinterpret_cast<u32 *>(pair_gmem + d * 8) = pack_pair<element>(
                    total[d * 4 + h * 2] * inverse, total[d * 4 + h * 2 + 1] * inverse);
    }
}

// Writes the rows that exist: O divided by l, or zeros where l is zero. The four lanes of a row
// exchange pairs, so that each writes 16 bytes at a time.
DEVICE void store_o(element *o_gmem, float *lse, i64 line, const o_sums &o_rmem,
                    const row_state &rows, const walk &w, const problem &all, const place &p) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const int row = w.row + h * 8;
        const float inverse = inverse_sum(rows.largest[h], rows.sum[h]);
        element *row_gmem = o_gmem + multiply_wide(row, all.o.row);
        if (lse && p.t == 0 && row < w.S)
            lse[line + row] = log_sum(rows.largest[h], rows.sum[h], all.scale);
#pragma unroll
        for (int d = 0; d < d_tiles; d += 4) {
            u32 pairs[4];
#pragma unroll
            for (int i = 0; i < 4; ++i)
                pairs[i] = pack_pair<element>(o_rmem[(d + i) * 4 + h * 2] * inverse,
                                              o_rmem[(d + i) * 4 + h * 2 + 1] * inverse);
            lanes_transpose(pairs);
            if (row < w.S)
                *reinterpret_cast<uint4 *>(row_gmem + (d + p.t) * 8) =
                    make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
        }
    }
}
