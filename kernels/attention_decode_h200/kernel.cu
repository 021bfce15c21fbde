// kernel.cu: attention_fwd, exported by evotile. Generated: do not edit.
//
// FlashAttention forward for few queries: the heads that share keys in one tile, warps that stream
// keys of their own
//
// The genes and specialised dimensions of variant N are macros of variant_N.h;
// nvcc -DEVOTILE_VARIANT=N selects it.
//
// replay: evotile replay .gpu/kernels/attention_decode_h200

#ifndef EVOTILE_VARIANT
#define EVOTILE_VARIANT 1
#endif
#if EVOTILE_VARIANT == 1
#include "variant_1.h"
#endif
#if EVOTILE_VARIANT == 2
#include "variant_2.h"
#endif

// Read back from the loaded module: proof that it is this genome's. nvcc takes `extern "C"` without
// braces for a declaration.
extern "C" {
__device__ unsigned long long evotile_genome = EVOTILE_GENOME;
}

// FlashAttention forward for few queries (decoding):  O = softmax(scale Q K^T) V, half or bf16.
//
//   Q, O   [B, H, S, D]          S is small: K and V are most of the bytes, and are read once;
//                                O has DV columns
//   K, V   [B, H_KV, S_KV, D]    V has DV; row j is one key; G = H / H_KV heads in a row share
//   their keys LSE    [B, H, S], or null    the logarithm of the sum of exp(scale * score) of a
//   query The extents may be in any order: strides give the distance between batches, heads and
//   rows. CAUSAL: query i sees key j only if j <= i + S_KV - S (the last query sees the last key).
//   WINDOW: only if i + S_KV - S - j < WINDOW, unless it is 0. SOFT_CAP c, unless it is 0: the
//   scaled score s becomes c * tanh(s / c). SINKS: one more score per head, of a key without value.
//   A query that sees no key gives a row of zeros, and minus infinity for LSE.
//
// The queries of the G heads that share keys are rows of one matrix: row r is query r / G of head
// r % G. A block computes 16 of these rows against the keys of one KV split. Each of its warps
// streams key tiles of its own through a pipeline of its own, and keeps m, l and O of the rows: no
// warp waits for another before the end, when the block adds their results up. README.md has more.

// Thread block clusters: blocks that run concurrently and can access each other's shared memory.
// sm_90 and later; a kernel sets its cluster size by __cluster_dims__.
#ifndef EVOTILE_LIB_CLUSTER
#define EVOTILE_LIB_CLUSTER

// Types and constants that the device code needs without any system header.
#ifndef EVOTILE_LIB_TYPES
#define EVOTILE_LIB_TYPES

// A device function that is always inlined, so that reference arguments stay in registers.
#define DEVICE __device__ __forceinline__

using u16 = unsigned short;
using u32 = unsigned int;
using i64 = long long;
using u64 = unsigned long long;

// An IEEE half as stored in memory. Arithmetic is done in float; half.cuh converts.
struct f16 {
    u16 bits;
};

// A bfloat16: the upper half of a float.
struct bf16 {
    u16 bits;
};

// std::conditional_t: A if the condition holds, else B.
template <bool condition, typename A, typename B> struct conditional { using type = A; };
template <typename A, typename B> struct conditional<false, A, B> { using type = B; };
template <bool condition, typename A, typename B>
using conditional_t = typename conditional<condition, A, B>::type;

constexpr float minus_infinity = __builtin_bit_cast(float, 0xff800000u);
constexpr u32 full_warp_mask = 0xffffffffu;

__host__ __device__ constexpr int ceil_div(int a, int b) {
    return (a + b - 1) / b;
}

__host__ __device__ constexpr int max_of(int a, int b) {
    return a > b ? a : b;
}

__host__ __device__ constexpr int min_of(int a, int b) {
    return a < b ? a : b;
}

#endif

DEVICE u32 cluster_rank() {
    u32 rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

DEVICE u32 cluster_size() {
    u32 size;
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    return size;
}

// The shared::cluster address of `address` in the shared memory of block `rank`.
DEVICE u32 map_to_block(u32 address, u32 rank) {
    u32 mapped;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
    return mapped;
}

// Stores a word to an address from map_to_block. Visible to that block after cluster_arrive and
// cluster_wait.
DEVICE void store_shared_cluster(u32 mapped, float value) {
    asm volatile("st.shared::cluster.f32 [%0], %1;" : : "r"(mapped), "f"(value) : "memory");
}

// Loads 8 or 16 bytes, aligned to their size, from an address from map_to_block.
DEVICE float2 load_shared_cluster_8(u32 mapped) {
    float2 value;
    asm volatile("ld.shared::cluster.v2.f32 {%0, %1}, [%2];"
                 : "=f"(value.x), "=f"(value.y)
                 : "r"(mapped)
                 : "memory");
    return value;
}

DEVICE float4 load_shared_cluster_16(u32 mapped) {
    float4 value;
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
                 : "r"(mapped)
                 : "memory");
    return value;
}

// A split barrier of all threads of the cluster: writes before the arrive are visible after the
// wait.
DEVICE void cluster_arrive() {
    asm volatile("barrier.cluster.arrive.release.aligned;" : : : "memory");
}

DEVICE void cluster_wait() {
    asm volatile("barrier.cluster.wait.acquire.aligned;" : : : "memory");
}

#endif
// cp.async: asynchronous copies from global to shared memory. A thread's copies are grouped by
// commit. A wait is by group and covers only the thread's own copies: a barrier must follow before
// other threads' copies are read. sm_80 and later.
#ifndef EVOTILE_LIB_CP_ASYNC
#define EVOTILE_LIB_CP_ASYNC

// Shared memory addresses, loads.
#ifndef EVOTILE_LIB_SMEM
#define EVOTILE_LIB_SMEM


// The 32-bit shared-state-space address that shared memory instructions take.
DEVICE u32 smem_address(const void *address) {
    return static_cast<u32>(__cvta_generic_to_shared(address));
}

// Loads 4 or 16 bytes, aligned to their size.
DEVICE u32 load_smem_4(u32 address) {
    u32 value;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
    return value;
}

DEVICE uint4 load_smem_16(u32 address) {
    uint4 value;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                 : "r"(address)
                 : "memory");
    return value;
}

#endif

// Stores 16 bytes to shared memory synchronously. Aligned to 16.
DEVICE void store_smem_16(u32 target_smem, uint4 value) {
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};"
                 :
                 : "r"(target_smem), "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w)
                 : "memory");
}

// Copies 16 bytes, bypassing L1, or, if not `inside`, writes 16 zero bytes and reads nothing. Both
// addresses are aligned to 16.
DEVICE void cp_async_16(u32 target_smem, const void *source_gmem, bool inside) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(target_smem), "l"(source_gmem), "r"(inside ? 16 : 0)
                 : "memory");
}

// The same, but cached in L1 for other blocks of the SM.
DEVICE void cp_async_16_l1(u32 target_smem, const void *source_gmem, bool inside) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(target_smem), "l"(source_gmem), "r"(inside ? 16 : 0)
                 : "memory");
}

// The same for 8 bytes, aligned to 8.
DEVICE void cp_async_8(u32 target_smem, const void *source_gmem, bool inside) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;"
                 :
                 : "r"(target_smem), "l"(source_gmem), "r"(inside ? 8 : 0)
                 : "memory");
}

