// Included by kernel.cu: from the sums of a tile to C.

// A barrier of the threads that have the sums of a tile.
DEVICE void sync_sums(int warpgroup) {
    named_barrier_sync(pingpong ? 4 + warpgroup : 1, sum_threads);
}

// The sums of all blocks that share the tile, in the one that comes last; false in the others.
DEVICE bool add_parts_of_blocks(sum_registers &sums, const tile_part &part, float4 *parts_gmem,
                                u32 *counters_gmem, int warpgroup) {
    u32 *flag_smem = reinterpret_cast<u32 *>(smem + flags_offset) + (pingpong ? warpgroup : 0);
    auto &flat = reinterpret_cast<float(&)[registers]>(sums);
    const bool last =
        add_parts<sum_threads>(flat, part, parts_gmem, counters_gmem + part.tile, flag_smem,
                               threadIdx.x % sum_threads, true, [=] { sync_sums(warpgroup); });
    sync_sums(warpgroup); // the flag has been read
    return last;
}

// The tile of C of a warpgroup and what its epilogue needs. Four neighbouring n-tiles of 8 columns
// are a group: its 16-byte stores have whole sectors of memory.
struct output_tile {
    element *c;
    const element *bias, *residual;
    int batch;
    i64 batch_offset; // in elements
    int row, column;  // of D: the warp's first row, the tile's first column
    int M, N;

    DEVICE output_tile(const block_tile &tile, int warpgroup, element *c, const element *bias,
                       const element *residual, int M, int N)
        : c(c), bias(bias), residual(residual), batch(tile.batch),
          batch_offset(multiply_wide(tile.batch, M) * N),
          row(tile.row + (pingpong ? 0 : warpgroup * warpgroup_rows) +
              static_cast<int>(threadIdx.x / 32 % 4) * 16),
          column(tile.column), M(M), N(N) {
    }

    static constexpr bool adds_residual = epilogue == linear_epilogue::residual;
    static constexpr bool adds_bias = epilogue != linear_epilogue::none && !adds_residual;

    DEVICE void write(const sum_registers &sums, const tensor_map &c_map) const {
        if constexpr (in_cluster)
            write_share(sums);
        else if constexpr (store_by_tma)
            write_panels(sums, c_map);
        else
#pragma unroll
            for (int m = 0; m < m_tiles; ++m)
#pragma unroll
                for (int n = 0; n < n_tiles; n += at_once) {
                    float values[at_once][4] = {};
                    take_values(values, sums[m], n);
                    write_columns(values, m, n);
                }
    }

    static constexpr int at_once = swapped ? 1 : 4; // n-tiles

    static DEVICE void take_values(float (&values)[at_once][4], const float (&sums)[n_tiles * 4],
                                   int n) {
#pragma unroll
        for (int i = 0; i < at_once; ++i)
#pragma unroll
            for (int e = 0; e < 4; ++e)
                if (n + i < n_tiles)
                    values[i][e] = sums[(n + i) * 4 + e];
    }

    // In a cluster that shares a sum: a share of the tile's columns, with the sums of all blocks.
    DEVICE void write_share(const sum_registers &sums) const {
        const u32 own_smem = smem_address(smem) + threadIdx.x % sum_threads * 16;
        sync_sums(0); // all stages have been read
#pragma unroll
        for (int i = 0; i < registers / 4; ++i) {
            const float *from = &sums[i / n_tiles][i % n_tiles * 4];
            store_smem_16(own_smem + i * sum_threads * 16,
                          make_uint4(__float_as_uint(from[0]), __float_as_uint(from[1]),
                                     __float_as_uint(from[2]), __float_as_uint(from[3])));
        }
        cluster_sync(); // the sums of all blocks are there
        const int rank = cluster_rank();
        const int split = rank / cluster_blocks, among = rank % cluster_blocks;
#pragma unroll
        for (int m = 0; m < m_tiles; ++m)
#pragma unroll
            for (int n = 0; n < n_tiles; n += at_once) {
                float values[at_once][4] = {};
                if ((m * ceil_div(n_tiles, at_once) + n / at_once) % splits != split)
                    continue;
#pragma unroll
                for (int i = 0; i < at_once; ++i)
                    if (n + i < n_tiles)
                        add_splits(values[i], own_smem + (m * n_tiles + n + i) * sum_threads * 16,
                                   among);
                write_columns(values, m, n);
            }
    }

