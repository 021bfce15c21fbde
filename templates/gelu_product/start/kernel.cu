// A product with a fused epilogue:  y = gelu(a b + bias),  gelu(z) = z (1 + erf(z / sqrt(2))) / 2.
//
// Plain: a thread has one element of y and reads a row of a and a column of b. Nothing is optimised.

#include "lib/half.cuh"

extern "C" __global__ void gelu_product(const f16 *a, const f16 *b, const float *bias, f16 *y, int M, int N,
                                        int K) {
    const int column = blockIdx.x * BLOCK_X + threadIdx.x;
    const int row = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (row >= M || column >= N)
        return;

    float sum = 0.0f;
    for (int k = 0; k < K; ++k)
        sum += half_to_float(a[row * K + k]) * half_to_float(b[k * N + column]);

    const float z = sum + bias[column];
    y[row * N + column] = float_to_half(0.5f * z * (1.0f + erff(z * 0.70710678f)));
}