// The same for 4 bytes, aligned to 4.
DEVICE void cp_async_4(u32 target_smem, const void *source_gmem, bool inside) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                 :
                 : "r"(target_smem), "l"(source_gmem), "r"(inside ? 4 : 0)
                 : "memory");
}

// Closes the group of copies that this thread has issued since the last commit; it may be empty.
DEVICE void cp_async_commit() {
    asm volatile("cp.async.commit_group;" : : : "memory");
}

// Waits until at most `pending` of this thread's latest groups are unfinished.
template <int pending> DEVICE void cp_async_wait() {
    asm volatile("cp.async.wait_group %0;" : : "n"(pending) : "memory");
}

#endif
// Operations on 16-bit tensor elements, selected by the element type, f16 or bf16.
#ifndef EVOTILE_LIB_ELEMENT
#define EVOTILE_LIB_ELEMENT

// Conversions between bfloat16 and float; half.cuh has the same for halves.
#ifndef EVOTILE_LIB_BFLOAT
#define EVOTILE_LIB_BFLOAT


DEVICE float bfloat_to_float(bf16 value) {
    return __uint_as_float(static_cast<u32>(value.bits) << 16);
}

// Rounds to nearest even. sm_80 and later.
DEVICE bf16 float_to_bfloat(float value) {
    bf16 result;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
    return result;
}

// Two floats rounded to nearest even and packed: `low` in bits 0-15, `high` in bits 16-31. sm_80
// and later.
DEVICE u32 pack_bfloat2(float low, float high) {
    u32 result;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
    return result;
}

#endif
// Conversions between half and float, and arithmetic on pairs of halves packed into 32 bits
// (the element with the lower index in the low 16 bits).
#ifndef EVOTILE_LIB_HALF
#define EVOTILE_LIB_HALF


DEVICE float half_to_float(f16 value) {
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
    return result;
}

// Rounds to nearest even.
DEVICE f16 float_to_half(float value) {
    f16 result;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
    return result;
}

// Two floats rounded to nearest even and packed: `low` in bits 0-15, `high` in bits 16-31.
DEVICE u32 pack_half2(float low, float high) {
    u32 result;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
    return result;
}

DEVICE float low_half_to_float(u32 pair) {
    return half_to_float(f16{static_cast<u16>(pair)});
}

DEVICE float high_half_to_float(u32 pair) {
    return half_to_float(f16{static_cast<u16>(pair >> 16)});
}

// The two products of the halves of a and b, rounded to half.
DEVICE u32 multiply_half2(u32 a, u32 b) {
    u32 result;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
    return result;
}

#endif

// Two floats rounded to `element` and packed, the lower half first: pack_pair<bf16>(low, high).
template <typename element> DEVICE u32 pack_pair(float low, float high);

template <> DEVICE u32 pack_pair<f16>(float low, float high) {
    return pack_half2(low, high);
}

template <> DEVICE u32 pack_pair<bf16>(float low, float high) {
    return pack_bfloat2(low, high);
}

// The low or high element of a pair as a float.
template <typename element> DEVICE float unpack_low(u32 pair);
template <typename element> DEVICE float unpack_high(u32 pair);

template <> DEVICE float unpack_low<f16>(u32 pair) {
    return low_half_to_float(pair);
}

template <> DEVICE float unpack_high<f16>(u32 pair) {
    return high_half_to_float(pair);
}

template <> DEVICE float unpack_low<bf16>(u32 pair) {
    return __uint_as_float(pair << 16);
}

template <> DEVICE float unpack_high<bf16>(u32 pair) {
    return __uint_as_float(pair & 0xffff0000);
}

#endif
// MMA operand fragments (lib/mma.cuh), loaded by one warp from tiles in shared memory
// (lib/tile.cuh) or from a matrix in global memory; and accumulator conversions. `step` counts
// groups of 16 columns.
#ifndef EVOTILE_LIB_FRAGMENTS
#define EVOTILE_LIB_FRAGMENTS

// Integer arithmetic where the compiler needs a hint.
#ifndef EVOTILE_LIB_INTEGER
#define EVOTILE_LIB_INTEGER


// a * b in 64 bits by one multiplication. (For 64-bit operands the compiler does not know that the
// values fit 32 bits, and uses three.)
DEVICE i64 multiply_wide(int a, int b) {
    i64 result;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(result) : "r"(a), "r"(b));
    return result;
}

DEVICE u64 multiply_wide(u32 a, u32 b) {
    u64 result;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(result) : "r"(a), "r"(b));
    return result;
}

// n / d, where inverse = (2^31 - 1) / d and 0 <= n, (n + 1) * d <= 2^31. Exact: 2^31 = d * inverse
// + r with 1 <= r <= d, so the product is less than (n + 1) / d by (n + 1) r / (2^31 d), which is
// greater than 0 and at most 1 / d.
DEVICE int divide(int n, int inverse) {
    return static_cast<int>(__umulhi(2u * n + 2u, inverse));
}

#endif
// ldmatrix: one warp loads four 8x8 tiles of halves from shared memory. Lanes 8i to 8i+7 each give
// the address of one row (16 bytes, aligned to 16) of tile i. The eight rows of a tile should be in
// different banks.
#ifndef EVOTILE_LIB_LDMATRIX
#define EVOTILE_LIB_LDMATRIX


// tile[i] of lane l: row l/4, columns 2(l%4) and 2(l%4)+1 of tile i.
DEVICE void ldmatrix_x4(u32 (&tile)[4], u32 row_smem) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(tile[0]), "=r"(tile[1]), "=r"(tile[2]), "=r"(tile[3])
                 : "r"(row_smem)
                 : "memory");
}

// The same, transposed: rows 2(l%4) and 2(l%4)+1 of column l/4 of tile i.
DEVICE void ldmatrix_x4_trans(u32 (&tile)[4], u32 row_smem) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(tile[0]), "=r"(tile[1]), "=r"(tile[2]), "=r"(tile[3])
                 : "r"(row_smem)
                 : "memory");
}

#endif

// A operand: 16 rows of the tile from first_row on, the 16 columns of `step`.
template <typename tile> DEVICE void load_a(u32 (&a)[4], u32 tile_smem, int first_row, int step) {
    const int lane = threadIdx.x % 32;
    ldmatrix_x4(a, tile_smem + tile::offset(first_row + lane % 16, step * 2 + lane / 16));
}

// The same from a matrix in global memory whose row stride is `stride` elements; rows at or past
// row_end are zeros and are not read.
template <typename element>
DEVICE void load_a_gmem(u32 (&a)[4], const element *matrix_gmem, int stride, int first_row,
                        int row_end, int step) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int row = first_row + lane / 4 + i % 2 * 8;
        const element *pair_gmem =
            matrix_gmem + lane % 4 * 2 + multiply_wide(row, stride) + (step * 16 + i / 2 * 8);
        a[i] = row < row_end ? *reinterpret_cast<const u32 *>(pair_gmem) : 0;
    }
}

// B operand of a product with the transposed tile: b[0], b[1] belong to its 8 rows from first_row
// on, b[2], b[3] to the next 8; the 16 columns of `step`.
template <typename tile>
DEVICE void load_b_transposed(u32 (&b)[4], u32 tile_smem, int first_row, int step) {
    const int lane = threadIdx.x % 32;
    ldmatrix_x4(b, tile_smem +
                       tile::offset(first_row + lane / 16 * 8 + lane % 8, step * 2 + lane / 8 % 2));
}

