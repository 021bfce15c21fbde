// wgmma: tensor-core products of one warpgroup (four consecutive warps, 128 threads): d = a * b (+
// d), with a 64x16, b 16xN, d 64xN; N follows from the size of d. They execute asynchronously.
// sm_90a.
//
//     wgmma_fence();                         // d and a of earlier instructions are settled
//     wgmma<f16>(d, a, b, false);            // d = a * b
//     wgmma<f16>(d, a_next, b_next, true);   // d += a_next * b_next
//     wgmma_commit();
//     wgmma_wait<0>();                       // d may be read, a's registers written
//
// All four warps issue the same instructions. Between the first product and the wait that covers
// it, no thread may touch d or a's registers or overwrite the memory that the descriptors describe.
//
// Fragment layouts, with w the warp's index in the warpgroup, g = lane / 4, t = lane % 4; a pair is
// two neighbouring elements packed in 32 bits. Warp w has rows 16w to 16w + 15 of a and d; i counts
// from 0:
//   d, float: d[4i], d[4i+1] row g, columns 8i+2t, 8i+2t+1; d[4i+2], d[4i+3] row g+8, the same
//   d, half:  d[2i] row g, columns 8i+2t, 8i+2t+1 as a pair; d[2i+1] row g+8, the same
//   a[0] row g, columns 2t, 2t+1; a[1] row g+8, the same
//   a[2] row g, columns 2t+8, 2t+9; a[3] row g+8, the same
// So sixteen columns of d, rounded to half, have the layout of `a` for the next product, as in
// mma.cuh.
#ifndef EVOTILE_LIB_WGMMA
#define EVOTILE_LIB_WGMMA

#include "lib/types.cuh"

// Required before the first product and after registers of d or a were written: orders these
// accesses before the products that follow. (Consecutive products with the same d need none.)
DEVICE void wgmma_fence() {
    asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
}

// Closes the group of products issued since the last commit.
DEVICE void wgmma_commit() {
    asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}

// Waits until at most `pending` of the latest groups are unfinished.
template <int pending> DEVICE void wgmma_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(pending) : "memory");
}

// Prevents the compiler from moving uses of d across this point: place it after a wait that is not
// immediately before the use, and before the fence. Emits no instruction.
template <int registers> DEVICE void wgmma_hold(float (&d)[registers]) {
#pragma unroll
    for (int i = 0; i < registers; ++i)
        asm volatile("" : "+f"(d[i]) : : "memory");
}

template <int registers> DEVICE void wgmma_hold(u32 (&d)[registers]) {
#pragma unroll
    for (int i = 0; i < registers; ++i)
        asm volatile("" : "+r"(d[i]) : : "memory");
}

// ---- operands in shared memory ----

// The fastest-running index in memory: k, of which a row of a and a column of b have 16, or the
// other one (a's rows, b's columns).
enum class major { k, mn };

// The swizzle mode of the operand in memory: tma.cuh.
enum class swizzle : u64 { none = 0, by_128 = 1, by_64 = 2, by_32 = 3 };

// The shared memory descriptor (PTX ISA, "Matrix descriptor format") of an operand of 16-bit
// elements that begins at start_smem. With S bytes of swizzle (128, 64, 32) it consists of *atoms*
// of 8 rows of S bytes, 8S contiguous bytes aligned to 8S; without swizzle, of *core matrices* of 8
// rows of 16 bytes, 128 contiguous bytes.
//
//   K-major, swizzled: a row holds S/2 k's of one m or n; 8 of these are an atom.
//     stride_bytes   from an atom to that of the next 8 m or n's (packed: 8S)
//     leading_bytes  not used
//     the next 16 k's begin 32 bytes on, until the S bytes are used up
//   MN-major, swizzled: a row holds S/2 m or n's of one k; 8 k's are an atom.
//     stride_bytes   from an atom to that of the next 8 k's (packed: 8S)
//     leading_bytes  from an atom to that of the next S/2 m or n's, where there are more
//     the next 16 k's begin 2 stride_bytes on
//   K-major, not swizzled: a row holds 8 k's of one m or n; 8 of these are a core matrix.
//     stride_bytes   to the next 8 m or n's
//     leading_bytes  to the next 8 k's
//   MN-major, not swizzled: a row holds 8 m or n's of one k; 8 k's are a core matrix.
//     stride_bytes   to the next 8 m or n's
//     leading_bytes  to the next 8 k's
//
// A K tile (keys x D) loaded by TMA is b of S = QK', K-major; a V tile (keys x D) is b of PV,
// MN-major.
DEVICE u64 matrix_descriptor(u32 start_smem, u32 leading_bytes, u32 stride_bytes, swizzle mode) {
    return static_cast<u64>((start_smem & 0x3ffff) >> 4) |
           static_cast<u64>((leading_bytes & 0x3ffff) >> 4) << 16 |
           static_cast<u64>((stride_bytes & 0x3ffff) >> 4) << 32 | static_cast<u64>(mode) << 62;
}

