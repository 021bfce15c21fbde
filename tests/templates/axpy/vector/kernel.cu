// z = ALPHA x + y, four numbers at a time.

constexpr int numbers = 4 * THREADS * VECTORS; // a block's

extern "C" __global__ void stage(const float *x, float *staged, int N) {
    for (int i = threadIdx.x; i < numbers && blockIdx.x * numbers + i < N; i += THREADS)
        staged[blockIdx.x * numbers + i] = x[blockIdx.x * numbers + i];
}

extern "C" __global__ void axpy(const float *x, const float *y, float *z, const float *staged, int N, float ALPHA) {
    const float *from = STAGED ? staged : x;
    for (int v = 0; v < VECTORS; ++v) {
        const int i = blockIdx.x * numbers + (v * THREADS + threadIdx.x) * 4;
        if (i + 4 <= N) {
            const float4 a = *reinterpret_cast<const float4 *>(from + i), b = *reinterpret_cast<const float4 *>(y + i);
            *reinterpret_cast<float4 *>(z + i) =
                make_float4(ALPHA * a.x + b.x, ALPHA * a.y + b.y, ALPHA * a.z + b.z, ALPHA * a.w + b.w);
        } else {
            for (int k = i; k < N; ++k)
                z[k] = ALPHA * from[k] + y[k];
        }
    }
}