// B operand of a product with the tile itself: 16 rows from first_row on; b[0], b[1] belong to the
// first 8 columns of `step`, b[2], b[3] to the other 8.
template <typename tile> DEVICE void load_b(u32 (&b)[4], u32 tile_smem, int first_row, int step) {
    const int lane = threadIdx.x % 32;
    ldmatrix_x4_trans(b, tile_smem + tile::offset(first_row + lane % 16, step * 2 + lane / 16));
}

// Converts accumulators, float or half, to floats.
template <int m, int n> DEVICE void to_floats(float (&to)[m][n][4], const float (&from)[m][n][4]) {
#pragma unroll
    for (int i = 0; i < m * n * 4; ++i)
        to[i / 4 / n][i / 4 % n][i % 4] = from[i / 4 / n][i / 4 % n][i % 4];
}

template <int m, int n> DEVICE void to_floats(float (&to)[m][n][4], const u32 (&from)[m][n][2]) {
#pragma unroll
    for (int i = 0; i < m * n * 4; ++i) {
        const u32 pair = from[i / 4 / n][i / 4 % n][i % 4 / 2];
        to[i / 4 / n][i / 4 % n][i % 4] =
            i % 2 ? high_half_to_float(pair) : low_half_to_float(pair);
    }
}

// Multiplies row g of an accumulator by by[0], and row g + 8 by by[1].
DEVICE void scale_rows(float (&d)[4], const float (&by)[2]) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
        d[i] *= by[i / 2];
}

DEVICE void scale_rows(u32 (&d)[2], const float (&by)[2]) {
#pragma unroll
    for (int i = 0; i < 2; ++i)
        d[i] = multiply_half2(d[i], pack_half2(by[i], by[i]));
}

#endif
// Detects the last of several blocks that finish a shared piece of work; it may then read what the
// others wrote (the threadFenceReduction pattern).
#ifndef EVOTILE_LIB_LAST_BLOCK
#define EVOTILE_LIB_LAST_BLOCK


// Called by all threads of a block: true if `blocks` - 1 other blocks have called it with the same
// counter in global memory, which must be zero when the launch begins. Everything those blocks
// wrote to global memory before their calls is then visible. Also a block barrier.
DEVICE bool arrive_is_last_block(u32 *counter_gmem, u32 blocks) {
    __threadfence(); // this thread's writes are visible before the block is counted,
    __syncthreads(); // and those of the other threads
    const bool last =
        __syncthreads_or(threadIdx.x == 0 && atomicAdd(counter_gmem, 1u) == blocks - 1);
    if (last)
        __threadfence(); // no later read is moved before the count
    return last;
}

#endif
// Fast single-precision functions, one instruction each.
#ifndef EVOTILE_LIB_MATH
#define EVOTILE_LIB_MATH


