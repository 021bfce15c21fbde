// A part of kernel.cu: the end of a unit, when all its tiles have been walked. What several blocks
// do about one tile of queries is in splits.cuh.

// O as floats, and l of each row over all keys of the warp.
DEVICE void total_rows(o_sums &sums_rmem, row_state &rows, const o_fragments &o_rmem) {
#pragma unroll
    for (int i = 0; i < m_tiles * 2; ++i)
        rows.sum[i / 2][i % 2] = lanes_sum<4>(rows.sum[i / 2][i % 2]);
    to_floats(sums_rmem, o_rmem);
}

// Adds up the groups that shared out the keys; the result is group 0's. In each round the upper
// half of the groups hand m, l and O to the lower half: the thread with the same fragments reads
// what one wrote.
DEVICE void merge_groups(o_sums &o_rmem, row_state &rows, float scale, const place &p) {
    constexpr int stride = warps_m * 32; // word w of a thread lies `stride` words after word w - 1
    float *thread_smem = reinterpret_cast<float *>(smem) + threadIdx.x % stride;
    __syncthreads(); // every warp has read the last tile, which is now overwritten
#pragma unroll
    for (int half = warps_kv / 2; half > 0; half /= 2) {
        float *word_smem = thread_smem + p.group % half * merge_words * stride;
        if (p.group >= half && p.group < 2 * half) {
#pragma unroll
            for (int m = 0; m < m_tiles; ++m) {
#pragma unroll
                for (int h = 0; h < 2; ++h, word_smem += 2 * stride) {
                    word_smem[0] = rows.largest[m][h];
                    word_smem[stride] = rows.sum[m][h];
                }
#pragma unroll
                for (int i = 0; i < 4 * d_tiles; ++i, word_smem += stride)
                    *word_smem = o_rmem[m][i / 4][i % 4];
            }
        }
        __syncthreads(); // what the upper half wrote is there to be read
        if (p.group < half) {
#pragma unroll
            for (int m = 0; m < m_tiles; ++m) {
                float own[2], other[2];
#pragma unroll
                for (int h = 0; h < 2; ++h, word_smem += 2 * stride) {
                    const float common = fmaxf(rows.largest[m][h], word_smem[0]);
                    own[h] = weight_at(rows.largest[m][h], common, scale);
                    other[h] = weight_at(word_smem[0], common, scale);
                    rows.largest[m][h] = common;
                    rows.sum[m][h] = rows.sum[m][h] * own[h] + word_smem[stride] * other[h];
                }
#pragma unroll
                for (int i = 0; i < 4 * d_tiles; ++i, word_smem += stride) {
                    float &sum = o_rmem[m][i / 4][i % 4];
                    sum = sum * own[i % 4 / 2] + *word_smem * other[i % 4 / 2];
                }
            }
        }
        if (half > 1)
            __syncthreads(); // what was written has been read, and may be overwritten
    }
}

// The logarithm of l exp(scale given * m): of the sum of exp(scale given * score).
DEVICE float log_sum(float largest, float sum, float scale) {
    return sum > 0 ? (largest * scale + log2_fast(sum)) * (1.0f / log2_e) : minus_infinity;
}

// 1 / l, or 0 where no key was seen.
DEVICE float inverse_of(float sum) {
    return sum > 0 ? fast_math ? reciprocal_fast(sum) : 1.0f / sum : 0.0f;
}

// Where the row of a query begins: in O, and, packed, in the tensors that have a line a query.
DEVICE i64 o_offset(int batch, int head, int row, const problem &all) {
    return all.o.to_head(batch, head) + multiply_wide(row, all.o.row);
}

DEVICE i64 line_of(int batch, int head, int row, const problem &all) {
    return static_cast<i64>(batch * all.heads + head) * all.S + row;
}

// Writes the rows of the warp that exist: O divided by l, or zeros where l is zero; and LSE.
DEVICE void store_o(element *o, float *lse, const o_sums &o_rmem, const row_state &rows,
                    const unit &u, const problem &all, const place &p) {
#pragma unroll
    for (int i = 0; i < m_tiles * 2; ++i) {
        const int m = i / 2, h = i % 2, row = u.first_row + p.first_row + m * 16 + h * 8 + p.g;
        if (row >= all.S)
            continue;
        const float sum = rows.sum[m][h], inverse = inverse_of(sum);
        element *row_gmem = o + o_offset(u.batch, u.head, row, all) + p.t * 2;
        if (lse && p.t == 0)
            lse[line_of(u.batch, u.head, row, all)] = log_sum(rows.largest[m][h], sum, all.scale);
#pragma unroll
        for (int d = 0; d < d_tiles; ++d)
            *reinterpret_cast<u32 *>(row_gmem + d * 8) = pack_pair<element>(
                o_rmem[m][d][h * 2] * inverse, o_rmem[m][d][h * 2 + 1] * inverse);
    }
}
