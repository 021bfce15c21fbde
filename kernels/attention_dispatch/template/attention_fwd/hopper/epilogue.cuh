// Included by kernel.cu: the epilogue of a work unit, after the mainloop.

// 1 / l, or 0 for a query without visible keys. (Its l may be non-zero, because exp2_polynomial
// never returns 0.)
DEVICE float inverse_row_sum(float row_max, float row_sum) {
    return row_max == minus_infinity ? 0.0f : 1.0f / row_sum;
}

// Reduces l of each row over all keys of the warpgroup.
DEVICE void finalize_row_sums(row_state &rows) {
    rows.row_sum[0] = lanes_sum<4>(rows.row_sum[0]);
    rows.row_sum[1] = lanes_sum<4>(rows.row_sum[1]);
}

// Reduces m, l and O over the warpgroup sets that split the keys; the result is in set 0. In each
// round the upper half of the sets writes to shared memory, and the threads of the lower half with
// the same fragments read it.
DEVICE void merge_warpgroup_sets(o_accumulators &o_rmem, row_state &rows,
                                 const kernel_params &params, const thread_coords &thread) {
    constexpr int stride =
        groups_m * 128; // distance, in words, between consecutive words of a thread
    float *thread_smem = reinterpret_cast<float *>(smem) + threadIdx.x % stride;
#pragma unroll
    for (int half = groups_kv / 2; half > 0; half /= 2) {
        float *word_smem = thread_smem + thread.set % half * merge_words * stride;
        named_barrier_sync(
            1, consumer_threads); // the last tiles, or the previous round's results, have been read
        if (thread.set >= half && thread.set < 2 * half) {
#pragma unroll
            for (int h = 0; h < 2; ++h, word_smem += 2 * stride) {
                word_smem[0] = rows.row_max[h];
                word_smem[stride] = rows.row_sum[h];
            }
#pragma unroll
            for (int i = 0; i < o_registers; ++i, word_smem += stride)
                *word_smem = o_rmem[i];
        }
        named_barrier_sync(1, consumer_threads); // the upper half has written its results
        if (thread.set < half) {
            float own_factor[2], other_factor[2];
#pragma unroll
            for (int h = 0; h < 2; ++h, word_smem += 2 * stride) {
                const float new_max = fmaxf(rows.row_max[h], word_smem[0]);
                own_factor[h] = correction_factor(rows.row_max[h], new_max, params.scale);
                other_factor[h] = correction_factor(word_smem[0], new_max, params.scale);
                rows.row_max[h] = new_max;
                rows.row_sum[h] =
                    rows.row_sum[h] * own_factor[h] + word_smem[stride] * other_factor[h];
            }
#pragma unroll
            for (int i = 0; i < o_registers; ++i, word_smem += stride)
                o_rmem[i] =
                    o_rmem[i] * own_factor[i / 2 % 2] + *word_smem * other_factor[i / 2 % 2];
        }
    }
}

// Offset in shared memory of block `to` where this thread finds the partial results from block
// `from`; a block sends none to itself.
DEVICE int partial_offset(int from, int to) {
    const int sender = (from > to ? from - 1 : from) * groups_m + threadIdx.x / 128;
    return partials_smem + (sender * partial_words * 128 + static_cast<int>(threadIdx.x % 128)) * 4;
}

// Sends m, l and the columns of O that it reduces to each other block of the cluster.
DEVICE void send_partials(const o_accumulators &o_rmem, const row_state &rows, int rank) {
#pragma unroll
    for (int to = 0; to < kv_splits; ++to) {
        if (to == rank)
            continue;
        const u32 word_smem = map_to_block(smem_address(smem) + partial_offset(rank, to), to);
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            store_shared_cluster(word_smem + h * 512, rows.row_max[h]);
            store_shared_cluster(word_smem + (2 + h) * 512, rows.row_sum[h]);
        }
#pragma unroll
        for (int i = 0; i < owned_registers; ++i)
            store_shared_cluster(word_smem + (4 + i) * 512, o_rmem[to * owned_registers + i]);
    }
}

// Where O has the thread's row h; o_gmem is row 0 of the first row's head.
DEVICE element *o_row(element *o_gmem, int row, int h, const kernel_params &params) {
    element *row_gmem = o_gmem + multiply_wide(row, params.o.row);
    if constexpr (row_head(8) > 0)
        row_gmem += params.o.to_head(0, h);
    return row_gmem;
}

// Writes the log-sum-exp of the thread's row h, if it is asked for.
DEVICE void store_lse(float *lse, i64 row_id, int row, int h, float row_max, float row_sum,
                      const mainloop_state &state, const kernel_params &params,
                      const thread_coords &thread) {
    if (lse && thread.t == 0 && row < state.S)
        lse[row_id + h * row_head(8) * params.rows + row] =
            log_sum_exp(row_max, row_sum, params.scale);
}

// Combines all blocks' partial results of this block's columns and writes them.
DEVICE void reduce_and_store(element *o_gmem, float *lse, i64 row_id, const o_accumulators &o_rmem,
                             const row_state &rows, int rank, const mainloop_state &state,
                             const kernel_params &params, const thread_coords &thread) {
    float row_max[2] = {rows.row_max[0], rows.row_max[1]}, row_sum[2], total[owned_registers],
          factor[2];
#pragma unroll
    for (int from = 0; from < kv_splits; ++from)
#pragma unroll
        for (int h = 0; h < 2; ++h)
            if (from != rank)
                row_max[h] =
                    fmaxf(row_max[h],
                          *reinterpret_cast<float *>(smem + partial_offset(from, rank) + h * 512));
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        factor[h] = correction_factor(rows.row_max[h], row_max[h], params.scale);
        row_sum[h] = rows.row_sum[h] * factor[h];
    }