// 2^x to about 2 units in the last place; 0 for minus infinity; results below 2^-126 become 0.
DEVICE float exp2_fast(float x) {
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

// exp2 to about 1e-4 of its value on the FMA units instead of the MUFU unit: 2^x = 2^i 2^f with i
// the nearest integer, which the addition leaves in the low bits of its sum; 2^f by a minimax
// polynomial (relative error) on [-1/2, 1/2]. Never below 2^-126. For x up to 127.
DEVICE float exp2_polynomial(float x) {
    x = fmaxf(x, -126.0f);
    const float shifted = x + 12582912.0f; // 1.5 * 2^23
    const float f = x - (shifted - 12582912.0f);
    const float power = ((0.0555049f * f + 0.2402265f) * f + 0.6931472f) * f + 1.0f;
    return __int_as_float(__float_as_int(power) + (__float_as_int(shifted) << 23));
}

// The logarithm of x to base 2, to about 2^-22 where it is near 0; minus infinity for 0.
DEVICE float log2_fast(float x) {
    float result;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

// 1/x to about 1 unit in the last place.
DEVICE float reciprocal_fast(float x) {
    float result;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

// The hyperbolic tangent to about 2e-7, an absolute error. (tanh.approx errs by 2^-11 of its value,
// which is too much where a large factor follows.)
DEVICE float tanh_fast(float x) {
    return 1.0f - 2.0f * reciprocal_fast(1.0f + exp2_fast(x * 2.8853900817779268f)); // 2 log2(e)
}

// 1/sqrt(x) to about 2^-22.9 of its value; infinity for 0 and below 2^-126.
DEVICE float rsqrt_fast(float x) {
    float result;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

#endif
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
// An online softmax on the accumulators of m16n8k16 (mma.cuh): a warp has 16 rows, and a thread, with
// g = lane / 4 and t = lane % 4, columns of row g (h = 0) and of row g + 8 (h = 1).
#ifndef EVOTILE_LIB_ONLINE_SOFTMAX
#define EVOTILE_LIB_ONLINE_SOFTMAX

// The parts of an online softmax (FlashAttention): scores come in tiles; of each row the running
// maximum m, the sum l of exp(scale * (score - m)), and sums weighted alike are kept. `scale` is
// the softmax scale times log2(e), so that every exponential is a power of two.
#ifndef EVOTILE_LIB_SOFTMAX
#define EVOTILE_LIB_SOFTMAX


constexpr float log2_e = 1.4426950408889634f;

// The factor that brings sums accumulated at maximum `from` to the maximum `to` >= `from`.
DEVICE float correction_factor(float from, float to, float scale) {
    return from == minus_infinity ? 0.0f : exp2_fast((from - to) * scale);
}

// exp2(scale * (score - m)) is computed as exp2(scale * score - scale * m), one FMA. If |scale * m|
// >= 2^23, the rounding of the product could exceed the range of a half. Neighbouring scores then
// differ by powers of two, and rounding the scale down to a power of two, which makes the product
// exact, is harmless.
DEVICE float exact_scale(float row_max, float scale) {
    const float power_below = __int_as_float(__float_as_int(scale) & 0x7f800000);
    return fabsf(row_max * scale) < 8388608.0f ? scale : power_below;
}

// A row whose scores have all come: its m, in units of `scale`, its l, and the factor that divides
// its weighted sums by l, 0 for a row without scores.
struct finished_row {
    float row_max, row_sum, scale, factor;
};

// A row with an attention sink: one more score, of a key without a value. It is given by its power
// of e, and may be minus infinity.
DEVICE finished_row finish_with_sink(float row_max, float row_sum, float scale, float sink) {
    const float own = row_max * scale, other = sink * log2_e, top = fmaxf(own, other);
    const float own_factor = correction_factor(own, top, 1.0f);
    const float sum = row_sum * own_factor + correction_factor(other, top, 1.0f);
    return {top, sum, 1.0f, sum > 0 ? own_factor / sum : 0.0f};
}

// The logarithm of the sum of exp(score), from m and l; minus infinity for a row without scores.
DEVICE float log_sum_exp(float row_max, float row_sum, float scale) {
    return row_max == minus_infinity ? minus_infinity
                                     : (row_max * scale + log2_fast(row_sum)) * (1.0f / log2_e);
}

#endif
// Reductions over the lanes of a warp. `width` is a power of two: lanes are reduced in aligned
// groups of that many, and every lane of a group gets the group's result.
#ifndef EVOTILE_LIB_WARP
#define EVOTILE_LIB_WARP


template <int width> DEVICE float lanes_max(float value) {
#pragma unroll
    for (int step = width / 2; step > 0; step /= 2)
        value = fmaxf(value, __shfl_xor_sync(full_warp_mask, value, step));
    return value;
}

template <int width> DEVICE float lanes_sum(float value) {
#pragma unroll
    for (int step = width / 2; step > 0; step /= 2)
        value += __shfl_xor_sync(full_warp_mask, value, step);
    return value;
}

// Transposes a 4x4 matrix held by four neighbouring lanes: lane t's `words` are row t. (Uses
// selects, because registers cannot be indexed dynamically.)
DEVICE void lanes_transpose(u32 (&words)[4]) {
    const bool odd = threadIdx.x & 1, upper = threadIdx.x & 2;
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
        const u32 received = __shfl_xor_sync(full_warp_mask, odd ? words[i] : words[i + 1], 1);
        words[i] = odd ? received : words[i];
        words[i + 1] = odd ? words[i + 1] : received;
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const u32 received = __shfl_xor_sync(full_warp_mask, upper ? words[i] : words[i + 2], 2);
        words[i] = upper ? received : words[i];
        words[i + 2] = upper ? words[i + 2] : received;
    }
}

#endif

struct softmax_rows {
    float row_max[2] = {minus_infinity, minus_infinity}; // m, before scaling
    float row_sum[2] = {0, 0};                           // l, of this thread's keys
};

// Sets scores of keys at or past end[h], which may be negative, to minus infinity; the tile begins at
// first_key.
template <int n_tiles>
DEVICE void mask_scores(float (&scores)[n_tiles][4], const int (&end)[2], int first_key) {
    const int first_own = first_key + static_cast<int>(threadIdx.x % 4) * 2; // signed, as end[h] is
    if (first_key + n_tiles * 8 <= min(end[0], end[1]))
        return;
#pragma unroll
    for (int i = 0; i < n_tiles * 4; ++i)
        if (first_own + i / 4 * 8 + i % 2 >= end[i % 4 / 2])
            scores[i / 4][i % 4] = minus_infinity;
}

// Replaces scores by probabilities exp2(scale * (score - m)) at the updated m of each row, and
// rescales l and the sums O of the tiles before.
template <int n_tiles, int d_tiles>
DEVICE void online_softmax(float (&scores)[n_tiles][4], softmax_rows &rows, float (&o)[d_tiles][4],
                           float scale_given) {
    float correction[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        float new_max = rows.row_max[h], tile_sum = 0;
#pragma unroll
        for (int n = 0; n < n_tiles; ++n)
            new_max = fmaxf(new_max, fmaxf(scores[n][h * 2], scores[n][h * 2 + 1]));
        new_max = lanes_max<4>(new_max);
        const float scale = exact_scale(new_max, scale_given);
        const float shift = new_max == minus_infinity ? 0.0f : new_max * scale;
#pragma unroll
        for (int i = 0; i < n_tiles * 2; ++i) {
            float &probability = scores[i / 2][h * 2 + i % 2];
            probability = exp2_fast(probability * scale - shift);
            tile_sum += probability;
        }
        correction[h] = correction_factor(rows.row_max[h], new_max, scale_given);
        rows.row_sum[h] = rows.row_sum[h] * correction[h] + tile_sum;
        rows.row_max[h] = new_max;
    }
    if (__all_sync(full_warp_mask, correction[0] == 1.0f && correction[1] == 1.0f))
        return; // no maximum grew
#pragma unroll
    for (int d = 0; d < d_tiles; ++d)
        scale_rows(o[d], correction);
}

// What a part of the keys gives of a row: m, l, and four columns of the unnormalised O. Parts are
// added up at the largest m.
struct row_part {
    float row_max = minus_infinity, row_sum = 0, o[4] = {};

    DEVICE void add(float other_sum, const float4 &other_o, float factor) {
        row_sum += other_sum * factor;
        o[0] += other_o.x * factor;
        o[1] += other_o.y * factor;
        o[2] += other_o.z * factor;
        o[3] += other_o.w * factor;
    }
};

#endif
// Programmatic dependent launch (PDL): a kernel whose launch is "early" (template.json) starts
// while the previous launch still runs, and waits for it where necessary. sm_90 and later.
#ifndef EVOTILE_LIB_PDL
#define EVOTILE_LIB_PDL


// Waits until the previous launch has completed and its writes are visible.
DEVICE void griddepcontrol_wait() {
    asm volatile("griddepcontrol.wait;" : : : "memory");
}

// Allows the next launch to start once every block has called this or has exited.
DEVICE void griddepcontrol_launch_dependents() {
    asm volatile("griddepcontrol.launch_dependents;" : : : "memory");
}

#endif
// Strides of a tensor [batches, heads, rows, columns] whose extents are stored in any order.
#ifndef EVOTILE_LIB_STRIDES
#define EVOTILE_LIB_STRIDES


// Strides between batches and heads in units of 8 16-bit elements, since all of them begin at
// multiples of 16 bytes; stride between rows in elements. (32-bit values: address arithmetic takes
// half the instructions.)
struct strides {
    u32 batch, head;
    int row;

    // Offset of a head, in elements.
    DEVICE u64 to_head(u32 batch_number, u32 head_number) const {
        return 8 * (multiply_wide(batch_number, batch) + multiply_wide(head_number, head));
    }
};

#endif
// Tiles of 16-bit elements in shared memory: their row layout, and the loads that fill them.
#ifndef EVOTILE_LIB_TILE
#define EVOTILE_LIB_TILE


enum class smem_layout {
    plain, // contiguous rows: with 64 elements a row, eight rows of one column share their banks
    xor_swizzled, // 16-byte chunk c of row r is stored at chunk c ^ (r % 8), or c ^ (r / 2 % 4) if
                  // rows are odd multiples of 64 bytes: no bank conflict, no extra space
    padded,       // 16 extra bytes per row: no bank conflict
};

enum class load_mode {
    through_registers, // global load, then shared store; complete when the call returns
    async_16,          // 16-byte cp.async past L1: complete after a commit, a wait and a barrier
    async_8,           // 8-byte cp.async, through L1
    async_16_l1,       // 16-byte cp.async through L1
};

// The largest power of two that divides `count`, up to `limit`, itself a power of two.
__host__ __device__ constexpr int power_in(int count, int limit) {
    return min_of(count & -count, limit);
}

// A tile of `rows` x `columns` 16-bit elements, loaded by `threads` threads, a multiple of 32.
// `columns` is a multiple of 32.
template <int rows, int columns, smem_layout row_layout, int threads> struct tile {
    static constexpr int row_bytes = columns * 2 + (row_layout == smem_layout::padded ? 16 : 0);
    static constexpr int bytes = rows * row_bytes;
    static constexpr int row_chunks = columns / 8;
    static_assert(columns % 32 == 0, "swapped chunks come in groups of eight or four");

    // Byte offset of 16-byte chunk `chunk` of row `row`.
    static DEVICE u32 offset(int row, int chunk) {
        const int swap = columns % 64 == 0 ? row & 7 : row >> 1 & 3;
        return row * row_bytes +
               (row_layout == smem_layout::xor_swizzled ? chunk ^ swap : chunk) * 16;
    }

    // Called by all threads of the block: copies rows [first_row, first_row + rows) of a matrix of
    // row_end rows, whose row stride is `stride` elements, to the tile at tile_smem. Rows at or
    // past row_end become zeros and are not read. Rows are aligned to 16 bytes. A thread copies
    // pieces of one column, `batch` at a time, so that its register use does not grow with the
    // tile; of a row whose pieces the threads do not divide, one after another of the `panels` of
    // columns that they do.
    template <load_mode mode, typename element>
    static DEVICE void load(u32 tile_smem, const element *matrix_gmem, int stride, int first_row,
                            int row_end) {
        constexpr int chunk_pieces = mode == load_mode::async_8 ? 2 : 1;
        constexpr int panel_chunks = power_in(row_chunks, 32 / chunk_pieces);
        constexpr int panels = row_chunks / panel_chunks;
        constexpr int row_pieces = panel_chunks * chunk_pieces; // of a panel
        constexpr int pass_rows = threads / row_pieces;         // copied by all threads in one pass
        constexpr int passes = ceil_div(rows, pass_rows), batch = passes < 8 ? passes : 8;
        constexpr bool all_full = rows % (pass_rows * batch) == 0;
        static_assert(threads % row_pieces == 0, "a thread copies pieces of one column");
        const int piece = threadIdx.x % row_pieces, pass_row = threadIdx.x / row_pieces;
#pragma unroll
        for (int panel = 0; panel < panels; ++panel) {
            const int chunk = panel * panel_chunks + piece / chunk_pieces;
            const int inner = piece % chunk_pieces * 8; // bytes into the chunk
            const unsigned char *column_gmem =
                reinterpret_cast<const unsigned char *>(matrix_gmem + chunk * 8) + inner;
#pragma unroll 1
            for (int pass = 0; pass < passes; pass += batch) {
                uint4 chunk_rmem[batch];
#pragma unroll
                for (int i = 0; i < batch; ++i) {
                    const int row = pass_row + (pass + i) * pass_rows;
                    const bool inside = first_row + row < row_end;
                    const u32 from = inside ? first_row + row : 0;
                    const unsigned char *piece_gmem =
                        column_gmem + multiply_wide(from, stride * 2u);
                    const u32 piece_smem = tile_smem + offset(row, chunk) + inner;
                    if (!all_full && row >= rows)
                        continue;
                    if constexpr (mode == load_mode::through_registers)
                        chunk_rmem[i] =
                            inside ? *reinterpret_cast<const uint4 *>(piece_gmem) : uint4{};
                    else if constexpr (mode == load_mode::async_16)
                        cp_async_16(piece_smem, piece_gmem, inside);
                    else if constexpr (mode == load_mode::async_8)
                        cp_async_8(piece_smem, piece_gmem, inside);
                    else
                        cp_async_16_l1(piece_smem, piece_gmem, inside);
                }
                if constexpr (mode == load_mode::through_registers) {
#pragma unroll
                    for (int i = 0; i < batch; ++i) {
                        const int row = pass_row + (pass + i) * pass_rows;
                        if (all_full || row < rows)
                            store_smem_16(tile_smem + offset(row, chunk), chunk_rmem[i]);
                    }
                }
            }
        }
    }
};

#endif

// ---- Genes ----

#if !defined(WARPS) || !defined(WARP_KEYS) || !defined(STAGES) || !defined(KV_SPLITS) ||           \
    !defined(COMBINE) || !defined(MIN_CTAS) || !defined(D) || !defined(DV) || !defined(CAUSAL) ||  \
    !defined(BF16) || !defined(WINDOW) || !defined(SOFT_CAP) || !defined(SINKS)
#error "a gene or a specialised dimension is not defined: see solution.json"
#endif

constexpr int head_dim = D;
constexpr int v_dim = DV; // columns of V and O
constexpr bool causal = CAUSAL;
constexpr int window = WINDOW;     // keys that a query sees up to its own position; 0: all
constexpr int soft_cap = SOFT_CAP; // c of c * tanh(score / c); 0: none
constexpr bool has_sinks = SINKS;
using element = conditional_t<BF16, bf16, f16>; // element type of Q, K, V and O
constexpr int warps = WARPS;                    // warps per block, each with its own pipeline
constexpr int warp_keys = WARP_KEYS;            // keys per tile
constexpr int stages = STAGES;       // pipeline stages of a warp, of a tile of K and of V
constexpr int kv_splits = KV_SPLITS; // blocks that share the keys of a row tile
constexpr bool combine_by_pdl = COMBINE == COMBINE_EARLY; // combine kernel launched early (PDL)
// The last block to finish combines; or the blocks of a cluster, through their shared memory.
constexpr bool combine_by_last_block = kv_splits > 1 && COMBINE == COMBINE_LAST;
constexpr bool combine_in_cluster = kv_splits > 1 && COMBINE == COMBINE_CLUSTER;
constexpr int min_ctas = MIN_CTAS; // minimum resident blocks per SM (launch bounds)

// ---- Derived sizes ----

constexpr int threads = warps * 32;
constexpr int row_tile = 16;           // rows of a block: one MMA tile
constexpr int n_tiles = warp_keys / 8; // MMA tiles of 8 keys,
constexpr int d_tiles = v_dim / 8;     // of 8 columns of O,
constexpr int k_steps = head_dim / 16; // of 16 columns of Q and K
constexpr int row_threads = v_dim / 4; // threads that combine a row, four columns each
constexpr float default_scale = head_dim == 32    ? 0.17677669529663689f // 1 / sqrt(D)
                                : head_dim == 64  ? 0.125f
                                : head_dim == 96  ? 0.10206207261596577f
                                : head_dim == 128 ? 0.08838834764831845f
                                : head_dim == 192 ? 0.07216878364870323f
                                                  : 0.0625f;

// ---- Shared memory, in bytes ----
//
//   of each warp: `stages` times a tile of K and one of V.
//   After the mainloop, in their place, of each warp: O of row_tile rows, of o_pitch floats so that
//   the stores of a fragment touch every bank once; after all of these m and l; and behind them, in
//   a cluster, what the block found: O of row_tile rows, and m and l.

using k_tile = tile<warp_keys, head_dim, smem_layout::xor_swizzled, 32>;
using v_tile = tile<warp_keys, v_dim, smem_layout::xor_swizzled, 32>;
constexpr int stage_bytes = k_tile::bytes + v_tile::bytes;
constexpr int o_pitch = v_dim + 8;
constexpr int o_words = row_tile * o_pitch; // of a warp
constexpr int ml_smem = warps * o_words * 4;
constexpr int part_smem = ml_smem + warps * row_tile * 8;
constexpr int part_ml_smem = part_smem + row_tile * v_dim * 4;

extern __shared__ __align__(128) unsigned char smem[];

static_assert(head_dim % 32 == 0 && head_dim <= 256 && v_dim % 32 == 0 && v_dim <= head_dim,
              "D and DV are multiples of 32, 256 at most");
static_assert(warp_keys % 16 == 0, "a tile has whole MMA tiles of 16 keys");
static_assert(stages >= 2, "a tile is loaded while another one is computed");

// ---- State ----
// Fragment layouts are those of lib/mma.cuh: with g = lane / 4 and t = lane % 4, a thread holds
// columns of rows g (half h = 0) and g + 8 (h = 1).

using q_fragments = u32[k_steps][4];
using score_fragments = float[n_tiles][4];
using o_fragments = float[d_tiles][4];

// The scale of the scores in the softmax times log2(e); `given` 0 selects 1 / sqrt(D). With a soft
// cap c the scores are those of tanh, and the scale is c.
DEVICE float softmax_scale_log2(float given) {
    return (soft_cap ? soft_cap : given > 0 ? given : default_scale) * log2_e;
}

DEVICE float cap_scale(float given) {
    return soft_cap ? (given > 0 ? given : default_scale) / soft_cap : 0;
}

struct kernel_params {
    int S, S_KV, heads, group; // group: G = H / H_KV
    float scale;               // softmax scale times log2(e)
    float cap_scale;           // what scores are multiplied by before tanh, with a soft cap
    const float *sinks;        // one per head, or null
    strides q, k, v, o;
};

// A block's rows and its key tiles.
struct work_unit {
    int batch, kv_head, first_row, split;
    int first_tile, end_tile;
};

// The query of a row, and its head.
struct query {
    int head, number;
    bool exists;
};

DEVICE query query_of(int row, const work_unit &work, const kernel_params &params) {
    const int number = (work.first_row + row) / params.group;
    const int head = work.kv_head * params.group + (work.first_row + row) % params.group;
    return {head, number, number < params.S};
}

// The end of the keys that a query sees.
DEVICE int visible_end(int number, const kernel_params &params) {
    return causal ? max(min(params.S_KV, number + params.S_KV - params.S + 1), 0) : params.S_KV;
}

// The first of the keys that a query sees.
DEVICE int visible_begin(int number, const kernel_params &params) {
    return window ? max(number + params.S_KV - params.S - window + 1, 0) : 0;
}

// The tiles are divided among the splits in equal parts, give or take one.
DEVICE work_unit decode_work_unit(const kernel_params &params) {
    const int row_tiles = ceil_div(params.S * params.group, row_tile);
    const int kv_head = blockIdx.y / row_tiles, first_row = blockIdx.y % row_tiles * row_tile;
    const int last = min((first_row + row_tile - 1) / params.group, params.S - 1);
    const int passed = visible_begin(first_row / params.group, params) / warp_keys;
    const int end_tile = ceil_div(visible_end(last, params), warp_keys);
    const int tiles = end_tile - passed, split = blockIdx.x;
    return {static_cast<int>(blockIdx.z),
            kv_head,
            first_row,
            split,
            passed + static_cast<int>(static_cast<i64>(tiles) * split / kv_splits),
            passed + static_cast<int>(static_cast<i64>(tiles) * (split + 1) / kv_splits)};
}

// ---- Loads ----

// Fragments of Q; rows that do not exist are zeros.
DEVICE void load_q(q_fragments &q_rmem, const element *q, const work_unit &work,
                   const kernel_params &params) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const query it = query_of(lane / 4 + h * 8, work, params);
        const element *row_gmem = q + params.q.to_head(work.batch, it.exists ? it.head : 0) +
                                  multiply_wide(it.exists ? it.number : 0, params.q.row) +
                                  lane % 4 * 2;
#pragma unroll
        for (int i = 0; i < k_steps * 2; ++i)
            q_rmem[i / 2][h + i % 2 * 2] =
                it.exists ? *reinterpret_cast<const u32 *>(row_gmem + i * 8) : 0;
    }
}

// Starts to copy rows [first, first + warp_keys) of a head by one warp, in panels of columns that
// its lanes divide; rows past `end` are zeros.
template <typename kv_tile>
DEVICE void load_rows(u32 tile_smem, const element *head_gmem, int stride, int first, int end) {
    constexpr int panel_chunks = power_in(kv_tile::row_chunks, 32);
    constexpr int pass_rows = 32 / panel_chunks; // by all lanes at a time
    const int lane = threadIdx.x % 32;
    const int panel_chunk = lane % panel_chunks, pass_row = lane / panel_chunks;
    const element *column_gmem = head_gmem + panel_chunk * 8;
#pragma unroll
    for (int i = 0; i < warp_keys / pass_rows; ++i) {
        const int row = pass_row + i * pass_rows, key = first + row;
        const element *row_gmem = column_gmem + multiply_wide(key < end ? key : 0, stride);
#pragma unroll
        for (int panel = 0; panel < kv_tile::row_chunks; panel += panel_chunks)
            cp_async_16(tile_smem + kv_tile::offset(row, panel + panel_chunk), row_gmem + panel * 8,
                        key < end);
    }
}

// One warp's tiles and the stages through which they pass.
struct warp_pipeline {
    const element *k_gmem, *v_gmem; // of the head
    u32 first_smem;                 // of the warp's first stage
    int load_tile, load_stage;      // of the next load
    int end_tile;

    DEVICE warp_pipeline(const element *k, const element *v, const work_unit &work,
                         const kernel_params &params)
        : k_gmem(k + params.k.to_head(work.batch, work.kv_head)),
          v_gmem(v + params.v.to_head(work.batch, work.kv_head)),
          first_smem(smem_address(smem) + threadIdx.x / 32 * stages * stage_bytes),
          load_tile(work.first_tile + threadIdx.x / 32), load_stage(0), end_tile(work.end_tile) {
    }

    DEVICE u32 stage_smem(int stage) const {
        return first_smem + stage * stage_bytes;
    }

    // Starts the next load, if there is one. A group is committed in any case, so that the number
    // of groups that are younger than the one waited for is constant.
    DEVICE void load_next(const kernel_params &params) {
        if (load_tile < end_tile) {
            const u32 tile_smem = stage_smem(load_stage);
            load_rows<k_tile>(tile_smem, k_gmem, params.k.row, load_tile * warp_keys, params.S_KV);
            load_rows<v_tile>(tile_smem + k_tile::bytes, v_gmem, params.v.row,
                              load_tile * warp_keys, params.S_KV);
        }
        cp_async_commit();
        load_tile += warps;
        load_stage = load_stage + 1 == stages ? 0 : load_stage + 1;
    }
};

// ---- Steps ----

DEVICE void qk_gemm(score_fragments &s_rmem, const q_fragments &q_rmem, u32 k_smem) {
#pragma unroll
    for (int i = 0; i < n_tiles * 4; ++i)
        s_rmem[i / 4][i % 4] = 0;
#pragma unroll
    for (int k = 0; k < k_steps; ++k)
#pragma unroll
        for (int n = 0; n < n_tiles; n += 2) {
            u32 k_rmem[4];
            load_b_transposed<k_tile>(k_rmem, k_smem, n * 8, k);
            mma_m16n8k16<element>(s_rmem[n], q_rmem[k], k_rmem[0], k_rmem[1]);
            mma_m16n8k16<element>(s_rmem[n + 1], q_rmem[k], k_rmem[2], k_rmem[3]);
        }
}

// With a soft cap c: replaces scores by tanh(scale * score / c), which the softmax scales by c.
DEVICE void cap_scores(score_fragments &s_rmem, float cap_scale) {
    if constexpr (soft_cap > 0) {
#pragma unroll
        for (int i = 0; i < n_tiles * 4; ++i)
            s_rmem[i / 4][i % 4] = tanh_fast(s_rmem[i / 4][i % 4] * cap_scale);
    }
}

// Sets the scores of keys past the end, and of keys that the causal mask or the window hides, to
// minus infinity.
DEVICE void mask(score_fragments &s_rmem, const int (&begin)[2], const int (&end)[2],
                 int first_key) {
    if (first_key + warp_keys <= min(end[0], end[1]) &&
        (!window || first_key >= max(begin[0], begin[1])))
        return;
#pragma unroll
    for (int i = 0; i < n_tiles * 4; ++i)
        if (const int key = first_key + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
            key >= end[i % 4 / 2] || (window && key < begin[i % 4 / 2]))
            s_rmem[i / 4][i % 4] = minus_infinity;
}

DEVICE void pv_gemm(o_fragments &o_rmem, const score_fragments &p_rmem, u32 v_smem) {
#pragma unroll
    for (int n = 0; n < n_tiles; n += 2) {
        const u32 p_pairs[4] = {pack_pair<element>(p_rmem[n][0], p_rmem[n][1]),
                                pack_pair<element>(p_rmem[n][2], p_rmem[n][3]),
                                pack_pair<element>(p_rmem[n + 1][0], p_rmem[n + 1][1]),
                                pack_pair<element>(p_rmem[n + 1][2], p_rmem[n + 1][3])};
#pragma unroll
        for (int d = 0; d < d_tiles; d += 2) {
            u32 v_rmem[4];
            load_b<v_tile>(v_rmem, v_smem, n * 8, d / 2);
            mma_m16n8k16<element>(o_rmem[d], p_pairs, v_rmem[0], v_rmem[1]);
            mma_m16n8k16<element>(o_rmem[d + 1], p_pairs, v_rmem[2], v_rmem[3]);
        }
    }
}

// ---- The mainloop: a warp's tiles of the split ----

DEVICE void mainloop(o_fragments &o_rmem, softmax_rows &rows, const q_fragments &q_rmem,
                     warp_pipeline &loads, const work_unit &work, const kernel_params &params) {
    const int lane = threadIdx.x % 32;
    int begin[2], end[2], stage = 0;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const int number = query_of(lane / 4 + h * 8, work, params).number;
        begin[h] = visible_begin(number, params);
        end[h] = visible_end(number, params);
    }
    for (int tile = work.first_tile + threadIdx.x / 32; tile < work.end_tile; tile += warps) {
        cp_async_wait<stages - 2>();
        __syncwarp(); // all lanes' copies of this tile have arrived, and the tile before was read
        loads.load_next(params);
        score_fragments s_rmem;
        qk_gemm(s_rmem, q_rmem, loads.stage_smem(stage));
        cap_scores(s_rmem, params.cap_scale);
        mask(s_rmem, begin, end, tile * warp_keys);
        online_softmax(s_rmem, rows, o_rmem, params.scale);
        pv_gemm(o_rmem, s_rmem, loads.stage_smem(stage) + k_tile::bytes);
        stage = stage + 1 == stages ? 0 : stage + 1;
    }
}

