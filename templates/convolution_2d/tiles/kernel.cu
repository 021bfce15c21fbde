// A convolution with a small filter, zeros beyond the edges:
//
//   out[y][x] = sum over dy, dx of filter[dy][dx] image[y + dy - R][x + dx - R]
//
//   image, out   [H, W]   filter   [2 R + 1, 2 R + 1], in constant memory   all float
//
// A block stages its tile of the image, with the R neighbours on every side, in shared memory by
// asynchronous copies. A thread computes ROWS rows of COLUMNS neighbouring elements: it reads each
// row of their window once, and adds it to every sum that has it.

#include "lib/cp_async.cuh"
#include "lib/smem.cuh"
#include "lib/types.cuh"
#include "lib/vector.cuh"

// ---- Genes ----

#if !defined(THREADS_X) || !defined(THREADS_Y) || !defined(COLUMNS) || !defined(ROWS) ||           \
    !defined(UNROLL) || !defined(MIN_CTAS) || !defined(R) || !defined(HALO)
#error "a gene, a dimension or a macro is not defined: see solution.json"
#endif

constexpr int threads_x = THREADS_X, threads_y = THREADS_Y;
constexpr int columns = COLUMNS, rows = ROWS; // of a thread
constexpr int unroll = UNROLL;
constexpr int radius = R;
constexpr int halo = HALO; // staged columns beside the tile: a whole number of vectors

// ---- Derived sizes and memory ----

constexpr int threads = threads_x * threads_y;
constexpr int width = 4; // elements per vector
constexpr int side = 2 * radius + 1;
constexpr int tile_width = threads_x * columns, tile_height = threads_y * rows;
constexpr int staged_width = tile_width + 2 * halo, staged_height = tile_height + 2 * radius;

static_assert(halo >= radius && halo % width == 0, "the window begins at a whole vector");
static_assert(threads % 32 == 0 && columns % width == 0, "whole warps and vectors");

__constant__ float filter[side * side];
extern __shared__ uint4 staged_smem[]; // staged_height rows of staged_width floats

// ---- Steps ----

// Begins to copy the part of the image whose first element is (first_y, first_x); elements beyond
// its edges become zeros. Rows are copied in vectors if they are aligned.
DEVICE void stage_tile(const float *image, int first_y, int first_x, int H, int W) {
    constexpr int row_vectors = staged_width / width;
    const u32 staged = smem_address(staged_smem);
    const bool aligned = W % width == 0;
    for (int i = threadIdx.x; i < staged_height * row_vectors; i += threads) {
        const int row = i / row_vectors, in_row = i % row_vectors, y = first_y + row;
        const float *from = image + static_cast<i64>(y) * W;
        const u32 to = staged + 4 * row * staged_width;
        if (aligned) {
            const int x = first_x + in_row * width;
            const bool inside = y >= 0 && y < H && x >= 0 && x < W;
            cp_async_16(to + 4 * in_row * width, inside ? from + x : image, inside);
            continue;
        }
#pragma unroll
        for (int column = in_row; column < staged_width; column += row_vectors) {
            const int x = first_x + column;
            const bool inside = y >= 0 && y < H && x >= 0 && x < W;
            cp_async_4(to + 4 * column, inside ? from + x : image, inside);
        }
    }
    cp_async_commit();
}

// Sums the thread's elements; its window begins at `window`.
DEVICE void convolve(float (&sums)[rows][columns], const float *window) {
#pragma unroll unroll
    for (int y = 0; y < rows + 2 * radius; ++y) {
        vector<float, width> row[(columns + 2 * halo) / width];
#pragma unroll
        for (int i = 0; i < (columns + 2 * halo) / width; ++i)
            row[i] = load_vector<width>(window + y * staged_width + i * width);
#pragma unroll
        for (int r = 0; r < rows; ++r) {
            const int dy = y - r; // this row's place in the window of row r
            if (dy < 0 || dy >= side)
                continue;
#pragma unroll
            for (int dx = 0; dx < side; ++dx)
#pragma unroll
                for (int c = 0; c < columns; ++c) {
                    const int x = halo - radius + dx + c;
                    sums[r][c] += filter[dy * side + dx] * row[x / width].values[x % width];
                }
        }
    }
}

DEVICE void store(const float (&sums)[rows][columns], float *out, int first_y, int first_x, int H,
                  int W) {
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        float *to = out + static_cast<i64>(first_y + r) * W + first_x;
        if (first_y + r >= H)
            break;
#pragma unroll
        for (int c = 0; c < columns; c += width) {
            if (W % width == 0 && first_x + c < W) {
                store_vector<width>(to + c,
                                    {sums[r][c], sums[r][c + 1], sums[r][c + 2], sums[r][c + 3]});
                continue;
            }
#pragma unroll
            for (int i = c; i < c + width; ++i)
                if (first_x + i < W)
                    to[i] = sums[r][i];
        }
    }
}

// ---- The schedule ----

extern "C" __global__ void __launch_bounds__(threads, MIN_CTAS)
    convolution(const float *__restrict__ image, float *__restrict__ out, int H, int W) {
    const int first_x = static_cast<int>(blockIdx.x) * tile_width;
    const int first_y = static_cast<int>(blockIdx.y) * tile_height;
    const int x = threadIdx.x % threads_x * columns, y = threadIdx.x / threads_x * rows;
    float sums[rows][columns] = {};

    stage_tile(image, first_y - radius, first_x - halo, H, W);
    cp_async_wait<0>();
    __syncthreads(); // the tile is staged
    convolve(sums, reinterpret_cast<const float *>(staged_smem) + y * staged_width + x);
    store(sums, out, first_y + y, first_x + x, H, W);
}
