// Included by kernel.cu: from the sums of a tile to C.

// The sums of all blocks that share the tile, in the one that comes last; false in the others.
DEVICE bool add_parts_of_blocks(sum_registers &sums, const tile_part &part, float4 *parts_gmem,
                                u32 *counters_gmem, const thread_place &thread) {
    u32 *last_smem = reinterpret_cast<u32 *>(smem); // nothing else is there now
    auto &flat = reinterpret_cast<float(&)[registers]>(sums);
    const bool last =
        add_parts<sum_threads>(flat, part, parts_gmem, counters_gmem + part.tile, last_smem,
                               thread.number, thread.along_k == 0, [] { __syncthreads(); });
    __syncthreads(); // the word has been read
    return last;
}

// A tile of C and what its epilogue needs.
struct output_tile {
    element *c;
    const element *bias, *residual;
    int batch, first_row, first_column;
    int M, N;
    int column_end = block_n, column_start = 0; // columns of the tile that this block writes

    // In a cluster, whose blocks have parts of the sum: leaves this block an equal share of the
    // columns, with the sums of all blocks.
    DEVICE void take_columns_of_block(sum_registers &sums, const thread_place &thread) {
        constexpr int share = block_n / splits;
        const int rank = cluster_rank();
        column_start = rank * share;
        column_end = column_start + share;
        const u32 own_smem = smem_address(smem) + thread.number * 16;
        if (thread.along_k == 0)
#pragma unroll
            for (int i = 0; i < registers / 4; ++i) {
                const float(&from)[4] = sums[i / n_tiles][i % n_tiles];
                reinterpret_cast<float4 *>(smem)[i * sum_threads + thread.number] =
                    make_float4(from[0], from[1], from[2], from[3]);
            }
        cluster_arrive();
        cluster_wait(); // the sums of all blocks are there
        if (thread.along_k == 0)
#pragma unroll
            for (int i = 0; i < registers / 4; ++i) {
                const int column = thread.column + i % n_tiles * 8;
                float(&to)[4] = sums[i / n_tiles][i % n_tiles];
                if (column / share != rank)
                    continue;
                to[0] = to[1] = to[2] = to[3] = 0;
#pragma unroll
                for (int block = 0; block < splits; ++block) {
                    const float4 added = load_shared_cluster_16(
                        map_to_block(own_smem + i * sum_threads * 16, block));
                    to[0] += added.x;
                    to[1] += added.y;
                    to[2] += added.z;
                    to[3] += added.w;
                }
            }
    }

    // Calls visit(chunk of the tile in shared memory, its place in a [BATCH, M, N] tensor) for each
    // 16 bytes of C that this block writes, divided over its threads.
    template <typename visitor> DEVICE void each_chunk(const visitor &visit) const {
        constexpr int chunks = block_m * c_tile::row_chunks;
#pragma unroll 4
        for (int n = threadIdx.x; n < chunks; n += threads) {
            const int row = n / c_tile::row_chunks, chunk = n % c_tile::row_chunks;
            if (first_row + row < M && first_column + chunk * 8 < N &&
                (!in_cluster || (chunk * 8 >= column_start && chunk * 8 < column_end)))
                visit(smem_address(smem) + c_offset + c_tile::offset(row, chunk),
                      (multiply_wide(batch, M) + first_row + row) * N + first_column + chunk * 8);
        }
    }

    // The residual comes to shared memory in 16 bytes a load; there each thread exchanges the pairs
    // of its fragments for those of the result, which leave in 16 bytes a store.
    DEVICE void write(const sum_registers &sums, const thread_place &thread) const {
        constexpr bool adds_residual = epilogue == linear_epilogue::residual;
        constexpr bool adds_bias = epilogue != linear_epilogue::none && !adds_residual;
        if constexpr (adds_residual) {
            each_chunk([&](u32 chunk_smem, i64 n) {
                store_smem_16(chunk_smem, *reinterpret_cast<const uint4 *>(residual + n));
            });
            __syncthreads();
        }
        const int lane = threadIdx.x % 32;
#pragma unroll
        for (int n = 0; n < n_tiles; ++n) {
            const int column = thread.column + n * 8 + lane % 4 * 2;
            if (thread.along_k > 0 || first_column + column >= N ||
                (in_cluster && (column < column_start || column >= column_end)))
                continue;
            u32 added = 0;
            if (adds_bias)
                added = *reinterpret_cast<const u32 *>(bias + first_column + column);
#pragma unroll
            for (int i = 0; i < m_tiles * 2; ++i) {
                const int row = thread.row + i * 8 + lane / 4;
                u32 *pair_smem = reinterpret_cast<u32 *>(
                    smem + c_offset + c_tile::offset(row, column / 8) + lane % 4 * 4);
                if (adds_residual && first_row + row < M)
                    added = *pair_smem;
                const float(&from)[4] = sums[i / 2][n];
                *pair_smem = pack_pair<element>(
                    apply_epilogue<epilogue>(from[i % 2 * 2], unpack_low<element>(added)),
                    apply_epilogue<epilogue>(from[i % 2 * 2 + 1], unpack_high<element>(added)));
            }
        }
        __syncthreads();
        each_chunk([&](u32 chunk_smem, i64 n) {
            *reinterpret_cast<uint4 *>(c + n) = load_smem_16(chunk_smem);
        });
        if constexpr (stream_k)
            __syncthreads(); // the tile has been read: the next one may come
    }
};