// The warps' results, the splits' results, O and LSE: add_up_block, add_up_splits.
// Included by kernel.cu: the epilogue. The block adds up what its warps found; and if its keys are
// one split of several, a second kernel, the last block or the cluster adds up the splits.

// Leaves a warp's results where the block adds them up.
DEVICE void store_warp(const o_fragments &o_rmem, softmax_rows &rows) {
    float *o_smem = reinterpret_cast<float *>(smem) + threadIdx.x / 32 * o_words;
    float2 *ml = reinterpret_cast<float2 *>(smem + ml_smem) + threadIdx.x / 32 * row_tile;
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        rows.row_sum[h] = lanes_sum<4>(rows.row_sum[h]);
        if (t == 0)
            ml[g + h * 8] = {rows.row_max[h], rows.row_sum[h]};
#pragma unroll
        for (int d = 0; d < d_tiles; ++d)
            *reinterpret_cast<float2 *>(o_smem + (g + h * 8) * o_pitch + d * 8 +
                                        t * 2) = {o_rmem[d][h * 2], o_rmem[d][h * 2 + 1]};
    }
}

// Adds up the warps' results of a row.
DEVICE row_part sum_warps(int row, int column, const kernel_params &params) {
    const float *o_smem = reinterpret_cast<const float *>(smem) + row * o_pitch + column;
    const float2 *ml = reinterpret_cast<const float2 *>(smem + ml_smem) + row;
    row_part sum;
#pragma unroll
    for (int w = 0; w < warps; ++w)
        sum.row_max = fmaxf(sum.row_max, ml[w * row_tile].x);
#pragma unroll
    for (int w = 0; w < warps; ++w)
        sum.add(ml[w * row_tile].y, *reinterpret_cast<const float4 *>(o_smem + w * o_words),
                correction_factor(ml[w * row_tile].x, sum.row_max, params.scale));
    return sum;
}