// The descriptor of the same operand `bytes` (a multiple of 16) further on. The address is in the
// low half, which does not overflow.
DEVICE u64 descriptor_advance(u64 descriptor, u32 bytes) {
    return descriptor >> 32 << 32 | (static_cast<u32>(descriptor) + (bytes >> 4));
}

// ---- the products ----

// The type suffix of the instruction: d's, a's and b's types.
template <typename accumulator, typename input> struct wgmma_types;
template <> struct wgmma_types<float, f16> {
    static constexpr char name[] = "f32.f16.f16";
    static constexpr int columns = 2; // columns of d per register
};
template <> struct wgmma_types<float, bf16> {
    static constexpr char name[] = "f32.bf16.bf16";
    static constexpr int columns = 2;
};
template <> struct wgmma_types<u32, f16> {
    static constexpr char name[] = "f16.f16.f16";
    static constexpr int columns = 4;
};

// One instruction, selected by the number of d's registers; WGMMA below defines the
// specialisations. asm operands are numbered, and the numbers depend on the number of d's
// registers, so each size needs its own text.
template <int registers> struct wgmma_instruction;

// clang-format off
#define WGMMA_NAMES_4   "%0, %1, %2, %3"
#define WGMMA_NAMES_8   WGMMA_NAMES_4 ", %4, %5, %6, %7"
#define WGMMA_NAMES_12  WGMMA_NAMES_8 ", %8, %9, %10, %11"
#define WGMMA_NAMES_16  WGMMA_NAMES_12 ", %12, %13, %14, %15"
#define WGMMA_NAMES_20  WGMMA_NAMES_16 ", %16, %17, %18, %19"
#define WGMMA_NAMES_24  WGMMA_NAMES_20 ", %20, %21, %22, %23"
#define WGMMA_NAMES_28  WGMMA_NAMES_24 ", %24, %25, %26, %27"
#define WGMMA_NAMES_32  WGMMA_NAMES_28 ", %28, %29, %30, %31"
#define WGMMA_NAMES_40  WGMMA_NAMES_32 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define WGMMA_NAMES_48  WGMMA_NAMES_40 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define WGMMA_NAMES_56  WGMMA_NAMES_48 ", %48, %49, %50, %51, %52, %53, %54, %55"
#define WGMMA_NAMES_64  WGMMA_NAMES_56 ", %56, %57, %58, %59, %60, %61, %62, %63"
#define WGMMA_NAMES_80  WGMMA_NAMES_64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75" \
                  ", %76, %77, %78, %79"
#define WGMMA_NAMES_88  WGMMA_NAMES_80 ", %80, %81, %82, %83, %84, %85, %86, %87"
#define WGMMA_NAMES_96  WGMMA_NAMES_88 ", %88, %89, %90, %91, %92, %93, %94, %95"
#define WGMMA_NAMES_112 WGMMA_NAMES_96 ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105" \
                  ", %106, %107, %108, %109, %110, %111"
#define WGMMA_NAMES_128 WGMMA_NAMES_112 ", %112, %113, %114, %115, %116, %117, %118, %119, %120" \
                  ", %121, %122, %123, %124, %125, %126, %127"

#define WGMMA_PLACES_4(c, i)   c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3])
#define WGMMA_PLACES_8(c, i)   WGMMA_PLACES_4(c, i), WGMMA_PLACES_4(c, i + 4)
#define WGMMA_PLACES_12(c, i)  WGMMA_PLACES_8(c, i), WGMMA_PLACES_4(c, i + 8)
#define WGMMA_PLACES_16(c, i)  WGMMA_PLACES_8(c, i), WGMMA_PLACES_8(c, i + 8)
#define WGMMA_PLACES_20(c, i)  WGMMA_PLACES_16(c, i), WGMMA_PLACES_4(c, i + 16)
#define WGMMA_PLACES_24(c, i)  WGMMA_PLACES_16(c, i), WGMMA_PLACES_8(c, i + 16)
#define WGMMA_PLACES_28(c, i)  WGMMA_PLACES_16(c, i), WGMMA_PLACES_12(c, i + 16)
#define WGMMA_PLACES_32(c, i)  WGMMA_PLACES_16(c, i), WGMMA_PLACES_16(c, i + 16)
#define WGMMA_PLACES_40(c, i)  WGMMA_PLACES_32(c, i), WGMMA_PLACES_8(c, i + 32)
#define WGMMA_PLACES_48(c, i)  WGMMA_PLACES_32(c, i), WGMMA_PLACES_16(c, i + 32)
#define WGMMA_PLACES_56(c, i)  WGMMA_PLACES_32(c, i), WGMMA_PLACES_24(c, i + 32)
#define WGMMA_PLACES_64(c, i)  WGMMA_PLACES_32(c, i), WGMMA_PLACES_32(c, i + 32)
#define WGMMA_PLACES_80(c, i)  WGMMA_PLACES_64(c, i), WGMMA_PLACES_16(c, i + 64)
#define WGMMA_PLACES_88(c, i)  WGMMA_PLACES_64(c, i), WGMMA_PLACES_24(c, i + 64)
#define WGMMA_PLACES_96(c, i)  WGMMA_PLACES_64(c, i), WGMMA_PLACES_32(c, i + 64)
#define WGMMA_PLACES_112(c, i) WGMMA_PLACES_64(c, i), WGMMA_PLACES_48(c, i + 64)
#define WGMMA_PLACES_128(c, i) WGMMA_PLACES_64(c, i), WGMMA_PLACES_64(c, i + 64)

