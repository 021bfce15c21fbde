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

extern "C" __global__ void widen_rows(const unsigned short *x, float *wide, int cols) {
    for (int i = threadIdx.x; i < cols; i += THREADS)
        wide[(long long)blockIdx.x * cols + i] = from_half(x[(long long)blockIdx.x * cols + i]);
}

__device__ float element(const unsigned short *x, const float *wide, long long i) {
    return KEEP == KEEP_WORKSPACE ? wide[i] : from_half(x[i]);
}

extern "C" __global__ void smooth_rows(const unsigned short *x, const float *wide, unsigned short *y, int cols) {
    const int row = FAULT == FAULT_ROW && blockIdx.x > 0 ? blockIdx.x - 1 : blockIdx.x;
    const long long start = (long long)row * cols, to = (long long)blockIdx.x * cols;
    for (int i = threadIdx.x; i < cols; i += THREADS) {
        const int before = i > 0 ? i - 1 : cols - 1, behind = i + 1 < cols ? i + 1 : 0;
        const float left = i > 0 || WRAP ? element(x, wide, start + before) : 0.0f;
        const float own = element(x, wide, start + i);
        float right = i + 1 < cols || WRAP ? element(x, wide, start + behind) : own;
        if (FAULT == FAULT_LAST && i + 1 == cols)
            right = 0.0f;
        const float sum = ORDER == ORDER_LEFT ? left + own + right : left + right + own;
        y[to + i] = to_half(sum / 3.0f);
    }
}
