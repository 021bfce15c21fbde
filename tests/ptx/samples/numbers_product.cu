// Products of 8-bit integers and of doubles, by mma.h and by mma with the documented fragment layout.
#include <mma.h>
using namespace nvcuda;
template <int m, int n, int k, typename element, typename sum_type>
__device__ void multiply(const element *a, const element *b, sum_type *d) {
    wmma::fragment<wmma::matrix_a, m, n, k, element, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, m, n, k, element, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, m, n, k, sum_type> sum;
    wmma::load_matrix_sync(sum, d, n, wmma::mem_row_major);
    wmma::load_matrix_sync(left, a, k);
    wmma::load_matrix_sync(right, b, k);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(d, sum, n, wmma::mem_row_major);
}
// a: 16 rows of 32 bytes; b: 8 columns of 32
__device__ void multiply_m16n8k32(const signed char *a, const unsigned char *b, int *d) {
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    unsigned left[4], right[2];
    int sum[4];
    for (int r = 0; r < 4; r++)
        left[r] = *(const unsigned *)(a + (g + r % 2 * 8) * 32 + r / 2 * 16 + 4 * t);
    for (int r = 0; r < 2; r++)
        right[r] = *(const unsigned *)(b + g * 32 + r * 16 + 4 * t);
    for (int r = 0; r < 4; r++)
        sum[r] = d[(g + r / 2 * 8) * 8 + 2 * t + r % 2];
    asm("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
    for (int r = 0; r < 4; r++)
        d[(g + r / 2 * 8) * 8 + 2 * t + r % 2] = sum[r];
}
__device__ void multiply_m8n8k4(const double *a, const double *b, double *d) {
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    double *sum = d + g * 8 + 2 * t;
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
        : "+d"(sum[0]), "+d"(sum[1])
        : "d"(a[g * 4 + t]), "d"(b[g * 4 + t]));
}
extern "C" __global__ void numbers_product(const signed char *a, const unsigned char *b, const double *e,
                                           const double *f, int *d, double *g) {
    multiply<16, 16, 16>(a, a + 256, d);
    multiply<32, 8, 16>(b, b + 512, d + 256);
    multiply<8, 32, 16>(a, a + 512, d + 512);
    multiply_m16n8k32(a, b, d + 768);
    multiply<8, 8, 4>(e, f, g);
    multiply_m8n8k4(e, f, g + 64);
}