    // The sum of four elements over the blocks of the cluster that have parts of it, in order.
    static DEVICE void add_splits(float (&values)[4], u32 vector_smem, int among) {
#pragma unroll
        for (int split = 0; split < splits; ++split) {
            const float4 added =
                load_shared_cluster_16(map_to_block(vector_smem, split * cluster_blocks + among));
            values[0] += added.x;
            values[1] += added.y;
            values[2] += added.z;
            values[3] += added.w;
        }
    }

    // 16 rows and the n-tiles from n on, at most at_once.
    DEVICE void write_columns(const float (&values)[at_once][4], int m, int n) const {
        constexpr int full_groups = n_tiles / at_once * at_once;
        if constexpr (swapped)
            write_transposed(values[0], row + m * 64, column + n * 8);
        else if (n < full_groups)
            write_group(values, row + m * 64, column + n * 8);
        else
#pragma unroll
            for (int i = 0; i < n_tiles - full_groups; ++i)
                write_pairs(values[i], row + m * 64, column + (n + i) * 8);
    }

    // Two neighbours of a row, with the pair that the epilogue adds to them.
    static DEVICE u32 finish(float low, float high, u32 added) {
        return pack_pair<element>(apply_epilogue<epilogue>(low, unpack_low<element>(added)),
                                  apply_epilogue<epilogue>(high, unpack_high<element>(added)));
    }

    DEVICE i64 place(int row, int column) const {
        return batch_offset + multiply_wide(row, N) + column;
    }