#pragma unroll
    for (int split = 0; split < kv_splits;
         ++split) // register indices must be compile-time constants
        if (split == rank)
#pragma unroll
            for (int i = 0; i < owned_registers; ++i)
                total[i] = o_rmem[split * owned_registers + i] * factor[i / 2 % 2];
#pragma unroll
    for (int from = 0; from < kv_splits; ++from) {
        const unsigned char *partial = smem + partial_offset(from, rank);
        if (from == rank)
            continue;
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            factor[h] = correction_factor(*reinterpret_cast<const float *>(partial + h * 512),
                                          row_max[h], params.scale);
            row_sum[h] += *reinterpret_cast<const float *>(partial + (2 + h) * 512) * factor[h];
        }
#pragma unroll
        for (int i = 0; i < owned_registers; ++i)
            total[i] +=
                *reinterpret_cast<const float *>(partial + (4 + i) * 512) * factor[i / 2 % 2];
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const int row = state.row + h * row_query(8);
        const float inverse = inverse_row_sum(row_max[h], row_sum[h]);
        element *pair_gmem =
            o_row(o_gmem, row, h, params) + rank * owned_registers * 2 + thread.t * 2;
        if (rank == 0)
            store_lse(lse, row_id, row, h, row_max[h], row_sum[h], state, params, thread);
#pragma unroll
        for (int d = 0; d < owned_registers / 4; ++d)
            if (row < state.S)
                *reinterpret_cast<u32 *>(pair_gmem + d * 8) = pack_pair<element>(
                    total[d * 4 + h * 2] * inverse, total[d * 4 + h * 2 + 1] * inverse);
    }
}

// 1 / l of the thread's rows, whose log-sum-exp it writes if it is asked for.
DEVICE void finish_rows(float (&inverse)[2], float *lse, i64 row_id, const row_state &rows,
                        const mainloop_state &state, const kernel_params &params,
                        const thread_coords &thread) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const int row = state.row + h * row_query(8);
        inverse[h] = inverse_row_sum(rows.row_max[h], rows.row_sum[h]);
        store_lse(lse, row_id, row, h, rows.row_max[h], rows.row_sum[h], state, params, thread);
    }
}

// Two halves of O divided by l, or zeros where l is zero: row half h of column tile d.
DEVICE u32 o_pair(const o_accumulators &o_rmem, const float (&inverse)[2], int d, int h) {
    return pack_pair<element>(o_rmem[d * 4 + h * 2] * inverse[h],
                              o_rmem[d * 4 + h * 2 + 1] * inverse[h]);
}

// Writes the rows within the tensor. The four lanes of a row exchange pairs, so that each writes
// 16 bytes at a time.
DEVICE void store_o_by_threads(element *o_gmem, const o_accumulators &o_rmem,
                               const float (&inverse)[2], const mainloop_state &state,
                               const kernel_params &params, const thread_coords &thread) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const int row = state.row + h * row_query(8);
        element *row_gmem = o_row(o_gmem, row, h, params);
#pragma unroll
        for (int d = 0; d < d_tiles; d += 4) {
            u32 pairs[4];
#pragma unroll
            for (int i = 0; i < 4; ++i)
                pairs[i] = o_pair(o_rmem, inverse, d + i, h);
            lanes_transpose(pairs);
            if (row < state.S)
                *reinterpret_cast<uint4 *>(row_gmem + (d + thread.t) * 8) =
                    make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
        }
    }
}

// Waits until the stores that store_o_by_tma has issued have read the shared memory: before the
// next ones, and before the block ends.
DEVICE void finish_o_stores() {
    if constexpr (tma_store_o) {
        bulk_wait_read<0>(); // of this thread, if it has issued any
        __syncwarp();
    }
}

// Each warp puts its 16 rows into shared memory, as panels of 64 columns whose 16-byte chunks are
// swizzled, and has them stored; rows behind the tensor are left out. The stores go on beside the
// next unit.
DEVICE void store_o_by_tma(const tensor_map &o_map, const o_accumulators &o_rmem,
                           const float (&inverse)[2], const work_unit &work,
                           const thread_coords &thread) {
    constexpr int warp_panel_bytes = 16 * 128;
    const int lane = threadIdx.x % 32;
    const int warp_query = thread.first_row / pack_heads + row_query(thread.warp_row);
    const u32 warp_smem =
        smem_address(smem) + o_smem + (thread.first_row + thread.warp_row) * (panels * 128);
    finish_o_stores();
#pragma unroll
    for (int d = 0; d < d_tiles; d += 2) {
        const int chunk = (d % 8 + lane / 16) ^ (lane % 8);
        stmatrix_x4(warp_smem + d / 8 * warp_panel_bytes + lane % 16 * 128 + chunk * 16,
                    o_pair(o_rmem, inverse, d, 0), o_pair(o_rmem, inverse, d, 1),
                    o_pair(o_rmem, inverse, d + 1, 0), o_pair(o_rmem, inverse, d + 1, 1));
    }
    fence_proxy_async();
    __syncwarp();
    if (lane == 0) {
#pragma unroll
        for (int panel = 0; panel < panels; ++panel)
            tma_store(o_map, warp_smem + panel * warp_panel_bytes, panel * 64,
                      work.first_row + warp_query, work.head + row_head(thread.warp_row),
                      work.batch);
        bulk_commit();
    }
}
