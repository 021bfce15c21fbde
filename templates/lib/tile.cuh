// Tiles of halves in shared memory: how their rows are laid out, and how a block fills them.
#ifndef EVOTILE_LIB_TILE
#define EVOTILE_LIB_TILE

#include "lib/cp_async.cuh"
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

    // Where 16-byte chunk `chunk` of row `row` lies.
    static DEVICE u32 offset(int row, int chunk) {
        return row * row_bytes +
               (rows_lie == arrangement::chunks_swapped ? chunk ^ (row & 7) : chunk) * 16;
    }

    // All threads of the block together copy rows [first_row, first_row + rows) of a [row_end,
    // columns] matrix to the tile at tile_smem; rows at or past row_end become zeros, and are not
    // read. A thread copies `batch` chunks at a time, so that the registers it needs do not grow
    // with the tile.
    template <copy how>
    static DEVICE void load(u32 tile_smem, const f16 *matrix_gmem, int first_row, int row_end) {
        constexpr int turns = ceil_div(chunks, threads), batch = turns < 8 ? turns : 8;
        constexpr bool all_full = chunks % (threads * batch) == 0;
#pragma unroll 1
        for (int first = threadIdx.x; first < turns * threads; first += batch * threads) {
            uint4 chunk_rmem[batch];
#pragma unroll
            for (int i = 0; i < batch; ++i) {
                const int number = first + i * threads, row = number / row_chunks;
                const int chunk = number % row_chunks;
                const bool inside = first_row + row < row_end;
                const i64 source =
                    static_cast<i64>(inside ? first_row + row : 0) * columns + chunk * 8;
                if (!all_full && number >= chunks)
                    continue;
                if constexpr (how == copy::in_flight)
                    cp_async_16(tile_smem + offset(row, chunk), matrix_gmem + source, inside);
                else
                    chunk_rmem[i] =
                        inside ? *reinterpret_cast<const uint4 *>(matrix_gmem + source) : uint4{};
            }
            if constexpr (how == copy::through_registers) {
#pragma unroll
                for (int i = 0; i < batch; ++i) {
                    const int number = first + i * threads;
                    if (all_full || number < chunks)
                        store_smem_16(tile_smem + offset(number / row_chunks, number % row_chunks),
                                      chunk_rmem[i]);
                }
            }
        }
    }
};

#endif
