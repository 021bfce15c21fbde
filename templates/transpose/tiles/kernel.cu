// The transpose of a matrix:  y[c][r] = x[r][c].
//
//   x   [ROWS, COLS]   y   [COLS, ROWS]   float if F32, else half
//
// A block moves a tile of x. A thread loads squares of VECTOR by VECTOR elements, transposes each
// in registers, and writes its columns as vectors to shared memory, where the tile is as y has it.
// From there rows of y are stored. So both sides move whole vectors, and neighbouring threads
// neighbouring ones.

#include "lib/row_vectors.cuh"
#include "lib/types.cuh"
#include "lib/vector.cuh"

// ---- Genes ----

#if !defined(TILE_ROWS) || !defined(TILE_COLS) || !defined(THREADS) || !defined(VECTOR) ||         \
    !defined(LAYOUT) || !defined(ORDER) || !defined(CACHE) || !defined(F32)
#error "a gene or a specialised dimension is not defined: see solution.json"
#endif

constexpr int tile_rows = TILE_ROWS, tile_columns = TILE_COLS; // of x
constexpr int threads = THREADS;
constexpr int width = VECTOR; // elements per load and store
constexpr bool padded = LAYOUT == LAYOUT_PADDED, swapped = LAYOUT == LAYOUT_SWAPPED;
constexpr bool along_x = ORDER == ORDER_ALONG_X;
constexpr bool streaming_loads = CACHE == CACHE_STREAMING_LOADS || CACHE == CACHE_STREAMING;
constexpr bool streaming_stores = CACHE == CACHE_STREAMING_STORES || CACHE == CACHE_STREAMING;

using element = conditional_t<F32, float, f16>;
using elements = vector<element, width>;
using bits = vector_bits<sizeof(elements)>::type;

// ---- Derived sizes and shared memory ----

constexpr int row_squares = tile_columns / width;                  // squares of a row of the tile
constexpr int squares = tile_rows / width * row_squares / threads; // of a thread
constexpr int row_vectors = tile_rows / width;                     // of a row of y in shared memory
constexpr int row_pitch = row_vectors + (padded ? 1 : 0);
constexpr int line_vectors = 128 / static_cast<int>(sizeof(elements)); // one in all banks

static_assert(tile_rows * tile_columns % (threads * width * width) == 0,
              "a thread takes whole squares");
static_assert(sizeof(elements) <= 16, "a load is at most 16 bytes wide");

extern __shared__ uint4 tile_smem[];

// The vector of the tile in row `column` of y. Swapped, the vectors that a warp writes at once, one
// in each of many rows, lie in different banks, as do those of a row, which it reads at once.
DEVICE elements &tile_vector(int column, int i) {
    constexpr int mask = min_of(row_vectors, line_vectors) - 1;
    elements *vectors = reinterpret_cast<elements *>(tile_smem);
    return vectors[column * row_pitch + (swapped ? i ^ (column / width & mask) : i)];
}

// ---- Steps ----

DEVICE elements load(const element *from) {
    if constexpr (streaming_loads)
        return __builtin_bit_cast(elements, __ldcs(reinterpret_cast<const bits *>(from)));
    else
        return load_vector<width>(from);
}

DEVICE void store(element *to, const elements &value) {
    if constexpr (streaming_stores)
        __stcs(reinterpret_cast<bits *>(to), __builtin_bit_cast(bits, value));
    else
        store_vector<width>(to, value);
}

// Loads the thread's squares of the tile, all before any is used, and writes them transposed. Rows
// of x are aligned. No load is conditional, since after one the compiler takes a vector of halves
// apart, and so waits for it: beyond x the last row and vector are loaded again, and not stored.
DEVICE void load_squares(const element *x, int first_row, int first_column, int ROWS, int COLS) {
    elements rows[squares][width];
#pragma unroll
    for (int s = 0; s < squares; ++s) {
        const int square = s * threads + threadIdx.x;
        const int row = first_row + square / row_squares * width;
        const int column = min(first_column + square % row_squares * width, COLS - width);
#pragma unroll
        for (int i = 0; i < width; ++i)
            rows[s][i] = load(x + static_cast<i64>(min(row + i, ROWS - 1)) * COLS + column);
    }
#pragma unroll
    for (int s = 0; s < squares; ++s) {
        const int square = s * threads + threadIdx.x;
#pragma unroll
        for (int j = 0; j < width; ++j) {
            elements column;
#pragma unroll
            for (int i = 0; i < width; ++i)
                column.values[i] = rows[s][i].values[j];
            tile_vector(square % row_squares * width + j, square / row_squares) = column;
        }
    }
}

// Stores vectors of rows of y, which are aligned.
DEVICE void store_vectors(element *y, int first_row, int first_column, int ROWS, int COLS) {
    elements values[squares * width];
#pragma unroll
    for (int s = 0; s < squares * width; ++s) {
        const int n = s * threads + threadIdx.x;
        values[s] = tile_vector(n / row_vectors, n % row_vectors);
    }
#pragma unroll
    for (int s = 0; s < squares * width; ++s) {
        const int n = s * threads + threadIdx.x;
        const int column = first_column + n / row_vectors;
        const int row = first_row + n % row_vectors * width;
        if (column < COLS && row < ROWS)
            store(y + static_cast<i64>(column) * ROWS + row, values[s]);
    }
}

// The same for rows that are not aligned: neighbouring threads move neighbouring elements. Beyond x
// the tile is zero.
DEVICE void load_elements(const element *x, int first_row, int first_column, int ROWS, int COLS) {
#pragma unroll 8
    for (int n = threadIdx.x; n < tile_rows * tile_columns; n += threads) {
        const int i = n / tile_columns, j = n % tile_columns;
        const bool inside = first_row + i < ROWS && first_column + j < COLS;
        tile_vector(j, i / width).values[i % width] =
            inside ? x[static_cast<i64>(first_row + i) * COLS + first_column + j] : element{};
    }
}

DEVICE void store_elements(element *y, int first_row, int first_column, int ROWS, int COLS) {
#pragma unroll 8
    for (int n = threadIdx.x; n < tile_rows * tile_columns; n += threads) {
        const int j = n / tile_rows, i = n % tile_rows;
        if (first_row + i < ROWS && first_column + j < COLS)
            y[static_cast<i64>(first_column + j) * ROWS + first_row + i] =
                tile_vector(j, i / width).values[i % width];
    }
}

// ---- The schedule ----

extern "C" __global__ void __launch_bounds__(threads)
    transpose(const element *__restrict__ x, element *__restrict__ y, int ROWS, int COLS) {
    const int tiles_down = ceil_div(ROWS, tile_rows), tiles_across = ceil_div(COLS, tile_columns);
    const int tile = blockIdx.x;
    const int first_row = (along_x ? tile / tiles_across : tile % tiles_down) * tile_rows;
    const int first_column = (along_x ? tile % tiles_across : tile / tiles_down) * tile_columns;

    if (COLS % width == 0)
        load_squares(x, first_row, first_column, ROWS, COLS);
    else
        load_elements(x, first_row, first_column, ROWS, COLS);
    __syncthreads(); // the tile is in shared memory
    if (ROWS % width == 0)
        store_vectors(y, first_row, first_column, ROWS, COLS);
    else
        store_elements(y, first_row, first_column, ROWS, COLS);
}
