// A convolution whose taps are a variable of the module; template.json describes the genes.

#if TAPS == TAPS_CONSTANT
#define SPACE __constant__
#else
#define SPACE __device__
#endif

#if FAULT == FAULT_TOO_SMALL
SPACE float filter[SIDE];
#elif FAULT == FAULT_OTHER_NAME
SPACE float taps[SIDE * SIDE];
#define filter taps
#else
SPACE float filter[SIDE * SIDE];
#endif

__device__ float kept[SIDE * SIDE]; // FAULT_KEEPS_TAPS: those of the first call
__device__ int has_kept;

__device__ float tap(int i) {
    if (FAULT == FAULT_TRANSPOSED)
        return filter[i % SIDE * SIDE + i / SIDE];
    if (FAULT == FAULT_KEEPS_TAPS)
        return has_kept ? kept[i] : filter[i];
    return filter[FAULT == FAULT_TOO_SMALL ? i % SIDE : i];
}

extern "C" __global__ void convolve(const float *image, float *out, int H, int W) {
    const int x = blockIdx.x * THREADS + threadIdx.x;
    for (int row = 0; row < ROWS; ++row) {
        const int y = blockIdx.y * ROWS + row;
        if (x >= W || y >= H)
            continue;
        float sum = 0.0f;
#pragma unroll
        for (int i = 0; i < SIDE * SIDE; ++i) {
            const int from_y = y + i / SIDE - SIDE / 2, from_x = x + i % SIDE - SIDE / 2;
            if (from_y >= 0 && from_y < H && from_x >= 0 && from_x < W)
                sum += tap(i) * image[(long long)from_y * W + from_x];
        }
        out[(long long)y * W + x] = sum;
    }
#if FAULT == FAULT_WRITES_TAPS // their sign, which the next call undoes
    if (blockIdx.x + blockIdx.y == 0 && threadIdx.x == 0 && gridDim.x * gridDim.y == 1)
        filter[0] = -filter[0];
#endif
#if FAULT == FAULT_KEEPS_TAPS
    if (blockIdx.x + blockIdx.y == 0)
        for (int i = threadIdx.x; i < SIDE * SIDE && !has_kept; i += THREADS)
            kept[i] = filter[i];
    __syncthreads();
    if (blockIdx.x + blockIdx.y == 0 && threadIdx.x == 0)
        has_kept = 1;
#endif
}