DEVICE i64 row_index(int batch, const query &it, const kernel_params &params) {
    return static_cast<i64>(batch * params.heads + it.head) * params.S + it.number;
}

// A row's end: with the head's sink, if there are any.
DEVICE finished_row finish_row(const row_part &sum, int head, const kernel_params &params) {
    if constexpr (has_sinks)
        return finish_with_sink(sum.row_max, sum.row_sum, params.scale, params.sinks[head]);
    return {sum.row_max, sum.row_sum, params.scale,
            sum.row_max == minus_infinity ? 0.0f : 1.0f / sum.row_sum};
}

// O divided by l, or zeros where l is zero; and LSE.
DEVICE void store_row(element *o, float *lse, const row_part &sum, int column, int batch,
                      const query &it, const kernel_params &params) {
    const finished_row end = finish_row(sum, it.head, params);
    const float inverse = end.factor;
    if (lse && column == 0)
        lse[row_index(batch, it, params)] = log_sum_exp(end.row_max, end.row_sum, end.scale);
    *reinterpret_cast<uint2 *>(o + params.o.to_head(batch, it.head) +
                               multiply_wide(it.number, params.o.row) + column) = {
        pack_pair<element>(sum.o[0] * inverse, sum.o[1] * inverse),
        pack_pair<element>(sum.o[2] * inverse, sum.o[3] * inverse)};
}

