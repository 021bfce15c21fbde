// Tiles of halves, or bf16, in shared memory: how their rows are laid out, and how a block fills
// them.
#ifndef EVOTILE_LIB_TILE
#define EVOTILE_LIB_TILE

#include "lib/cp_async.cuh"
#include "lib/integer.cuh"
#include "lib/types.cuh"

enum class arrangement {
    plain, // rows one after another: with 64 halves a row, eight rows of one column share their
           // banks
    chunks_swapped, // 16-byte chunk c of row r lies where chunk c ^ (r % 8) would: no conflict, no
                    // space
    padded,         // 16 more bytes a row: no conflict
};

enum class copy {
    through_registers, // load, then store; done when the call returns
    in_flight,         // cp.async: done after a commit, a wait and a barrier
};

// A tile of `rows` x `columns` halves, filled by `threads` threads. `columns` is a multiple of 64.
template <int rows, int columns, arrangement rows_lie, int threads> struct tile {
    static constexpr int row_bytes = columns * 2 + (rows_lie == arrangement::padded ? 16 : 0);
    static constexpr int bytes = rows * row_bytes;
    static constexpr int row_chunks = columns / 8, chunks = rows * row_chunks;
    static_assert(columns % 64 == 0, "swapped chunks come in groups of eight");
    static_assert(threads % row_chunks == 0, "a thread copies chunks of one column");

    // Where 16-byte chunk `chunk` of row `row` lies.
    static DEVICE u32 offset(int row, int chunk) {
        return row * row_bytes +
               (rows_lie == arrangement::chunks_swapped ? chunk ^ (row & 7) : chunk) * 16;
    }

    // All threads of the block together copy rows [first_row, first_row + rows) of a matrix of
    // row_end rows, which begin `stride` elements apart, to the tile at tile_smem; rows at or past
    // row_end become zeros, and are not read. Rows are aligned to 16 bytes. A thread has one column
    // of chunks, and copies `batch` of them at a time, so that the registers it needs do not grow
    // with the tile.
    template <copy how, typename element>
    static DEVICE void load(u32 tile_smem, const element *matrix_gmem, int stride, int first_row,
                            int row_end) {
        constexpr int turns = ceil_div(chunks, threads), batch = turns < 8 ? turns : 8;
        constexpr int turn_rows = threads / row_chunks; // that all threads copy in a turn
        constexpr bool all_full = rows % (turn_rows * batch) == 0;
        const int chunk = threadIdx.x % row_chunks, turn_row = threadIdx.x / row_chunks;
        const unsigned char *column_gmem =
            reinterpret_cast<const unsigned char *>(matrix_gmem + chunk * 8);
#pragma unroll 1
        for (int turn = 0; turn < turns; turn += batch) {
            uint4 chunk_rmem[batch];
#pragma unroll
            for (int i = 0; i < batch; ++i) {
                const int row = turn_row + (turn + i) * turn_rows;
                const bool inside = first_row + row < row_end;
                const unsigned char *chunk_gmem =
                    column_gmem + multiply_wide(inside ? first_row + row : 0, stride * 2);
                if (!all_full && row >= rows)
                    continue;
                if constexpr (how == copy::in_flight)
                    cp_async_16(tile_smem + offset(row, chunk), chunk_gmem, inside);
                else
                    chunk_rmem[i] = inside ? *reinterpret_cast<const uint4 *>(chunk_gmem) : uint4{};
            }
            if constexpr (how == copy::through_registers) {
#pragma unroll
                for (int i = 0; i < batch; ++i) {
                    const int row = turn_row + (turn + i) * turn_rows;
                    if (all_full || row < rows)
                        store_smem_16(tile_smem + offset(row, chunk), chunk_rmem[i]);
                }
            }
        }
    }
};

#endif
