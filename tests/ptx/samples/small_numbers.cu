// Products of 4-bit and 1-bit integers, by mma.h: 16 x 16 sums d += a b, a tile of 8 x 8 per warp. a and b each consist
// of two contiguous parts, 16 rows (of b: columns) of 16 bytes each.
#include <mma.h>
using namespace nvcuda;
using namespace nvcuda::wmma::experimental;
enum { SUMS, ENDING_SUMS, BOTH, ONE }; // ending: saturated at 32 bits; for bits: count of positions set in both, in one
template <int k, typename number, int what> __device__ void multiply(const int *a, const int *b, int *d) {
    wmma::fragment<wmma::matrix_a, 8, 8, k, number, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 8, 8, k, number, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 8, 8, k, int> sum;
    const int row = threadIdx.x / 64 * 8, column = threadIdx.x / 32 % 2 * 8;
    wmma::load_matrix_sync(sum, d + row * 16 + column, 16, wmma::mem_row_major);
    for (int part = 0; part < 2; part++) {
        wmma::load_matrix_sync(left, a + (part * 16 + row) * 4, k);
        wmma::load_matrix_sync(right, b + (part * 16 + column) * 4, k);
        if constexpr (what == SUMS || what == ENDING_SUMS)
            wmma::mma_sync(sum, left, right, sum, what == ENDING_SUMS);
        else
            wmma::bmma_sync(sum, left, right, sum, what == BOTH ? bmmaBitOpAND : bmmaBitOpXOR);
    }
    wmma::store_matrix_sync(d + row * 16 + column, sum, 16, wmma::mem_row_major);
}
extern "C" __global__ void small_numbers(const int *a, const int *b, int *d) {
    multiply<32, precision::s4, SUMS>(a, b, d);
    multiply<32, precision::u4, ENDING_SUMS>(a, b, d + 256);
    multiply<128, precision::b1, BOTH>(a, b, d + 512);
    multiply<128, precision::b1, ONE>(a, b, d + 768);
}