    // The results of 16 rows and four n-tiles: pairs[h][i] is of row lane / 4 + 8 h and n-tile i.
    // The four lanes of a row load 16 bytes of the residual each, and exchange pairs.
    DEVICE void finish_group(u32 (&pairs)[2][4], const float (*values)[4], int first_row,
                             int first_column) const {
        const int lane = threadIdx.x % 32, own_column = first_column + lane % 4 * 8;
        u32 bias_pairs[4] = {};
        if constexpr (adds_bias)
#pragma unroll
            for (int i = 0; i < 4; ++i)
                if (first_column + i * 8 < N)
                    bias_pairs[i] =
                        *reinterpret_cast<const u32 *>(bias + first_column + i * 8 + lane % 4 * 2);
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const int own_row = first_row + lane / 4 + h * 8;
            u32 added[4] = {bias_pairs[0], bias_pairs[1], bias_pairs[2], bias_pairs[3]};
            if constexpr (adds_residual) {
                if (own_row < M && own_column < N) {
                    const uint4 loaded =
                        *reinterpret_cast<const uint4 *>(residual + place(own_row, own_column));
                    added[0] = loaded.x, added[1] = loaded.y, added[2] = loaded.z,
                    added[3] = loaded.w;
                }
                lanes_transpose(added);
            }
#pragma unroll
            for (int i = 0; i < 4; ++i)
                pairs[h][i] = finish(values[i][h * 2], values[i][h * 2 + 1], added[i]);
        }
    }

    // 16 rows and four n-tiles: the four lanes of a row exchange pairs, so that each stores 16
    // bytes at a time.
    DEVICE void write_group(const float (*values)[4], int first_row, int first_column) const {
        const int lane = threadIdx.x % 32, own_column = first_column + lane % 4 * 8;
        u32 pairs[2][4];
        finish_group(pairs, values, first_row, first_column);
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const int own_row = first_row + lane / 4 + h * 8;
            lanes_transpose(pairs[h]);
            if (own_row < M && own_column < N)
                *reinterpret_cast<uint4 *>(c + place(own_row, own_column)) =
                    make_uint4(pairs[h][0], pairs[h][1], pairs[h][2], pairs[h][3]);
        }
    }

    // The copy engine stores panels of C, which it clips at the ends of C. A warpgroup fills one of
    // its two panels while the other one is read.
    DEVICE void write_panels(const sum_registers &sums, const tensor_map &c_map) const {
        constexpr int panels = block_n / panel_columns, row_chunks = panel_columns / 8;
        const int warpgroup = threadIdx.x / 128, warp = threadIdx.x / 32 % 4;
        const int lane = threadIdx.x % 32, tile_row = warp * 16 + lane % 16;
        const bool issues = threadIdx.x % 128 == 0;
        // 16-byte chunks of a row change places: bits 4 to 6 of an address by its bits 7 to 9, or
        // bits 4 and 5 by bits 7 and 8.
        const int swap = panel_columns == 64 ? tile_row % 8 : tile_row / 2 % 4;
#pragma unroll
        for (int m = 0; m < m_tiles; ++m)
#pragma unroll
            for (int panel = 0; panel < panels; ++panel) {
                const u32 panel_smem = smem_address(smem) + panels_offset +
                                       (warpgroup * 2 + (m * panels + panel) % 2) * panel_bytes;
                if (issues)
                    bulk_wait_read<(m_tiles * panels) % 2 == 0 ? 1 : 0>();
                named_barrier_sync(6 + warpgroup, 128); // the panel's last store has read it
#pragma unroll
                for (int part = 0; part < panel_columns / 32; ++part) {
                    const int n = panel * (panel_columns / 8) + part * 4;
                    float values[at_once][4] = {};
                    u32 pairs[2][4];
                    take_values(values, sums[m], n);
                    finish_group(pairs, values, row + m * 64, column + n * 8);
#pragma unroll
                    for (int i = 0; i < 4; i += 2) {
                        const int chunk = part * 4 + i + lane / 16;
                        stmatrix_x4(panel_smem + (tile_row * row_chunks + (chunk ^ swap)) * 16,
                                    pairs[0][i], pairs[1][i], pairs[0][i + 1], pairs[1][i + 1]);
                    }
                }
                fence_proxy_async();
                named_barrier_sync(6 + warpgroup, 128); // all have written
                if (issues) {
                    tma_store(c_map, panel_smem, column + panel * panel_columns,
                              row - warp * 16 + m * 64, batch);
                    bulk_commit();
                }
            }
    }

    // 16 rows and one n-tile, by pairs.
    DEVICE void write_pairs(const float (&values)[4], int first_row, int first_column) const {
        const int lane = threadIdx.x % 32, own_column = first_column + lane % 4 * 2;
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const int own_row = first_row + lane / 4 + h * 8;
            u32 added = 0;
            if (own_row >= M || own_column >= N)
                continue;
            if constexpr (adds_residual || adds_bias)
                added = *reinterpret_cast<const u32 *>(
                    adds_bias ? bias + own_column : residual + place(own_row, own_column));
            *reinterpret_cast<u32 *>(c + place(own_row, own_column)) =
                finish(values[h * 2], values[h * 2 + 1], added);
        }
    }

    // 16 rows and 8 columns of D, which are columns and rows of C.
    DEVICE void write_transposed(const float (&values)[4], int first_row, int first_column) const {
        const int lane = threadIdx.x % 32;
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const int from_row = first_row + lane / 4 + h * 8; // a column of C
            const int from_column = first_column + lane % 4 * 2;
            element added[2] = {};
            if constexpr (adds_bias)
                if (from_row < N)
                    added[0] = added[1] = bias[from_row];
            if constexpr (adds_residual)
#pragma unroll
                for (int e = 0; e < 2; ++e)
                    if (from_row < N && from_column + e < M)
                        added[e] = residual[place(from_column + e, from_row)];
            const u32 pair =
                movmatrix_trans(finish(values[h * 2], values[h * 2 + 1],
                                       added[0].bits | static_cast<u32>(added[1].bits) << 16));
            const int to_row = first_column + lane / 4;
            const int to_column = first_row + h * 8 + lane % 4 * 2;
            if (to_row < M && to_column < N)
                *reinterpret_cast<u32 *>(c + place(to_row, to_column)) = pair;
        }
    }
};
