// RMSNorm of rows:  y[r][c] = weight[c] x[r][c] / sqrt(mean over row r of x^2 + EPSILON).
//
// Plain: a block has one row, which its threads read twice. Nothing is optimised.

#include "lib/half.cuh"

extern "C" __global__ void rms_norm(const f16 *x, const f16 *weight, f16 *y, int COLS, float EPSILON) {
    __shared__ float partial[THREADS];
    const int thread = threadIdx.x;
    const f16 *from = x + (long long)blockIdx.x * COLS;
    f16 *to = y + (long long)blockIdx.x * COLS;

    float sum = 0.0f;
    for (int column = thread; column < COLS; column += THREADS)
        sum += half_to_float(from[column]) * half_to_float(from[column]);
    partial[thread] = sum;
    __syncthreads(); // every thread has written its sum
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (thread < half)
            partial[thread] = partial[thread] + partial[thread + half];
        __syncthreads(); // the upper half has been read
    }
    sum = partial[0];

    for (int column = thread; column < COLS; column += THREADS)
        to[column] = float_to_half(half_to_float(from[column]) / sqrtf(sum / COLS + EPSILON) *
                                   half_to_float(weight[column]));
}