// a from registers: its four are operands i to l, b's descriptor is m. Or a by descriptor: i, and
// b's j.
#define WGMMA_RUN(registers, names, places, constraint, type, i, j, k, l, m, o, p, q, r)     \
    template <int n, typename types, int b_transposed>                                       \
    static DEVICE void run(type (&d)[registers], const u32 (&a)[4], u64 b, int accumulate) { \
        asm volatile("{ .reg .pred p; setp.ne.b32 p, %" #o ", 0; "                           \
                     "wgmma.mma_async.sync.aligned.m64n%" #p "k16.%" #q " {" names "}, "     \
                     "{%" #i ", %" #j ", %" #k ", %" #l "}, %" #m ", p, 1, 1, %" #r "; }"    \
                     : places(constraint, 0)                                                 \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate),  \
                       "n"(n), "C"(types::name), "n"(b_transposed));                         \
    }                                                                                        \
    template <int n, typename types, int b_transposed, int a_transposed>                     \
    static DEVICE void run(type (&d)[registers], u64 a, u64 b, int accumulate) {             \
        asm volatile("{ .reg .pred p; setp.ne.b32 p, %" #k ", 0; "                           \
                     "wgmma.mma_async.sync.aligned.m64n%" #l "k16.%" #m " {" names "}, "     \
                     "%" #i ", %" #j ", p, 1, 1, %" #o ", %" #p "; }"                        \
                     : places(constraint, 0)                                                 \
                     : "l"(a), "l"(b), "r"(accumulate), "n"(n), "C"(types::name),            \
                       "n"(a_transposed), "n"(b_transposed));                                \
    }

#define WGMMA(registers, ...)                                                                   \
    template <> struct wgmma_instruction<registers> {                                           \
        WGMMA_RUN(registers, WGMMA_NAMES_##registers, WGMMA_PLACES_##registers, "+f", float,    \
                  registers, __VA_ARGS__)                                                       \
        WGMMA_RUN(registers, WGMMA_NAMES_##registers, WGMMA_PLACES_##registers, "+r", u32,      \
                  registers, __VA_ARGS__)                                                       \
    };

// The number of d's registers, which is also the number of the first operand after them, and the
// numbers of the following operands.
WGMMA(4, 5, 6, 7, 8, 9, 10, 11, 12)
WGMMA(8, 9, 10, 11, 12, 13, 14, 15, 16)
WGMMA(12, 13, 14, 15, 16, 17, 18, 19, 20)
WGMMA(16, 17, 18, 19, 20, 21, 22, 23, 24)
WGMMA(20, 21, 22, 23, 24, 25, 26, 27, 28)
WGMMA(24, 25, 26, 27, 28, 29, 30, 31, 32)
WGMMA(28, 29, 30, 31, 32, 33, 34, 35, 36)
WGMMA(32, 33, 34, 35, 36, 37, 38, 39, 40)
WGMMA(40, 41, 42, 43, 44, 45, 46, 47, 48)
WGMMA(48, 49, 50, 51, 52, 53, 54, 55, 56)
WGMMA(56, 57, 58, 59, 60, 61, 62, 63, 64)
WGMMA(64, 65, 66, 67, 68, 69, 70, 71, 72)
WGMMA(80, 81, 82, 83, 84, 85, 86, 87, 88)
WGMMA(88, 89, 90, 91, 92, 93, 94, 95, 96)
WGMMA(96, 97, 98, 99, 100, 101, 102, 103, 104)
WGMMA(112, 113, 114, 115, 116, 117, 118, 119, 120)
WGMMA(128, 129, 130, 131, 132, 133, 134, 135, 136)
// clang-format on

// d = a * b, or d += a * b if `accumulate`; a from registers. N is the number of d's columns: 2 per
// float register, 4 per register of half pairs; at most 256.
template <typename input, major b_major = major::k, typename accumulator, int registers>
DEVICE void wgmma(accumulator (&d)[registers], const u32 (&a)[4], u64 b, bool accumulate) {
    using types = wgmma_types<accumulator, input>;
    wgmma_instruction<registers>::template run<registers * types::columns, types,
                                               b_major == major::mn>(d, a, b, accumulate);
}

// The same with a from shared memory.
template <typename input, major b_major = major::k, major a_major = major::k, typename accumulator,
          int registers>
DEVICE void wgmma(accumulator (&d)[registers], u64 a, u64 b, bool accumulate) {
    using types = wgmma_types<accumulator, input>;
    wgmma_instruction<registers>::template run<registers * types::columns, types,
                                               b_major == major::mn, a_major == major::mn>(
        d, a, b, accumulate);
}

#endif
