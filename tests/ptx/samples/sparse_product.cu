// d += a b, where a has 16 rows of 32 columns with at most two non-zeros in every four: the kernel packs them and
// computes the metadata of mma.sp.
#include <cuda_fp16.h>
// Two of four f16 values, and four metadata bits with their indices.
__device__ unsigned pack(const __half *four, unsigned &places) {
    int first = 0, second = 3;
    while (first < 2 && __heq(four[first], __float2half(0))) first++;
    while (second > first + 1 && __heq(four[second], __float2half(0))) second--;
    places = first | second << 2;
    return __half_as_ushort(four[first]) | (unsigned)__half_as_ushort(four[second]) << 16;
}
extern "C" __global__ void sparse_product(const __half *a, const __half *b, float *d) {
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    unsigned left[4], right[4], metadata = 0, places;
    float sum[4];
    for (int r = 0; r < 4; r++) { // a pair of a row's 16 stored elements, laid out as in a dense matrix
        left[r] = pack(a + (g + r % 2 * 8) * 32 + r / 2 * 16 + 4 * t, places);
        right[r] = *(const unsigned *)(b + g * 32 + r * 8 + 2 * t); // b: 8 columns of 32
        sum[r] = d[(g + r / 2 * 8) * 8 + 2 * t + r % 2];
    }
    for (int i = 0; i < 8; i++) { // lanes 0 and 1 of four: rows g and g + 8 of 16 columns
        pack(a + (g + i / 4 * 8) * 32 + t % 2 * 16 + i % 4 * 4, places);
        metadata |= places << 4 * i;
    }
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0;"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]), "r"(right[2]),
          "r"(right[3]), "r"(metadata));
    for (int r = 0; r < 4; r++) d[(g + r / 2 * 8) * 8 + 2 * t + r % 2] = sum[r];
}