// A split's results; O only if the split has a key that the row sees.
DEVICE void store_partial(float *partial_o, float *partial_ml, const row_part &sum, int column,
                          int split, i64 row_id) {
    const i64 part = row_id * kv_splits + split;
    if (column == 0)
        reinterpret_cast<float2 *>(partial_ml)[part] = {sum.row_max, sum.row_sum};
    if (sum.row_max != minus_infinity)
        *reinterpret_cast<float4 *>(partial_o + part * v_dim + column) = {sum.o[0], sum.o[1],
                                                                          sum.o[2], sum.o[3]};
}

// Adds up the splits of a row: O = sum of c_i O_i / sum of c_i l_i, where c_i rescales split i to
// the largest m.
DEVICE row_part sum_splits(const float *partial_o, const float *partial_ml, int column, i64 row_id,
                           const kernel_params &params) {
    const float2 *ml = reinterpret_cast<const float2 *>(partial_ml) + row_id * kv_splits;
    const float *o_gmem = partial_o + row_id * kv_splits * v_dim + column;
    row_part sum;
#pragma unroll 16
    for (int split = 0; split < kv_splits; ++split)
        sum.row_max = fmaxf(sum.row_max, ml[split].x);
#pragma unroll 16
    for (int split = 0; split < kv_splits; ++split) {
        const float2 part = ml[split];
        if (part.x != minus_infinity)
            sum.add(part.y, *reinterpret_cast<const float4 *>(o_gmem + split * v_dim),
                    correction_factor(part.x, sum.row_max, params.scale));
    }
    return sum;
}

