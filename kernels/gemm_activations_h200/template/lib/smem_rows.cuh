// Rows of 64, 128 or 256 bytes in shared memory, of any type, stored so that the eight rows of an
// ldmatrix are in different banks. fragments.cuh loads from them as from a tile.
#ifndef EVOTILE_LIB_SMEM_ROWS
#define EVOTILE_LIB_SMEM_ROWS

#include "lib/types.cuh"

// Padded: 16 bytes more a row, so that a row's bytes stay in order and a bulk copy can write them.
// Else 16-byte chunks change places within a row.
template <int rows, int bytes_of_row, bool padded> struct smem_rows {
    static constexpr int row_bytes = bytes_of_row;
    static constexpr int row_chunks = row_bytes / 16;
    static constexpr int pitch = row_bytes + (padded ? 16 : 0);
    static constexpr int bytes = rows * pitch;
    static constexpr int rows_of_banks = max_of(128 / row_bytes, 1); // rows that span all banks
    static_assert(row_bytes == 64 || row_bytes % 128 == 0, "rows fill the banks evenly");

    // Byte offset of 16-byte chunk `chunk` of row `row`.
    static DEVICE u32 offset(int row, int chunk) {
        constexpr int swapped = min_of(row_chunks, 8);
        return row * pitch + (padded ? chunk : chunk ^ (row / rows_of_banks % swapped)) * 16;
    }
};

#endif
