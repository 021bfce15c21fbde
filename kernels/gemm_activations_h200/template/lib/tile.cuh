// Tiles of 16-bit elements in shared memory: their row layout, and the loads that fill them.
#ifndef EVOTILE_LIB_TILE
#define EVOTILE_LIB_TILE

#include "lib/cp_async.cuh"
#include "lib/integer.cuh"
#include "lib/types.cuh"

enum class smem_layout {
    plain, // contiguous rows: with 64 elements a row, eight rows of one column share their banks
    xor_swizzled, // 16-byte chunk c of row r is stored at chunk c ^ (r % 8), or c ^ (r / 2 % 4) if
                  // rows are odd multiples of 64 bytes: no bank conflict, no extra space
    padded,       // 16 extra bytes per row: no bank conflict
};

enum class load_mode {
    through_registers, // global load, then shared store; complete when the call returns
    async_16,          // 16-byte cp.async past L1: complete after a commit, a wait and a barrier
    async_8,           // 8-byte cp.async, through L1
    async_16_l1,       // 16-byte cp.async through L1
};

// The largest power of two that divides `count`, up to `limit`, itself a power of two.
__host__ __device__ constexpr int power_in(int count, int limit) {
    return min_of(count & -count, limit);
}

// A tile of `rows` x `columns` 16-bit elements, loaded by `threads` threads, a multiple of 32.
// `columns` is a multiple of 32.
template <int rows, int columns, smem_layout row_layout, int threads> struct tile {
    static constexpr int row_bytes = columns * 2 + (row_layout == smem_layout::padded ? 16 : 0);
    static constexpr int bytes = rows * row_bytes;
    static constexpr int row_chunks = columns / 8;
    static_assert(columns % 32 == 0, "swapped chunks come in groups of eight or four");

    // Byte offset of 16-byte chunk `chunk` of row `row`.
    static DEVICE u32 offset(int row, int chunk) {
        const int swap = columns % 64 == 0 ? row & 7 : row >> 1 & 3;
        return row * row_bytes +
               (row_layout == smem_layout::xor_swizzled ? chunk ^ swap : chunk) * 16;
    }

    // Called by all threads of the block: copies rows [first_row, first_row + rows) of a matrix of
    // row_end rows, whose row stride is `stride` elements, to the tile at tile_smem. Rows at or
    // past row_end become zeros and are not read. Rows are aligned to 16 bytes. A thread copies
    // pieces of one column, `batch` at a time, so that its register use does not grow with the
    // tile; of a row whose pieces the threads do not divide, one after another of the `panels` of
    // columns that they do.
    template <load_mode mode, typename element>
    static DEVICE void load(u32 tile_smem, const element *matrix_gmem, int stride, int first_row,
                            int row_end) {
        constexpr int chunk_pieces = mode == load_mode::async_8 ? 2 : 1;
        constexpr int panel_chunks = power_in(row_chunks, 32 / chunk_pieces);
        constexpr int panels = row_chunks / panel_chunks;
        constexpr int row_pieces = panel_chunks * chunk_pieces; // of a panel
        constexpr int pass_rows = threads / row_pieces;         // copied by all threads in one pass
        constexpr int passes = ceil_div(rows, pass_rows), batch = passes < 8 ? passes : 8;
        constexpr bool all_full = rows % (pass_rows * batch) == 0;
        static_assert(threads % row_pieces == 0, "a thread copies pieces of one column");
        const int piece = threadIdx.x % row_pieces, pass_row = threadIdx.x / row_pieces;
#pragma unroll
        for (int panel = 0; panel < panels; ++panel) {
            const int chunk = panel * panel_chunks + piece / chunk_pieces;
            const int inner = piece % chunk_pieces * 8; // bytes into the chunk
            const unsigned char *column_gmem =
                reinterpret_cast<const unsigned char *>(matrix_gmem + chunk * 8) + inner;
#pragma unroll 1
            for (int pass = 0; pass < passes; pass += batch) {
                uint4 chunk_rmem[batch];
#pragma unroll
                for (int i = 0; i < batch; ++i) {
                    const int row = pass_row + (pass + i) * pass_rows;
                    const bool inside = first_row + row < row_end;
                    const u32 from = inside ? first_row + row : 0;
                    const unsigned char *piece_gmem =
                        column_gmem + multiply_wide(from, stride * 2u);
                    const u32 piece_smem = tile_smem + offset(row, chunk) + inner;
                    if (!all_full && row >= rows)
                        continue;
                    if constexpr (mode == load_mode::through_registers)
                        chunk_rmem[i] =
                            inside ? *reinterpret_cast<const uint4 *>(piece_gmem) : uint4{};
                    else if constexpr (mode == load_mode::async_16)
                        cp_async_16(piece_smem, piece_gmem, inside);
                    else if constexpr (mode == load_mode::async_8)
                        cp_async_8(piece_smem, piece_gmem, inside);
                    else
                        cp_async_16_l1(piece_smem, piece_gmem, inside);
                }
                if constexpr (mode == load_mode::through_registers) {
#pragma unroll
                    for (int i = 0; i < batch; ++i) {
                        const int row = pass_row + (pass + i) * pass_rows;
                        if (all_full || row < rows)
                            store_smem_16(tile_smem + offset(row, chunk), chunk_rmem[i]);
                    }
                }
            }
        }
    }
};

#endif
