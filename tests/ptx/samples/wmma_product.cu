// C = A B + C with mma.h fragments: a tile of 16 x 16 per warp; B column-major; through shared memory.
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void wmma_product(const half *a, const half *b, const float *c, float *d, int n) {
    __shared__ __align__(32) float tile[256];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, start;
    const int row = blockIdx.y * 16, column = blockIdx.x * 16;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(left, a + row * n + k, n);
        wmma::load_matrix_sync(right, b + column * n + k, n);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::load_matrix_sync(start, c + row * n + column, n, wmma::mem_row_major);
    for (int i = 0; i < sum.num_elements; i++)
        sum.x[i] = 2 * sum.x[i] + start.x[i];
    wmma::store_matrix_sync(tile, sum, 16, wmma::mem_col_major);
    __syncwarp();
    for (int i = threadIdx.x; i < 256; i += 32)
        d[(row + i / 16) * n + column + i % 16] = tile[i % 16 * 16 + i / 16];
}