// ---- within a cluster ----

// Leaves what the block found where the others read it.
DEVICE void store_block(const row_part &sum, int row, int column) {
    *reinterpret_cast<float4 *>(smem + part_smem + (row * v_dim + column) * 4) = {
        sum.o[0], sum.o[1], sum.o[2], sum.o[3]};
    if (column == 0)
        reinterpret_cast<float2 *>(smem + part_ml_smem)[row] = {sum.row_max, sum.row_sum};
}

DEVICE row_part sum_blocks(int row, int column, const kernel_params &params) {
    const u32 ml_smem = smem_address(smem) + part_ml_smem + row * 8;
    const u32 o_smem = smem_address(smem) + part_smem + (row * v_dim + column) * 4;
    float2 ml[kv_splits];
    row_part sum;
#pragma unroll
    for (int split = 0; split < kv_splits; ++split) {
        ml[split] = load_shared_cluster_8(map_to_block(ml_smem, split));
        sum.row_max = fmaxf(sum.row_max, ml[split].x);
    }
#pragma unroll
    for (int split = 0; split < kv_splits; ++split)
        sum.add(ml[split].y, load_shared_cluster_16(map_to_block(o_smem, split)),
                correction_factor(ml[split].x, sum.row_max, params.scale));
    return sum;
}

// ---- of a block ----

// Runs `row(number, column)` for each row of the block that exists, by row_threads threads with
// four columns each; of `parts` blocks that share the work, this is one.
template <typename step>
DEVICE void for_rows(const work_unit &work, const kernel_params &params, int part, int parts,
                     const step &row) {
#pragma unroll 1
    for (int item = part * threads + threadIdx.x; item < row_tile * row_threads;
         item += parts * threads) {
        const query it = query_of(item / row_threads, work, params);
        if (it.exists)
            row(it, item / row_threads, item % row_threads * 4);
    }
}

// Adds up the warps' results: writes the rows, or what the splits' are added up from.
DEVICE void add_up_block(element *o, float *lse, float *partial_o, float *partial_ml,
                         const work_unit &work, const kernel_params &params) {
    for_rows(work, params, 0, 1, [&](const query &it, int row, int column) {
        const row_part sum = sum_warps(row, column, params);
        if constexpr (kv_splits == 1)
            store_row(o, lse, sum, column, work.batch, it, params);
        else if constexpr (combine_in_cluster)
            store_block(sum, row, column);
        else
            store_partial(partial_o, partial_ml, sum, column, work.split,
                          row_index(work.batch, it, params));
    });
}

// By the last block of the row tile.
DEVICE void add_up_splits(element *o, float *lse, const float *partial_o, const float *partial_ml,
                          const work_unit &work, const kernel_params &params) {
    for_rows(work, params, 0, 1, [&](const query &it, int, int column) {
        const i64 row_id = row_index(work.batch, it, params);
        store_row(o, lse, sum_splits(partial_o, partial_ml, column, row_id, params), column,
                  work.batch, it, params);
    });
}

// By all blocks of the cluster, each a share of the rows' columns.
DEVICE void add_up_cluster(element *o, float *lse, const work_unit &work,
                           const kernel_params &params) {
    cluster_arrive();
    cluster_wait(); // every block's results are in its shared memory
    for_rows(work, params, work.split, kv_splits, [&](const query &it, int row, int column) {
        store_row(o, lse, sum_blocks(row, column, params), column, work.batch, it, params);
    });
    cluster_arrive();
    cluster_wait(); // every block has been read, and may end
}

// ---- The schedule ----

// The splits of a row tile are neighbours in the grid, so that they can form a cluster.
#if COMBINE == COMBINE_CLUSTER && KV_SPLITS > 1
#define CLUSTER __cluster_dims__(KV_SPLITS, 1, 1)
#else
#define CLUSTER
#endif

extern "C" __global__ void __launch_bounds__(threads, min_ctas) CLUSTER
    attention_decode(const element *__restrict__ q, const element *__restrict__ k,
                     const element *__restrict__ v, const float *__restrict__ sinks,
                     element *__restrict__ o, float *__restrict__ lse,
                     float *__restrict__ partial_o, float *__restrict__ partial_ml,
                     u32 *__restrict__ counters, int S, int S_KV, int heads, int group, float scale,
                     u32 q_batch, u32 q_head, int q_row, u32 k_batch, u32 k_head, int k_row,
                     u32 v_batch, u32 v_head, int v_row, u32 o_batch, u32 o_head, int o_row) {
    const kernel_params params{S,
                               S_KV,
                               heads,
                               group,
                               softmax_scale_log2(scale),
                               cap_scale(scale),
                               sinks,
                               {q_batch, q_head, q_row},
                               {k_batch, k_head, k_row},
                               {v_batch, v_head, v_row},
                               {o_batch, o_head, o_row}};
    const work_unit work = decode_work_unit(params);
    if constexpr (combine_by_pdl)
        griddepcontrol_launch_dependents(); // the combine kernel may occupy SMs that this grid
                                            // leaves free
    warp_pipeline loads(k, v, work, params);
    q_fragments q_rmem;
    o_fragments o_rmem = {};
    softmax_rows rows;
#pragma unroll
    for (int i = 0; i < stages - 1; ++i)
        loads.load_next(params);
    load_q(q_rmem, q, work, params);
    mainloop(o_rmem, rows, q_rmem, loads, work, params);

    cp_async_wait<0>();
    __syncthreads(); // every warp has read its last tile, which is overwritten now
    store_warp(o_rmem, rows);
    __syncthreads(); // the results of all warps are there
    add_up_block(o, lse, partial_o, partial_ml, work, params);
    if constexpr (combine_in_cluster)
        add_up_cluster(o, lse, work, params);
    else if constexpr (combine_by_last_block)
        if (arrive_is_last_block(counters + blockIdx.z * gridDim.y + blockIdx.y, kv_splits))
            add_up_splits(o, lse, partial_o, partial_ml, work, params);
}

// The combine kernel of the splits (COMBINE kernel or early): a row of the block's threads for each
// query.
extern "C" __global__ void __launch_bounds__(128)
    attention_decode_combine(const float *__restrict__ partial_o,
                             const float *__restrict__ partial_ml, const float *__restrict__ sinks,
                             element *__restrict__ o, float *__restrict__ lse, int S, int heads,
                             float scale, u32 o_batch, u32 o_head, int o_row) {
    const kernel_params params{S,     0,  heads, 1,  softmax_scale_log2(scale), 0,
                               sinks, {}, {},    {}, {o_batch, o_head, o_row}};
    const int row = blockIdx.x * (128 / row_threads) + threadIdx.x / row_threads;
    const int column = threadIdx.x % row_threads * 4;
    const bool left_over = threadIdx.x >= 128 / row_threads * row_threads;
    const query it{static_cast<int>(blockIdx.y), row, row < S && !left_over};
    const int batch = blockIdx.z;
    if constexpr (combine_by_pdl)
        griddepcontrol_wait(); // all splits have been written to the workspace
    if (it.exists)
        store_row(o, lse,
                  sum_splits(partial_o, partial_ml, column, row_index(batch, it, params), params),
                  column, batch, it, params);
}
