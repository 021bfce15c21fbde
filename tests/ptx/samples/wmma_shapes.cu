// One product of each remaining shape and format of mma.h.
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;
template <int m, int n, typename element>
__device__ void multiply(const element *a, const element *b, float *d) {
    wmma::fragment<wmma::matrix_a, m, n, 16, element, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, m, n, 16, element, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, m, n, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, a, 16);
    wmma::load_matrix_sync(right, b, n);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(d, sum, n, wmma::mem_row_major);
}
extern "C" __global__ void wmma_shapes(const half *a, const half *b, const __nv_bfloat16 *c,
                                       const __nv_bfloat16 *e, const float *f, const float *g, float *d) {
    multiply<32, 8>(a, b, d);
    multiply<8, 32>(a, b, d + 256);
    multiply<16, 16>(c, e, d + 512);
    multiply<32, 8>(c, e, d + 768);
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, f, 8);
    wmma::load_matrix_sync(right, g, 16);
    for (int i = 0; i < left.num_elements; i++)
        left.x[i] = wmma::__float_to_tf32(left.x[i]);
    for (int i = 0; i < right.num_elements; i++)
        right.x[i] = wmma::__float_to_tf32(right.x[i]);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(d + 1024, sum, 16, wmma::mem_row_major);
}
