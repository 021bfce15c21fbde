// Kernels by which calibrate.c measures a device's ceilings; tests use them as kernels of a known duration. Each
// keeps its results alive by a store that never happens.
typedef unsigned long long u64;

// Reads every 16 bytes of `from`, `passes` times, bypassing L1.
extern "C" __global__ void evotile_read(const uint4 *from, u64 count, int passes, unsigned *sink) {
    u64 first = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    u64 step = (u64)gridDim.x * blockDim.x;
    unsigned sum = 0;
    for (int pass = 0; pass < passes; pass++) {
#pragma unroll 8
        for (u64 i = first; i < count; i += step) {
            uint4 word = __ldcg(from + i);
            sum += word.x ^ word.y ^ word.z ^ word.w;
        }
    }
    if (sum == 0x12345u)
        *sink = sum;
}

// Eight independent chains of fp32 multiply-adds per thread: 16 operations per iteration.
extern "C" __global__ void evotile_multiply_add(int iterations, float *sink) {
    float a[8];
    for (int k = 0; k < 8; k++)
        a[k] = (float)(threadIdx.x + k);
    for (int i = 0; i < iterations; i++) {
#pragma unroll
        for (int k = 0; k < 8; k++)
            a[k] = __fmaf_rn(a[k], 0.999f, 0.5f);
    }
    float sum = 0;
    for (int k = 0; k < 8; k++)
        sum += a[k];
    if (sum == 12345.0f)
        *sink = sum;
}

// Eight independent mma.sync.m16n8k16 per warp, half inputs and fp32 sums: 8 * 4096 operations per iteration.
extern "C" __global__ void evotile_matrix(int iterations, float *sink) {
#if __CUDA_ARCH__ >= 800
    unsigned a[4], b[2];
    float c[8][4];
    for (int k = 0; k < 4; k++)
        a[k] = 0x2e662e66u + threadIdx.x; // halves of about 0.1
    for (int k = 0; k < 2; k++)
        b[k] = 0x2e662e66u + threadIdx.x;
    for (int k = 0; k < 8; k++)
        for (int j = 0; j < 4; j++)
            c[k][j] = 0;
    for (int i = 0; i < iterations; i++) {
#pragma unroll
        for (int k = 0; k < 8; k++)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                         "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                         : "+f"(c[k][0]), "+f"(c[k][1]), "+f"(c[k][2]), "+f"(c[k][3])
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
    float sum = 0;
    for (int k = 0; k < 8; k++)
        for (int j = 0; j < 4; j++)
            sum += c[k][j];
    if (sum == 12345.0f)
        *sink = sum;
#endif
}

extern "C" __global__ void evotile_nothing() {}
