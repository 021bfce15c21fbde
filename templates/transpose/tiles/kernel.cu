// The transpose of a matrix:  y[c][r] = x[r][c].
//
//   x   [ROWS, COLS]   y   [COLS, ROWS]   float if F32, else half
//
// A block moves a tile of x. A thread loads squares of VECTOR by VECTOR elements, transposes each
// in registers, and writes its columns as vectors to shared memory, where the tile is as y has it.
// From there rows of y are stored. So both sides move whole vectors, and neighbouring threads
// neighbouring ones.

#include "lib/types.cuh"
#include "lib/vector.cuh"

// ---- Genes ----

#if !defined(TILE_ROWS) || !defined(TILE_COLS) || !defined(THREADS) || !defined(VECTOR) ||         \
    !defined(LAYOUT) || !defined(ORDER) || !defined(F32)
#error "a gene or a specialised dimension is not defined: see solution.json"
#endif

constexpr int tile_rows = TILE_ROWS, tile_columns = TILE_COLS; // of x
constexpr int threads = THREADS;
constexpr int width = VECTOR; // elements per load and store
constexpr bool padded = LAYOUT == LAYOUT_PADDED, swapped = LAYOUT == LAYOUT_SWAPPED;
constexpr bool along_x = ORDER == ORDER_ALONG_X;

using element = conditional_t<F32, float, f16>;
using elements = vector<element, width>;

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

// Elements of a row of `length`, the first at `column`: by one load if every row is aligned for it.
DEVICE elements load_row(const element *row, int column, int length) {
    elements loaded = {};
    if (length % width == 0 && column < length)
        return load_vector<width>(row + column);
#pragma unroll
    for (int i = 0; i < width; ++i)
        if (column + i < length)
            loaded.values[i] = row[column + i];
    return loaded;
}

DEVICE void store_row(element *row, int column, int length, const elements &value) {
    if (length % width == 0 && column < length) {
        store_vector<width>(row + column, value);
        return;
    }
#pragma unroll
    for (int i = 0; i < width; ++i)
        if (column + i < length)
            row[column + i] = value.values[i];
}

// Loads the thread's squares of the tile, all before any is used, and writes them transposed.
DEVICE void load_tile(const element *x, int first_row, int first_column, int ROWS, int COLS) {
    elements rows[squares][width];
#pragma unroll
    for (int s = 0; s < squares; ++s) {
        const int square = s * threads + threadIdx.x;
        const int row = first_row + square / row_squares * width;
        const int column = first_column + square % row_squares * width;
#pragma unroll
        for (int i = 0; i < width; ++i)
            if (row + i < ROWS)
                rows[s][i] = load_row(x + static_cast<i64>(row + i) * COLS, column, COLS);
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

DEVICE void store_tile(element *y, int first_row, int first_column, int ROWS, int COLS) {
#pragma unroll
    for (int s = 0; s < squares * width; ++s) {
        const int n = s * threads + threadIdx.x;
        const int column = n / row_vectors, i = n % row_vectors;
        if (first_column + column < COLS)
            store_row(y + static_cast<i64>(first_column + column) * ROWS, first_row + i * width,
                      ROWS, tile_vector(column, i));
    }
}

// ---- The schedule ----

extern "C" __global__ void __launch_bounds__(threads)
    transpose(const element *__restrict__ x, element *__restrict__ y, int ROWS, int COLS) {
    const int tiles_down = ceil_div(ROWS, tile_rows), tiles_across = ceil_div(COLS, tile_columns);
    const int tile = blockIdx.x;
    const int first_row = (along_x ? tile / tiles_across : tile % tiles_down) * tile_rows;
    const int first_column = (along_x ? tile % tiles_across : tile / tiles_down) * tile_columns;

    load_tile(x, first_row, first_column, ROWS, COLS);
    __syncthreads(); // the tile is in shared memory
    store_tile(y, first_row, first_column, ROWS, COLS);
}
