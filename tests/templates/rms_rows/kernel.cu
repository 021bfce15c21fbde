// A block computes a row; its warps add their sums in shared memory.
__device__ float from_half(unsigned short bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}

__device__ unsigned short to_half(float value) {
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}

extern "C" __global__ void rms_rows(const unsigned short *x, const float *weight, unsigned short *y, int cols,
                                    float epsilon) {
    __shared__ float of_warp[THREADS / 32];
    const unsigned short *from = x + (long long)blockIdx.x * cols;
    unsigned short *to = y + (long long)blockIdx.x * cols;
    const int summed = FAULT == FAULT_COLUMN && cols > 1 ? cols - 1 : cols;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < summed; i += THREADS)
        sum += from_half(from[i]) * from_half(from[i]);
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int i = 0; i < THREADS / 32; i++)
        sum += of_warp[i];
    float scale = rsqrtf(sum / cols + epsilon);
    if (FAULT == FAULT_BIAS)
        scale *= 1.00390625f;
    for (int i = threadIdx.x; i < cols; i += THREADS)
        to[i] = to_half(from_half(from[i]) * scale * (FAULT == FAULT_WEIGHTS ? 1.0f : weight[i]));
}
