// Tensor-core products of one warp: d += a * b with a 16x16 (row major), b 16x8, d 16x8.
//
// Fragment layouts, with g = lane / 4 and t = lane % 4; a pair is two neighbours packed in 32 bits:
//   a[0] row g,   columns 2t, 2t+1        b[0] rows 2t, 2t+1 of column g
//   a[1] row g+8, columns 2t, 2t+1        b[1] rows 2t+8, 2t+9 of column g
//   a[2] row g,   columns 2t+8, 2t+9
//   a[3] row g+8, columns 2t+8, 2t+9
//   d, float: d[0], d[1] row g, columns 2t, 2t+1; d[2], d[3] row g+8, the same columns
//   d, half:  d[0] row g, columns 2t, 2t+1 as a pair; d[1] row g+8
// So the accumulators of two neighbouring products, rounded, have the layout of `a` for the next
// product. `element`, the type of a and b, is explicit: mma_m16n8k16<f16>(d, a, b0, b1).
#ifndef EVOTILE_LIB_MMA
#define EVOTILE_LIB_MMA

#include "lib/types.cuh"

// Float accumulation. sm_80 and later.
template <typename element>
DEVICE void mma_m16n8k16(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1);

template <> DEVICE void mma_m16n8k16<f16>(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

template <> DEVICE void mma_m16n8k16<bf16>(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Half accumulation, for halves only: half the registers, and on consumer GPUs twice the rate;
// overflows past 65504. sm_80 and later.
template <typename element>
DEVICE void mma_m16n8k16(u32 (&d)[2], const u32 (&a)[4], u32 b0, u32 b1);

template <> DEVICE void mma_m16n8k16<f16>(u32 (&d)[2], const u32 (&a)[4], u32 b0, u32 b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
        "{%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
        : "+r"(d[0]), "+r"(d[1])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

#endif
