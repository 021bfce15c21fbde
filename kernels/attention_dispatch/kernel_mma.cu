// kernel_mma.cu: attention_fwd, mma, exported by evotile. Generated: do not edit.
//
// FlashAttention forward with mma.sync and cp.async
//
// The genes and specialised dimensions of variant N are macros of variant_N.h;
// nvcc -DEVOTILE_VARIANT=N selects it, of those below.
//
// replay: evotile replay /tmp/r/attention_dispatch

#ifndef EVOTILE_VARIANT
#define EVOTILE_VARIANT 1
#endif
#if EVOTILE_VARIANT == 1
#include "variant_1.h"
#endif
#if EVOTILE_VARIANT == 5
#include "variant_5.h"
#endif
#if EVOTILE_VARIANT == 9
#include "variant_9.h"
#endif
#if EVOTILE_VARIANT == 12
#include "variant_12.h"
#endif

// Read back from the loaded module: proof that it is this genome's. nvcc takes `extern "C"` without
// braces for a declaration.
extern "C" {
__device__ unsigned long long evotile_genome = EVOTILE_GENOME;
}

// FlashAttention forward:  O = softmax(scale Q K^T) V, half or bf16 in and out.
//
//   Q, O   [B, H, S, D]          row i of one head of one batch is one query; O has DV columns
//   K, V   [B, H_KV, S_KV, D]    V has DV; row j is one key; H / H_KV heads in a row share their
//   keys LSE    [B, H, S], or null    the logarithm of the sum of exp(scale * score) of a query The
//   extents may be in any order: strides give the distance between batches, heads and rows. CAUSAL:
//   query i sees key j only if j <= i + S_KV - S (the last query sees the last key). WINDOW: only
//   if i + S_KV - S - j < WINDOW, unless it is 0. SOFT_CAP c, unless it is 0: the scaled score s
//   becomes c * tanh(s / c). SINKS: one more score per head, of a key without value. A query that
//   sees no key gives a row of zeros, and minus infinity for LSE. VARLEN: there is one batch, and
//   sequence b has its rows cu_seqlens[b] to cu_seqlens[b + 1]; S and S_KV are then its own numbers
//   of rows, and LSE is [H, total].
//
// A block computes one work unit: the BLOCK_M queries of one query tile against the keys of one KV
// split. The mainloop iterates over key tiles of BLOCK_N and keeps, for each query, the running
// maximum m, the sum l of exp(score - m), and the unnormalised O. README.md has a diagram.

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

// The same without the order of writes: it says only that the thread has come so far. (A release
// waits until the whole GPU sees the thread's earlier writes.)
DEVICE void cluster_arrive_relaxed() {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" : : : "memory");
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

// Replaces a number by its square plus 1, by one instruction that stays though its result is unused.
DEVICE void square_plus_one(u32 &number) {
    asm volatile("mad.lo.u32 %0, %0, %0, 1;" : "+r"(number));
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

// The opposite of ldmatrix_x4: stores tile[i] of all lanes as tile i. sm_90.
DEVICE void stmatrix_x4(u32 row_smem, u32 tile0, u32 tile1, u32 tile2, u32 tile3) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                 :
                 : "r"(row_smem), "r"(tile0), "r"(tile1), "r"(tile2), "r"(tile3)
                 : "memory");
}

// Transposes an 8x8 tile of halves that the warp has as above: in and out, lane l has columns
// 2(l%4) and 2(l%4)+1 of row l/4.
DEVICE u32 movmatrix_trans(u32 tile) {
    u32 transposed;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(transposed) : "r"(tile));
    return transposed;
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

// The same where rows 8 to 15 of the operand are of another matrix: 8 rows from first_row on of
// each.
template <typename element>
DEVICE void load_a_gmem(u32 (&a)[4], const element *const (&matrices_gmem)[2], int stride,
                        int first_row, int row_end, int step) {
    const int lane = threadIdx.x % 32, row = first_row + lane / 4;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const element *pair_gmem = matrices_gmem[i % 2] + lane % 4 * 2 +
                                   multiply_wide(row, stride) + (step * 16 + i / 2 * 8);
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
// Sequences in a tensor [batches, heads, rows, columns]: each fills a batch, or all are packed in
// one, one behind the other, as FlashAttention's variable lengths are: sequence b then has the rows
// from cu_seqlens[b] to cu_seqlens[b + 1].
#ifndef EVOTILE_LIB_SEQUENCES
#define EVOTILE_LIB_SEQUENCES

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

// `count` rows of batch `batch`, from `first` on.
struct sequence_rows {
    int batch, first, count;
};

// `rows` are those of a batch; cu_seqlens is only read if sequences are packed.
template <bool packed>
DEVICE sequence_rows rows_of_sequence(int sequence, const int *cu_seqlens, int rows) {
    if constexpr (!packed)
        return {sequence, 0, rows};
    const int first = cu_seqlens[sequence];
    return {0, first, cu_seqlens[sequence + 1] - first};
}

// Offset of a sequence's first row in a head, in elements.
template <bool packed>
DEVICE u64 to_sequence(const strides &tensor, int batch, int head, int first) {
    return tensor.to_head(batch, head) + (packed ? multiply_wide(first, tensor.row) : 0);
}

#endif
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
// exact, is harmless. It never becomes 0, as that of a denormal scale would: scores of minus infinity
// must stay so.
DEVICE float exact_scale(float row_max, float scale) {
    const float power_below = __int_as_float(max(__float_as_int(scale) & 0x7f800000, 1));
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
// Dynamic tile scheduler for persistent kernels: the blocks of a launch share a counter in global
// memory, which is zero when the launch begins. A block starts with the work unit of its own block
// index and fetches further ones from the counter.
#ifndef EVOTILE_LIB_TILE_SCHEDULER
#define EVOTILE_LIB_TILE_SCHEDULER


struct tile_scheduler {
    u32 *counter_gmem;
    u32 *slots_smem; // two words in shared memory
    u32 work_index;  // of the block's current work unit
    u32 round, next_index;

    DEVICE tile_scheduler(u32 *counter_gmem, u32 *slots_smem)
        : counter_gmem(counter_gmem), slots_smem(slots_smem), work_index(blockIdx.x), round(0),
          next_index(0) {
    }

    // Fetches the next index from the counter; the atomic's latency overlaps the current work unit.
    DEVICE void prefetch_next_work() {
        if (threadIdx.x == 0)
            next_index = gridDim.x + atomicAdd(counter_gmem, 1u);
    }

    // Makes the fetched index current for all threads; false if it is not below `work_units`. Also
    // a block barrier: when it returns, every thread has finished the previous work unit.
    DEVICE bool fetch_next_work(u32 work_units) {
        u32 *slot_smem = slots_smem + round++ % 2;
        if (threadIdx.x == 0)
            *slot_smem = next_index;
        __syncthreads();         // the slot is written; the other one has been read
        work_index = *slot_smem; // rewritten two calls later, after the next call's barrier
        return work_index < work_units;
    }
};

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

// ---- Genes ----

#if !defined(BLOCK_M) || !defined(BLOCK_N) || !defined(WARPS) || !defined(WARPS_KV) ||             \
    !defined(MATH) || !defined(COPY) || !defined(LOAD) || !defined(K_STAGES) ||                    \
    !defined(V_STAGES) || !defined(KV_SPLITS) || !defined(COMBINE) || !defined(SWIZZLE) ||         \
    !defined(ACC_QK) || !defined(ACC_PV) || !defined(Q_IN_REGISTERS) || !defined(OVERLAP) ||       \
    !defined(LAZY_RESCALE) || !defined(FAST_MATH) || !defined(UNROLL) || !defined(MIN_CTAS) ||     \
    !defined(MAX_REGISTERS) ||                                                                     \
    !defined(PERSISTENT) || !defined(ORDER) || !defined(D) || !defined(DV) || !defined(CAUSAL) ||  \
    !defined(BF16) || !defined(WINDOW) || !defined(SOFT_CAP) || !defined(SINKS) ||                 \
    !defined(VARLEN)
#error "a gene or a specialised dimension is not defined: see template.json"
#endif

constexpr int head_dim = D;
constexpr int v_dim = DV; // columns of V and O
constexpr bool causal = CAUSAL;
constexpr int window = WINDOW;     // keys that a query sees up to its own position; 0: all
constexpr int soft_cap = SOFT_CAP; // c of c * tanh(score / c); 0: none
constexpr bool has_sinks = SINKS;
constexpr bool varlen = VARLEN;                 // sequences of different lengths, packed
using element = conditional_t<BF16, bf16, f16>; // element type of Q, K, V and O
constexpr int block_m = BLOCK_M;                // queries per tile
constexpr int block_n = BLOCK_N;                // keys per tile
constexpr int warps = WARPS;                    // warps per block
constexpr int warps_kv = WARPS_KV;              // warp groups that split the keys of a tile
constexpr bool simt = MATH == MATH_SIMT;        // FMA instead of tensor cores
constexpr bool copy_plain = COPY == COPY_PLAIN; // synchronous loads through registers, one stage
constexpr bool copy_joint = COPY == COPY_JOINT; // cp.async, one wait for both K and V of a tile
constexpr bool copy_apart = COPY == COPY_APART; // cp.async, separate waits for K and V
constexpr int k_stages = copy_plain ? 1 : K_STAGES;        // pipeline stages of K
constexpr int v_stages = copy_apart ? V_STAGES : k_stages; // pipeline stages of V
constexpr load_mode kv_load_mode = copy_plain            ? load_mode::through_registers
                                   : LOAD == LOAD_WIDE   ? load_mode::async_16
                                   : LOAD == LOAD_NARROW ? load_mode::async_8
                                                         : load_mode::async_16_l1;
constexpr int kv_splits = KV_SPLITS; // split-KV: blocks that share the keys of a query tile
constexpr bool combine_by_pdl = COMBINE == COMBINE_EARLY; // combine kernel launched early (PDL)
constexpr bool combine_by_last_block = COMBINE == COMBINE_LAST; // the last block to finish combines
constexpr bool combine_in_cluster = COMBINE == COMBINE_CLUSTER; // through DSMEM
constexpr smem_layout row_layout = SWIZZLE == SWIZZLE_XOR   ? smem_layout::xor_swizzled
                                   : SWIZZLE == SWIZZLE_PAD ? smem_layout::padded
                                                            : smem_layout::plain;
constexpr bool qk_in_half = ACC_QK == ACC_QK_F16;        // scores accumulate in half
constexpr bool pv_in_half = ACC_PV == ACC_PV_F16;        // O accumulates in half
constexpr bool q_in_registers = Q_IN_REGISTERS && !simt; // not reloaded for every tile
constexpr bool overlap =
    OVERLAP && !simt && !copy_plain;        // QK^T of tile i+1 is issued before PV of tile i
constexpr bool lazy_rescale = LAZY_RESCALE; // rescale O only when the maximum of some row grew
constexpr bool fast_math = FAST_MATH;       // 1 / l by rcp.approx (1 ulp)
// Included by kernel.cu: what makes a kernel slow and leaves it right, for `evotile ablate --pathologies`. Without their
// macros nothing here makes an instruction.

#ifndef EXTRA_BARRIERS
#define EXTRA_BARRIERS 0 // barriers of the block in every iteration of the mainloop
#endif
#ifndef DIVERGENT_PATHS
#define DIVERGENT_PATHS 0 // paths that the lanes of a warp take one after the other, in every iteration
#endif
#ifndef UNCOALESCED_LOADS
#define UNCOALESCED_LOADS 0 // loads of K in every iteration whose lanes read different rows
#endif
#ifndef OVER_UNROLL
#define OVER_UNROLL 0 // unroll factor of the mainloop in place of UNROLL
#endif

// Called at the start of every iteration. A volatile access stays though its result is unused.
DEVICE void inject_pathologies([[maybe_unused]] const element *k_gmem, [[maybe_unused]] int k_row,
                               [[maybe_unused]] int first_key, [[maybe_unused]] int keys) {
#pragma unroll 1
    for (int i = 0; i < EXTRA_BARRIERS; ++i)
        __syncthreads();
#if DIVERGENT_PATHS > 0
    constexpr int path_steps = 32; // dependent instructions of a path
#pragma unroll 1
    for (int path = 0; path < DIVERGENT_PATHS; ++path)
        if (threadIdx.x % DIVERGENT_PATHS == path) {
            u32 number = path;
#pragma unroll 1
            for (int i = 0; i < path_steps; ++i)
                square_plus_one(number);
        }
    __syncwarp(); // what follows needs whole warps
#endif
#if UNCOALESCED_LOADS > 0
#pragma unroll 1
    for (int i = 0; i < UNCOALESCED_LOADS; ++i) {
        const int key = first_key + static_cast<int>(threadIdx.x) + i;
        const long long row = key < keys ? key : keys - 1;
        *reinterpret_cast<const volatile unsigned short *>(k_gmem + row * k_row);
    }
#endif
}
constexpr int unroll = OVER_UNROLL ? OVER_UNROLL : UNROLL; // unroll factor of the mainloop
constexpr int min_ctas = MIN_CTAS;          // minimum resident blocks per SM (launch bounds)
constexpr bool persistent = PERSISTENT > 0; // blocks fetch work units from the tile scheduler
constexpr bool tiles_first = ORDER == ORDER_TILES; // consecutive blocks share a head's keys
// Schedule query tiles from the last to the first: under a causal mask the longest come first.
constexpr bool longest_first = (ORDER == ORDER_REVERSED) != causal;

// ---- Derived sizes ----

constexpr int threads = warps * 32;
constexpr int warps_m = warps / warps_kv;     // warps along the queries
constexpr int warp_rows = block_m / warps_m;  // queries per warp
constexpr int warp_keys = block_n / warps_kv; // keys of a tile per warp: the warp's slice
constexpr int m_tiles = warp_rows / 16;       // MMA tiles of a warp: 16 queries each,
constexpr int n_tiles = warp_keys / 8;        // 8 keys each,
constexpr int d_tiles = v_dim / 8;            // 8 columns of O each,
constexpr int k_steps = head_dim / 16;        // 16 columns of Q and K each

constexpr float default_scale = head_dim == 32    ? 0.17677669529663689f // 1 / sqrt(D)
                                : head_dim == 64  ? 0.125f
                                : head_dim == 96  ? 0.10206207261596577f
                                : head_dim == 128 ? 0.08838834764831845f
                                : head_dim == 192 ? 0.07216878364870323f
                                                  : 0.0625f;

// ---- Shared memory, in bytes ----
//
//   0               K, `k_stages` tiles of block_n rows
//   v_smem          V, `v_stages` tiles
//   q_smem          Q, one tile of block_m rows, unless q_in_registers
//                   (merge_warp_groups overlays all of these with m, l and O of up to half of the
//                   warp groups)
//   partials_smem   partial results (m, l, columns of O) from each other block of a cluster
//   scheduler_smem  two words of the tile scheduler, when persistent

using k_tile = tile<block_n, head_dim, row_layout, threads>;
using v_tile = tile<block_n, v_dim, row_layout, threads>;
using q_tile = tile<block_m, head_dim, row_layout, threads>;

constexpr int v_smem = k_stages * k_tile::bytes;
constexpr int q_smem = v_smem + v_stages * v_tile::bytes;
constexpr int tiles_bytes = q_smem + (q_in_registers ? 0 : q_tile::bytes);
constexpr int merge_words = m_tiles * (4 * d_tiles + 4); // per thread
constexpr int merge_bytes = warps_kv / 2 * warps_m * 32 * merge_words * 4;
constexpr int partials_smem = max_of(tiles_bytes, merge_bytes);
constexpr int owned_tiles =
    combine_in_cluster ? d_tiles / kv_splits : 1; // 8-column tiles of O that a block reduces
constexpr int partial_words = m_tiles * (4 + 4 * owned_tiles); // per thread
constexpr int partials_bytes =
    combine_in_cluster ? (kv_splits - 1) * partial_words * warps_m * 32 * 4 : 0;
constexpr int scheduler_smem = partials_smem + partials_bytes;

extern __shared__ __align__(128) unsigned char smem[];

static_assert(head_dim % 32 == 0 && head_dim <= 256 && v_dim % 32 == 0 && v_dim <= head_dim,
              "D and DV are multiples of 32, 256 at most");
static_assert(warps % warps_kv == 0, "all warp groups have equally many warps");
static_assert((warps_kv & (warps_kv - 1)) == 0,
              "the merge halves the number of groups until one is left");
static_assert(block_m % (16 * warps_m) == 0,
              "a warp works on whole tensor-core tiles of 16 queries");
static_assert(block_n % (16 * warps_kv) == 0, "a warp works on slices of 16 keys");
static_assert(!copy_joint || k_stages >= 2, "a joint load needs a second stage");
static_assert(!simt || (!qk_in_half && !pv_in_half),
              "without tensor cores accumulators are floats");
static_assert(!combine_in_cluster || (kv_splits > 1 && kv_splits <= 8 && d_tiles % kv_splits == 0),
              "a block of a cluster reduces whole tiles of 8 columns");
static_assert(!combine_in_cluster || !persistent, "a cluster processes one work unit");
static_assert(!BF16 || (!qk_in_half && !pv_in_half), "bf16 is not accumulated in half");
static_assert(threads <= 1024, "a block has at most 1024 threads");

// ---- Per-thread state ----
// Fragment layouts are those of lib/mma.cuh: with g = lane / 4 and t = lane % 4, a thread holds
// columns of rows g (half h = 0) and g + 8 (h = 1) of each tile of 16 queries.

using q_fragments = u32[m_tiles][k_steps][4];
using score_fragments = float[m_tiles][n_tiles][4];
using p_fragments = u32[m_tiles][n_tiles / 2][4]; // P as the A operand of PV
using o_fragments = conditional_t<pv_in_half, u32[m_tiles][d_tiles][2], float[m_tiles][d_tiles][4]>;
using o_float_fragments = float[m_tiles][d_tiles][4];

struct row_state {
    float row_max[m_tiles][2]; // m, before scaling
    float row_sum[m_tiles][2]; // l; covers only this thread's keys until finalize_row_sums

    DEVICE row_state() {
#pragma unroll
        for (int i = 0; i < m_tiles * 2; ++i) {
            row_max[i / 2][i % 2] = minus_infinity;
            row_sum[i / 2][i % 2] = 0;
        }
    }
};

// The thread's coordinates within the block.
struct thread_coords {
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    int group = threadIdx.x / 32 / warps_m; // warp group: selects the slice of the keys
    // First query and first key of the warp within the query tile and the key tile.
    int first_row = threadIdx.x / 32 % warps_m * warp_rows, first_key = group * warp_keys;
};

// The scale of the scores in the softmax times log2(e), so that exponentials can use exp2. 0
// selects 1 / sqrt(D). With a soft cap c the scores are those of tanh, and the scale is c.
DEVICE float softmax_scale_log2(float given) {
    return (soft_cap ? soft_cap : given > 0 ? given : default_scale) * log2_e;
}

DEVICE float cap_scale(float given) {
    return soft_cap ? (given > 0 ? given : default_scale) / soft_cap : 0;
}

// Work units: kernel_params, work_unit and decode_work_unit, has_visible_keys.
// Included by kernel.cu: the parameters of a call, and what a block computes of it.

// Kernel parameters. The `inverse` fields are reciprocals for divide().
struct kernel_params {
    int S, S_KV, heads; // with VARLEN the most of a sequence
    int rows;           // queries in a batch of the tensors: S, with VARLEN those of all sequences
    const int *cu_seqlens_q, *cu_seqlens_k; // null without VARLEN
    int heads_per_kv_head_inverse;          // of H / H_KV
    float scale;                            // softmax scale times log2(e)
    float cap_scale;    // what scores are multiplied by before tanh, with a soft cap
    const float *sinks; // one per head, or null
    strides q, k, v, o;
    // The virtual grid in which work units are numbered, if persistent.
    int work_units_x, work_units_y, x_inverse, y_inverse;
};

struct work_unit {
    int sequence, head, first_row, split;
    int batch, S, S_KV;         // the sequence's batch of the tensors, queries and keys
    int first_query, first_key; // its first rows in the batch: 0 without VARLEN
    int first_tile, end_tile;   // key tiles of the split; empty if equal
};

// Decodes the block's work unit from blockIdx, or from the scheduler's index if persistent. The key
// tiles visible to a query tile are divided into kv_splits equal parts. Under a causal mask the
// last query tiles, which have most keys, are scheduled first, unless ORDER is reversed. There are
// as many units for each sequence as the longest has; those behind the end of another have no
// tiles.
DEVICE work_unit decode_work_unit(const tile_scheduler &work_units, const kernel_params &params) {
    int x = blockIdx.x, y = blockIdx.y, z = blockIdx.z;
    if constexpr (persistent) {
        const int row_id = divide(work_units.work_index, params.x_inverse);
        x = work_units.work_index - row_id * params.work_units_x;
        z = divide(row_id, params.y_inverse);
        y = row_id - z * params.work_units_y;
    }
    const int head = tiles_first ? y : x, sequence = tiles_first ? z : y,
              part = tiles_first ? x : z;
    const int m_tile = part / kv_splits, split = part % kv_splits;
    const int first_row =
        (longest_first ? ceil_div(params.S, block_m) - 1 - m_tile : m_tile) * block_m;
    const sequence_rows queries = rows_of_sequence<varlen>(sequence, params.cu_seqlens_q, params.S),
                        keys = rows_of_sequence<varlen>(sequence, params.cu_seqlens_k, params.S_KV);
    work_unit work{
        sequence,      head,       first_row, split, queries.batch, queries.count, keys.count,
        queries.first, keys.first, 0,         0};
    if (varlen && first_row >= work.S)
        return work; // the sequence ends before this tile
    const int last_row = min(first_row + block_m, work.S) - 1;
    const int visible_keys =
        causal ? max(min(work.S_KV, last_row + work.S_KV - work.S + 1), 0) : work.S_KV;
    const int passed_keys = window ? max(first_row + work.S_KV - work.S - window + 1, 0) : 0;
    const int passed_tiles = passed_keys / block_n; // hidden by the window
    const int end_tile = ceil_div(visible_keys, block_n);
    const int share = ceil_div(end_tile - passed_tiles, kv_splits);
    work.first_tile = min(passed_tiles + split * share, end_tile);
    work.end_tile = min(work.first_tile + share, end_tile);
    return work;
}

// True if some query of the warp sees a key of the warp's slice of a tile: those of the tiles
// between the window's first and the causal mask's last.
DEVICE bool has_visible_keys(int tile, const work_unit &work, const thread_coords &thread) {
    const int position = work.first_row + thread.first_row + work.S_KV - work.S;
    if (window && tile * block_n + thread.first_key + warp_keys <= position - window + 1)
        return false;
    return !causal || tile * block_n + thread.first_key <
                          work.first_row + thread.first_row + warp_rows + work.S_KV - work.S;
}

// ---- Steps ----

// Loads to shared memory: load_k, load_v, load_q, and the pipeline prologue load_prologue.
// Included by kernel.cu: loads of tiles to shared memory.

// Address of the stage that holds K (V) of a key tile: tiles rotate through the pipeline stages.
DEVICE u32 k_tile_smem(int tile, const work_unit &work) {
    return smem_address(smem) + static_cast<u32>(tile - work.first_tile) % k_stages * k_tile::bytes;
}

DEVICE u32 v_tile_smem(int tile, const work_unit &work) {
    return smem_address(smem) + v_smem +
           static_cast<u32>(tile - work.first_tile) % v_stages * v_tile::bytes;
}

// Loads a tile of K into its stage, or starts to. Past the last tile of the work unit there is
// nothing to load.
DEVICE void load_k(const element *k_gmem, const work_unit &work, int tile,
                   const kernel_params &params) {
    if (tile < work.end_tile)
        k_tile::load<kv_load_mode>(k_tile_smem(tile, work), k_gmem, params.k.row, tile * block_n,
                                   work.S_KV);
}

DEVICE void load_v(const element *v_gmem, const work_unit &work, int tile,
                   const kernel_params &params) {
    if (tile < work.end_tile)
        v_tile::load<kv_load_mode>(v_tile_smem(tile, work), v_gmem, params.v.row, tile * block_n,
                                   work.S_KV);
}

// Loads the queries to registers or to shared memory. A work unit without keys must not issue a
// load, since nothing would wait for it.
DEVICE void load_q(q_fragments &q_rmem, const element *q_gmem, const work_unit &work,
                   const kernel_params &params, const thread_coords &thread) {
    if (work.first_tile == work.end_tile)
        return;
    if constexpr (!q_in_registers) {
        constexpr load_mode mode = copy_plain ? load_mode::through_registers : load_mode::async_16;
        q_tile::load<mode>(smem_address(smem) + q_smem, q_gmem, params.q.row, work.first_row,
                           work.S);
    } else {
#pragma unroll
        for (int i = 0; i < m_tiles * k_steps; ++i)
            load_a_gmem(q_rmem[i / k_steps][i % k_steps], q_gmem, params.q.row,
                        work.first_row + thread.first_row + i / k_steps * 16, work.S, i % k_steps);
    }
}

// Pipeline prologue: issues the loads that precede the first mainloop iteration.
//
// cp.async groups are committed in the order in which they are waited for: one per tile (joint), or
// one for V and one for the K that follows it (apart). Groups may be empty, so that the number of
// groups younger than the one waited for is constant. The prologue issues what iterations before
// the first would have issued: with Q, K of the first k_stages tiles (joint: one less, unless
// overlap needs K one tile ahead) and V of the first v_stages - 1. With apart and overlap, K of one
// more tile follows when the first has been read.
DEVICE void load_prologue(const element *k_gmem, const element *v_gmem, const work_unit &work,
                          const kernel_params &params) {
    constexpr int k_ahead = (copy_apart ? k_stages : k_stages - 1) + overlap;
    constexpr int v_ahead = v_stages - 1;
    constexpr int iterations = copy_plain ? 0 : max_of(k_ahead, v_ahead);
#pragma unroll
    for (int iteration = -iterations; iteration < 0; ++iteration) {
        if (iteration + v_ahead >= 0)
            load_v(v_gmem, work, work.first_tile + iteration + v_ahead, params);
        if (copy_apart &&
            (iteration > -iterations || iteration + v_ahead >= 0)) // the first group would be empty
            cp_async_commit();
        if (copy_apart && overlap && iteration == -1)
            return;
        if (iteration + k_ahead >= 0)
            load_k(k_gmem, work, work.first_tile + iteration + k_ahead, params);
        cp_async_commit();
    }
}

// Steps of one mainloop iteration: qk_gemm, mask, online_softmax, pv_gemm.
// Included by kernel.cu: the two matrix products of a tile, QK^T and PV, on tensor cores or with
// FMA. Both variants give a thread the same fragments of scores and of O.

// ---- on tensor cores ----

// S = Q K^T of the warp's queries and its slice of a key tile.
DEVICE void qk_mma(score_fragments &s_rmem, q_fragments &q_rmem, u32 tile_smem,
                   const thread_coords &thread) {
    conditional_t<qk_in_half, u32[m_tiles][n_tiles][2], float[m_tiles][n_tiles][4]> acc_rmem = {};
#pragma unroll
    for (int k = 0; k < k_steps; ++k) {
#pragma unroll
        for (int m = 0; m < m_tiles && !q_in_registers; ++m)
            load_a<q_tile>(q_rmem[m][k], smem_address(smem) + q_smem, thread.first_row + m * 16, k);
#pragma unroll
        for (int n = 0; n < n_tiles; n += 2) {
            u32 k_rmem[4];
            load_b_transposed<k_tile>(k_rmem, tile_smem, thread.first_key + n * 8, k);
#pragma unroll
            for (int m = 0; m < m_tiles; ++m) {
                mma_m16n8k16<element>(acc_rmem[m][n], q_rmem[m][k], k_rmem[0], k_rmem[1]);
                mma_m16n8k16<element>(acc_rmem[m][n + 1], q_rmem[m][k], k_rmem[2], k_rmem[3]);
            }
        }
    }
    to_floats(s_rmem, acc_rmem);
}

// Converts probabilities to 16 bits for PV. The accumulator layout of S is the A operand layout of
// PV, so P stays in registers.
DEVICE void pack_probabilities(p_fragments &p_rmem, const score_fragments &probabilities_rmem) {
#pragma unroll
    for (int i = 0; i < m_tiles * n_tiles * 2; ++i) {
        const int m = i / (n_tiles * 2), n = i % (n_tiles * 2) / 4;
        const float(&from)[4] = probabilities_rmem[m][n * 2 + i % 4 / 2];
        p_rmem[m][n][i % 4] = pack_pair<element>(from[i % 2 * 2], from[i % 2 * 2 + 1]);
    }
}

// O += P V of the warp's slice of a key tile.
DEVICE void pv_mma(o_fragments &o_rmem, const p_fragments &p_rmem, u32 tile_smem,
                   const thread_coords &thread) {
#pragma unroll
    for (int n = 0; n < n_tiles / 2; ++n) {
#pragma unroll
        for (int d = 0; d < d_tiles; d += 2) {
            u32 v_rmem[4];
            load_b<v_tile>(v_rmem, tile_smem, thread.first_key + n * 16, d / 2);
#pragma unroll
            for (int m = 0; m < m_tiles; ++m) {
                mma_m16n8k16<element>(o_rmem[m][d], p_rmem[m][n], v_rmem[0], v_rmem[1]);
                mma_m16n8k16<element>(o_rmem[m][d + 1], p_rmem[m][n], v_rmem[2], v_rmem[3]);
            }
        }
    }
}

// ---- with FMA ----

// Loads eight consecutive elements as floats.
DEVICE void load_8_elements(float (&to)[8], u32 place_smem) {
    const uint4 four = load_smem_16(place_smem);
    const u32 pairs[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        to[i * 2] = unpack_low<element>(pairs[i]);
        to[i * 2 + 1] = unpack_high<element>(pairs[i]);
    }
}

DEVICE void qk_simt(score_fragments &s_rmem, u32 tile_smem, const thread_coords &thread) {
#pragma unroll
    for (int i = 0; i < m_tiles * n_tiles * 4; ++i)
        s_rmem[i / 4 / n_tiles][i / 4 % n_tiles][i % 4] = 0;
#pragma unroll 1
    for (int chunk = 0; chunk < k_steps * 2; ++chunk) {
        float q_rmem[m_tiles * 2][8];
#pragma unroll
        for (int i = 0; i < m_tiles * 2; ++i)
            load_8_elements(q_rmem[i],
                            smem_address(smem) + q_smem +
                                q_tile::offset(thread.first_row + i * 8 + thread.g, chunk));
#pragma unroll
        for (int n = 0; n < n_tiles * 2; ++n) {
            float k_rmem[8];
            load_8_elements(k_rmem, tile_smem + k_tile::offset(thread.first_key + n / 2 * 8 +
                                                                   thread.t * 2 + n % 2,
                                                               chunk));
#pragma unroll
            for (int i = 0; i < m_tiles * 2 * 8; ++i)
                s_rmem[i / 16][n / 2][i / 8 % 2 * 2 + n % 2] +=
                    q_rmem[i / 8][i % 8] * k_rmem[i % 8];
        }
    }
}

// A probability is broadcast from the lane, of the four of its row, that holds it. (A template, so
// that it is not compiled for half accumulators.)
template <typename sums>
DEVICE void pv_simt(sums &o_rmem, const score_fragments &p_rmem, u32 tile_smem,
                    const thread_coords &thread) {
#pragma unroll 1
    for (int key = 0; key < 8; ++key) {
#pragma unroll
        for (int n = 0; n < n_tiles; ++n) {
            const int row = thread.first_key + n * 8 + key;
            float probability[m_tiles * 2];
#pragma unroll
            for (int i = 0; i < m_tiles * 2; ++i) {
                const float(&from)[4] = p_rmem[i / 2][n];
                probability[i] = __shfl_sync(
                    full_warp_mask, key % 2 ? from[i % 2 * 2 + 1] : from[i % 2 * 2], key / 2, 4);
            }
#pragma unroll
            for (int d = 0; d < d_tiles; ++d) {
                const u32 pair = load_smem_4(tile_smem + v_tile::offset(row, d) + thread.t * 4);
#pragma unroll
                for (int i = 0; i < m_tiles * 2; ++i) {
                    o_rmem[i / 2][d][i % 2 * 2] += probability[i] * unpack_low<element>(pair);
                    o_rmem[i / 2][d][i % 2 * 2 + 1] += probability[i] * unpack_high<element>(pair);
                }
            }
        }
    }
}

// ---- dispatch by MATH ----

DEVICE void qk_gemm(score_fragments &s_rmem, q_fragments &q_rmem, u32 tile_smem,
                    const thread_coords &thread) {
    if constexpr (simt)
        qk_simt(s_rmem, tile_smem, thread);
    else
        qk_mma(s_rmem, q_rmem, tile_smem, thread);
}

DEVICE void pv_gemm(o_fragments &o_rmem, const score_fragments &probabilities_rmem, u32 tile_smem,
                    const thread_coords &thread) {
    if constexpr (simt) {
        pv_simt(o_rmem, probabilities_rmem, tile_smem, thread);
    } else {
        p_fragments p_rmem;
        pack_probabilities(p_rmem, probabilities_rmem);
        pv_mma(o_rmem, p_rmem, tile_smem, thread);
    }
}
// Included by kernel.cu: masking and online softmax, between the two matrix products.

// With a soft cap c: replaces scores by tanh(scale * score / c), which the softmax scales by c.
DEVICE void cap_scores(score_fragments &s_rmem, float cap_scale) {
    if constexpr (soft_cap > 0) {
#pragma unroll
        for (int i = 0; i < m_tiles * n_tiles * 4; ++i) {
            float &score = s_rmem[i / 4 / n_tiles][i / 4 % n_tiles][i % 4];
            score = tanh_fast(score * cap_scale);
        }
    }
}

// Sets the scores of keys past the end, and of keys that the causal mask or the window hides, to
// minus infinity. Most tiles need no mask.
DEVICE void mask(score_fragments &s_rmem, int tile, const work_unit &work,
                 const thread_coords &thread) {
    const int first_row = work.first_row + thread.first_row,
              first_key = tile * block_n + thread.first_key;
    const int unmasked_end = // end of the keys visible to all queries of the warp
        causal ? min(work.S_KV, first_row + work.S_KV - work.S + 1) : work.S_KV;
    const int unmasked_begin =
        window ? first_row + warp_rows + work.S_KV - work.S - window : first_key;
    if (first_key + warp_keys <= unmasked_end && first_key >= unmasked_begin)
        return;
#pragma unroll
    for (int m = 0; m < m_tiles; ++m)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int row = first_row + m * 16 + thread.g + i / 2 * 8;
            const int end = causal ? min(work.S_KV, row + work.S_KV - work.S + 1) : work.S_KV;
            const int visible = end - (first_key + thread.t * 2 + i % 2);
            const int passed = // keys before the window
                window ? row + work.S_KV - work.S - window + 1 - (first_key + thread.t * 2 + i % 2)
                       : 0;
#pragma unroll
            for (int n = 0; n < n_tiles; ++n)
                if (n * 8 >= visible || (window && n * 8 < passed))
                    s_rmem[m][n][i] = minus_infinity;
        }
}

// Online softmax: replaces scores with probabilities exp(score - m) for the updated m of each row,
// rescales l and O of the previous tiles to the new m, and adds the probabilities to l.
DEVICE void online_softmax(score_fragments &s_rmem, row_state &rows, o_fragments &o_rmem,
                           float scale_given) {
#pragma unroll
    for (int m = 0; m < m_tiles; ++m) {
        float correction[2];
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            float new_max = rows.row_max[m][h], tile_sum = 0;
#pragma unroll
            for (int n = 0; n < n_tiles; ++n)
                new_max = fmaxf(new_max, fmaxf(s_rmem[m][n][h * 2], s_rmem[m][n][h * 2 + 1]));
            new_max = lanes_max<4>(new_max);
            const float scale = exact_scale(new_max, scale_given);
            const float shift = new_max == minus_infinity ? 0.0f : new_max * scale;
#pragma unroll
            for (int i = 0; i < n_tiles * 2; ++i) {
                float &probability = s_rmem[m][i / 2][h * 2 + i % 2];
                probability = exp2_fast(probability * scale - shift);
                tile_sum += probability;
            }
            correction[h] = correction_factor(rows.row_max[m][h], new_max, scale_given);
            rows.row_sum[m][h] = rows.row_sum[m][h] * correction[h] + tile_sum;
            rows.row_max[m][h] = new_max;
        }
        if (lazy_rescale &&
            __all_sync(full_warp_mask, correction[0] == 1.0f && correction[1] == 1.0f))
            continue;
#pragma unroll
        for (int d = 0; d < d_tiles; ++d)
            scale_rows(o_rmem[m][d], correction);
    }
}

// Epilogue of a work unit: finalize_row_sums, merge_warp_groups, store_o.
// Included by kernel.cu: the epilogue of a work unit, after the mainloop. The combination of
// several blocks' results is in split_kv.cuh.

// Converts O to floats and reduces l of each row over the keys of the warp.
DEVICE void finalize_row_sums(o_float_fragments &acc_rmem, row_state &rows,
                              const o_fragments &o_rmem) {
#pragma unroll
    for (int i = 0; i < m_tiles * 2; ++i)
        rows.row_sum[i / 2][i % 2] = lanes_sum<4>(rows.row_sum[i / 2][i % 2]);
    to_floats(acc_rmem, o_rmem);
}

// Reduces m, l and O over the warp groups that split the keys; the result is in group 0. In each
// round the upper half of the groups writes to shared memory, and the threads of the lower half
// with the same fragments read it.
DEVICE void merge_warp_groups(o_float_fragments &o_rmem, row_state &rows, float scale,
                              const thread_coords &thread) {
    constexpr int stride =
        warps_m * 32; // distance, in words, between consecutive words of a thread
    float *thread_smem = reinterpret_cast<float *>(smem) + threadIdx.x % stride;
    __syncthreads(); // every warp has read the last tile, which is overwritten now
#pragma unroll
    for (int half = warps_kv / 2; half > 0; half /= 2) {
        float *word_smem = thread_smem + thread.group % half * merge_words * stride;
        if (thread.group >= half && thread.group < 2 * half) {
#pragma unroll
            for (int m = 0; m < m_tiles; ++m) {
#pragma unroll
                for (int h = 0; h < 2; ++h, word_smem += 2 * stride) {
                    word_smem[0] = rows.row_max[m][h];
                    word_smem[stride] = rows.row_sum[m][h];
                }
#pragma unroll
                for (int i = 0; i < 4 * d_tiles; ++i, word_smem += stride)
                    *word_smem = o_rmem[m][i / 4][i % 4];
            }
        }
        __syncthreads(); // the upper half has written its results
        if (thread.group < half) {
#pragma unroll
            for (int m = 0; m < m_tiles; ++m) {
                float own_factor[2], other_factor[2];
#pragma unroll
                for (int h = 0; h < 2; ++h, word_smem += 2 * stride) {
                    const float new_max = fmaxf(rows.row_max[m][h], word_smem[0]);
                    own_factor[h] = correction_factor(rows.row_max[m][h], new_max, scale);
                    other_factor[h] = correction_factor(word_smem[0], new_max, scale);
                    rows.row_max[m][h] = new_max;
                    rows.row_sum[m][h] =
                        rows.row_sum[m][h] * own_factor[h] + word_smem[stride] * other_factor[h];
                }
#pragma unroll
                for (int i = 0; i < 4 * d_tiles; ++i, word_smem += stride) {
                    float &value = o_rmem[m][i / 4][i % 4];
                    value = value * own_factor[i % 4 / 2] + *word_smem * other_factor[i % 4 / 2];
                }
            }
        }
        if (half > 1)
            __syncthreads(); // the results have been read and may be overwritten
    }
}

// 1 / l, or 0 for a query without visible keys.
DEVICE float inverse_row_sum(float row_sum) {
    return row_sum > 0 ? fast_math ? reciprocal_fast(row_sum) : 1.0f / row_sum : 0.0f;
}

// A row's end: with the head's sink, if there are any.
DEVICE finished_row finish_row(float row_max, float row_sum, int head,
                               const kernel_params &params) {
    if constexpr (has_sinks)
        return finish_with_sink(row_max, row_sum, params.scale, params.sinks[head]);
    return {row_max, row_sum, params.scale, inverse_row_sum(row_sum)};
}

// Brings the head's sink into m, l and O of the warp's rows. The scale of m is then 1: a sink divided
// by a small scale would overflow.
DEVICE void join_sinks(o_float_fragments &o_rmem, row_state &rows, int head,
                       const kernel_params &params) {
#pragma unroll
    for (int m = 0; m < m_tiles; ++m) {
        float factor[2];
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const finished_row end =
                finish_row(rows.row_max[m][h], rows.row_sum[m][h], head, params);
            factor[h] = end.factor * end.row_sum;
            rows.row_max[m][h] = end.row_max;
            rows.row_sum[m][h] = end.row_sum;
        }
#pragma unroll
        for (int d = 0; d < d_tiles; ++d)
            scale_rows(o_rmem[m][d], factor);
    }
}

// Offset of a query's row in O, and its index in the tensors that have one element or pair per
// query: LSE and the workspaces. `row` counts from the begin of a batch of O.
DEVICE i64 o_row_offset(int batch, int head, int row, const kernel_params &params) {
    return params.o.to_head(batch, head) + multiply_wide(row, params.o.row);
}

DEVICE i64 row_index(int batch, int head, int row, const kernel_params &params) {
    return static_cast<i64>(batch * params.heads + head) * params.rows + row;
}

// Writes the warp's rows within the tensor: O divided by l, or zeros where l is zero; and LSE.
DEVICE void store_o(element *o, float *lse, const o_float_fragments &o_rmem, const row_state &rows,
                    const work_unit &work, const kernel_params &params,
                    const thread_coords &thread) {
#pragma unroll
    for (int i = 0; i < m_tiles * 2; ++i) {
        const int m = i / 2, h = i % 2,
                  row = work.first_row + thread.first_row + m * 16 + h * 8 + thread.g;
        if (row >= work.S)
            continue;
        const float row_sum = rows.row_sum[m][h], inverse = inverse_row_sum(row_sum);
        element *row_gmem =
            o + o_row_offset(work.batch, work.head, work.first_query + row, params) + thread.t * 2;
        if (lse && thread.t == 0)
            lse[row_index(work.batch, work.head, work.first_query + row, params)] =
                log_sum_exp(rows.row_max[m][h], row_sum, params.scale);
#pragma unroll
        for (int d = 0; d < d_tiles; ++d)
            *reinterpret_cast<u32 *>(row_gmem + d * 8) = pack_pair<element>(
                o_rmem[m][d][h * 2] * inverse, o_rmem[m][d][h * 2 + 1] * inverse);
    }
}

// Split-KV: store_partial and combine_tile, or send_partials and reduce_and_store.
// Included by kernel.cu: combination of the KV splits, through a workspace or within a cluster.

// ---- through a workspace: combined by a second kernel or by the last block ----

// Writes a split's partial results for the warp's rows within the tensor: the pair (m, l), and the
// unnormalised O unless the split has no visible key of that row.
DEVICE void store_partial(float *partial_o, float *partial_ml, const o_float_fragments &o_rmem,
                          const row_state &rows, const work_unit &work, const kernel_params &params,
                          const thread_coords &thread) {
#pragma unroll
    for (int i = 0; i < m_tiles * 2; ++i) {
        const int m = i / 2, h = i % 2,
                  row = work.first_row + thread.first_row + m * 16 + h * 8 + thread.g;
        const i64 row_id =
            row_index(work.batch, work.head, work.first_query + row, params) * kv_splits +
            work.split;
        if (row >= work.S)
            continue;
        if (thread.t == 0)
            reinterpret_cast<float2 *>(partial_ml)[row_id] = {rows.row_max[m][h],
                                                              rows.row_sum[m][h]};
        if (rows.row_max[m][h] == minus_infinity)
            continue;
#pragma unroll
        for (int d = 0; d < d_tiles; ++d)
            *reinterpret_cast<float2 *>(partial_o + row_id * v_dim + d * 8 + thread.t * 2) = {
                o_rmem[m][d][h * 2], o_rmem[m][d][h * 2 + 1]};
    }
}

// Combines the splits of a row: O = sum of c_i O_i / sum of c_i l_i, where c_i = exp(m_i - m)
// rescales split i to the largest m of all splits. A row has row_threads threads of four columns
// each.
constexpr int row_threads = v_dim / 4;

DEVICE void combine_row(const float *partial_o, const float *partial_ml, element *o, float *lse,
                        int batch, int head, int row, const kernel_params &params) {
    const i64 row_id = row_index(batch, head, row, params);
    const int column = threadIdx.x % row_threads * 4;
    const float2 *ml_gmem = reinterpret_cast<const float2 *>(partial_ml) + row_id * kv_splits;
    float row_max = minus_infinity, row_sum = 0, scale = params.scale, total[4] = {};
#pragma unroll 16
    for (int split = 0; split < kv_splits; ++split)
        row_max = fmaxf(row_max, ml_gmem[split].x);
#pragma unroll 8
    for (int split = 0; split < kv_splits; ++split) {
        const float2 ml = ml_gmem[split];
        if (ml.x == minus_infinity)
            continue; // this split has no visible key of the row and wrote no O
        const float factor = correction_factor(ml.x, row_max, params.scale);
        const float4 partial = *reinterpret_cast<const float4 *>(
            partial_o + (row_id * kv_splits + split) * v_dim + column);
        row_sum += ml.y * factor;
        total[0] += partial.x * factor;
        total[1] += partial.y * factor;
        total[2] += partial.z * factor;
        total[3] += partial.w * factor;
    }
    if constexpr (has_sinks) {
        const finished_row end = finish_row(row_max, row_sum, head, params);
        for (float &sum : total)
            sum *= end.factor * end.row_sum;
        row_max = end.row_max;
        scale = end.scale;
        row_sum = end.row_sum;
    }
    const float inverse = inverse_row_sum(row_sum);
    if (lse && column == 0)
        lse[row_id] = log_sum_exp(row_max, row_sum, scale);
    *reinterpret_cast<uint2 *>(o + o_row_offset(batch, head, row, params) + column) = {
        pack_pair<element>(total[0] * inverse, total[1] * inverse),
        pack_pair<element>(total[2] * inverse, total[3] * inverse)};
}

// The counter of the blocks that share a query tile; counter 0 belongs to the tile scheduler.
DEVICE u32 *split_counter(u32 *counters, const work_unit &work, const kernel_params &params) {
    return counters + 1 + (work.sequence * params.heads + work.head) * ceil_div(params.S, block_m) +
           work.first_row / block_m;
}

// Combines the splits of a query tile, by all threads of one block.
DEVICE void combine_tile(const float *partial_o, const float *partial_ml, element *o, float *lse,
                         const work_unit &work, const kernel_params &params) {
    constexpr int pass_rows = threads / row_threads; // some threads may be left over
    const int end = min(work.first_row + block_m, work.S);
    if (threads % row_threads != 0 && threadIdx.x >= pass_rows * row_threads)
        return;
#pragma unroll 1
    for (int row = work.first_row + threadIdx.x / row_threads; row < end; row += pass_rows)
        combine_row(partial_o, partial_ml, o, lse, work.batch, work.head, work.first_query + row,
                    params);
}

// ---- within a cluster ----

// Offset in shared memory of block `to` where this thread, of warp group 0, finds the partial
// results from block `from`; a block sends none to itself.
DEVICE int partial_offset(int from, int to) {
    const int sender = from > to ? from - 1 : from;
    return partials_smem +
           (sender * partial_words * warps_m * 32 + static_cast<int>(threadIdx.x)) * 4;
}

DEVICE void send_partials(const o_float_fragments &o_rmem, const row_state &rows, int rank) {
    constexpr int stride = warps_m * 32 * 4; // bytes between consecutive words of a thread
#pragma unroll
    for (int to = 0; to < kv_splits; ++to) {
        u32 word_smem = map_to_block(smem_address(smem) + partial_offset(rank, to), to);
        if (to == rank)
            continue;
#pragma unroll
        for (int m = 0; m < m_tiles; ++m) {
#pragma unroll
            for (int h = 0; h < 2; ++h, word_smem += 2 * stride) {
                store_shared_cluster(word_smem, rows.row_max[m][h]);
                store_shared_cluster(word_smem + stride, rows.row_sum[m][h]);
            }
#pragma unroll
            for (int i = 0; i < 4 * owned_tiles; ++i, word_smem += stride)
                store_shared_cluster(word_smem, o_rmem[m][to * owned_tiles + i / 4][i % 4]);
        }
    }
}

// For one tile of 16 queries of the warp: rescales this block's and the received partial results to
// the common maximum, adds them up and writes the rows.
DEVICE void reduce_rows_and_store(element *o, float *lse, float (&o_rmem)[owned_tiles][4],
                                  float (&row_max)[2], float (&row_sum)[2], int m,
                                  const work_unit &work, const kernel_params &params,
                                  const thread_coords &thread) {
    constexpr int stride = warps_m * 32;
#pragma unroll
    for (int from = 0; from < kv_splits; ++from) {
        const float *word_smem =
            reinterpret_cast<const float *>(smem + partial_offset(from, work.split)) +
            m * (4 + 4 * owned_tiles) * stride;
        float own_factor[2], other_factor[2];
        if (from == work.split)
            continue;
#pragma unroll
        for (int h = 0; h < 2; ++h, word_smem += 2 * stride) {
            const float new_max = fmaxf(row_max[h], word_smem[0]);
            own_factor[h] = correction_factor(row_max[h], new_max, params.scale);
            other_factor[h] = correction_factor(word_smem[0], new_max, params.scale);
            row_max[h] = new_max;
            row_sum[h] = row_sum[h] * own_factor[h] + word_smem[stride] * other_factor[h];
        }
#pragma unroll
        for (int i = 0; i < 4 * owned_tiles; ++i, word_smem += stride) {
            float &total = o_rmem[i / 4][i % 4];
            total = total * own_factor[i % 4 / 2] + *word_smem * other_factor[i % 4 / 2];
        }
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const int row = work.first_row + thread.first_row + m * 16 + h * 8 + thread.g;
        if (row >= work.S)
            continue;
        const finished_row end = finish_row(row_max[h], row_sum[h], work.head, params);
        const float inverse = end.factor;
        element *row_gmem = o +
                            o_row_offset(work.batch, work.head, work.first_query + row, params) +
                            work.split * owned_tiles * 8 + thread.t * 2;
        if (lse && work.split == 0 && thread.t == 0)
            lse[row_index(work.batch, work.head, work.first_query + row, params)] =
                log_sum_exp(end.row_max, end.row_sum, end.scale);
#pragma unroll
        for (int d = 0; d < owned_tiles; ++d)
            *reinterpret_cast<u32 *>(row_gmem + d * 8) =
                pack_pair<element>(o_rmem[d][h * 2] * inverse, o_rmem[d][h * 2 + 1] * inverse);
    }
}

DEVICE void reduce_and_store(element *o, float *lse, const o_float_fragments &o_rmem,
                             row_state &rows, const work_unit &work, const kernel_params &params,
                             const thread_coords &thread) {
#pragma unroll
    for (int m = 0; m < m_tiles; ++m) {
        float own_rmem[owned_tiles][4] = {};
#pragma unroll
        for (int part = 0; part < kv_splits;
             ++part) // register indices must be compile-time constants
#pragma unroll
            for (int i = 0; i < 4 * owned_tiles; ++i)
                if (part == work.split)
                    own_rmem[i / 4][i % 4] = o_rmem[m][part * owned_tiles + i / 4][i % 4];
        reduce_rows_and_store(o, lse, own_rmem, rows.row_max[m], rows.row_sum[m], m, work, params,
                              thread);
    }
}

// ---- The mainloop over the key tiles of a work unit ----

// Mainloop without overlap: S, softmax and O of one tile after another.
DEVICE void mainloop(o_fragments &o_rmem, row_state &rows, q_fragments &q_rmem,
                     const element *k_gmem, const element *v_gmem, const work_unit &work,
                     const kernel_params &params, const thread_coords &thread) {
    score_fragments s_rmem;
#pragma unroll unroll
    for (int tile = work.first_tile; tile < work.end_tile; ++tile) {
        inject_pathologies(k_gmem, params.k.row, tile * block_n, work.S_KV);
        const bool visible = has_visible_keys(tile, work, thread);
        if constexpr (copy_plain) {
            __syncthreads(); // the previous tile has been read and may be overwritten
            load_k(k_gmem, work, tile, params);
            load_v(v_gmem, work, tile, params);
        } else {
            cp_async_wait<copy_apart ? 2 * k_stages - 2 : k_stages - 2>();
        }
        __syncthreads(); // Q, K and (joint) V of this tile have arrived; the previous tile has been
                         // read
        if constexpr (copy_joint)
            load_k(k_gmem, work, tile + k_stages - 1, params);
        if constexpr (!copy_plain) {
            load_v(v_gmem, work, tile + v_stages - 1, params);
            cp_async_commit();
        }
        if (visible)
            qk_gemm(s_rmem, q_rmem, k_tile_smem(tile, work), thread);
        if constexpr (copy_apart) {
            cp_async_wait<2 * v_stages - 2>();
            __syncthreads(); // V of this tile has arrived; its K has been read and may be
                             // overwritten
            load_k(k_gmem, work, tile + k_stages, params);
            cp_async_commit();
        }
        if (visible) {
            cap_scores(s_rmem, params.cap_scale);
            mask(s_rmem, tile, work, thread);
            online_softmax(s_rmem, rows, o_rmem, params.scale);
            pv_gemm(o_rmem, s_rmem, v_tile_smem(tile, work), thread);
        }
    }
}

// Mainloop with overlap (FlashAttention-3, section 3.2): QK^T of tile i+1 is issued before PV of
// tile i, which then runs beside the softmax. K is needed one tile ahead of V, so a joint cp.async
// group holds V of a tile and K of the next one.
DEVICE void mainloop_overlapped(o_fragments &o_rmem, row_state &rows, q_fragments &q_rmem,
                                const element *k_gmem, const element *v_gmem, const work_unit &work,
                                const kernel_params &params, const thread_coords &thread) {
    score_fragments s_rmem;
    p_fragments p_rmem;
    if (work.first_tile == work.end_tile)
        return;
    bool visible = has_visible_keys(work.first_tile, work, thread);
    cp_async_wait<copy_apart ? 2 * k_stages - 1 : k_stages - 1>();
    __syncthreads(); // Q and K of the first tile have arrived
    if (visible)
        qk_gemm(s_rmem, q_rmem, k_tile_smem(work.first_tile, work), thread);
    if constexpr (copy_apart) {
        __syncthreads(); // that K has been read and may be overwritten
        load_k(k_gmem, work, work.first_tile + k_stages, params);
        cp_async_commit();
    }
    if (visible) {
        cap_scores(s_rmem, params.cap_scale);
        mask(s_rmem, work.first_tile, work, thread);
        online_softmax(s_rmem, rows, o_rmem, params.scale);
        pack_probabilities(p_rmem, s_rmem);
    }
#pragma unroll unroll
    for (int tile = work.first_tile; tile < work.end_tile; ++tile) {
        inject_pathologies(k_gmem, params.k.row, tile * block_n, work.S_KV);
        const bool next_visible =
            tile + 1 < work.end_tile && has_visible_keys(tile + 1, work, thread);
        cp_async_wait<copy_apart ? 2 * k_stages - 2 : k_stages - 2>();
        __syncthreads(); // the next K and (joint) V have arrived; K and the previous V have been
                         // read
        if constexpr (copy_joint)
            load_k(k_gmem, work, tile + k_stages, params);
        load_v(v_gmem, work, tile + v_stages - 1, params);
        cp_async_commit();
        if (next_visible)
            qk_gemm(s_rmem, q_rmem, k_tile_smem(tile + 1, work), thread);
        if constexpr (copy_apart) {
            cp_async_wait<2 * v_stages - 2>();
            __syncthreads(); // V has arrived; the next K has been read and may be overwritten
            load_k(k_gmem, work, tile + 1 + k_stages, params);
            cp_async_commit();
        }
        if (next_visible) {
            cap_scores(s_rmem, params.cap_scale);
            mask(s_rmem, tile + 1, work, thread);
            if (!window || visible) // without a window no hidden tile precedes a visible one
                pv_mma(o_rmem, p_rmem, v_tile_smem(tile, work), thread);
            online_softmax(s_rmem, rows, o_rmem, params.scale);
            pack_probabilities(p_rmem, s_rmem);
        } else if (visible) {
            pv_mma(o_rmem, p_rmem, v_tile_smem(tile, work), thread);
        }
        visible = next_visible;
    }
}

// ---- The schedule ----

// The splits of a query tile are neighbours in the grid, so that they can form a cluster.
#if COMBINE != COMBINE_CLUSTER
#define CLUSTER
#elif ORDER == ORDER_TILES
#define CLUSTER __cluster_dims__(KV_SPLITS, 1, 1)
#else
#define CLUSTER __cluster_dims__(1, 1, KV_SPLITS)
#endif

// A kernel cannot have a register cap and launch bounds.
#if MAX_REGISTERS > 0
#define BOUNDS __maxnreg__(MAX_REGISTERS)
#else
#define BOUNDS __launch_bounds__(threads, min_ctas)
#endif

extern "C" __global__ void BOUNDS CLUSTER
    attention_fwd(const element *__restrict__ q, const element *__restrict__ k,
                  const element *__restrict__ v, const float *__restrict__ sinks,
                  element *__restrict__ o, float *__restrict__ lse,
                  const int *__restrict__ cu_seqlens_q, const int *__restrict__ cu_seqlens_k,
                  float *__restrict__ partial_o, float *__restrict__ partial_ml,
                  u32 *__restrict__ counters, int total_rows, int S, int S_KV, int heads,
                  int heads_per_kv_head_inverse, float scale, u32 q_batch, u32 q_head, int q_row,
                  u32 k_batch, u32 k_head, int k_row, u32 v_batch, u32 v_head, int v_row,
                  u32 o_batch, u32 o_head, int o_row, int work_units, int work_units_x,
                  int work_units_y, int x_inverse, int y_inverse) {
    const kernel_params params{S,
                               S_KV,
                               heads,
                               total_rows,
                               cu_seqlens_q,
                               cu_seqlens_k,
                               heads_per_kv_head_inverse,
                               softmax_scale_log2(scale),
                               cap_scale(scale),
                               sinks,
                               {q_batch, q_head, q_row},
                               {k_batch, k_head, k_row},
                               {v_batch, v_head, v_row},
                               {o_batch, o_head, o_row},
                               work_units_x,
                               work_units_y,
                               x_inverse,
                               y_inverse};
    const thread_coords thread{};
    if constexpr (combine_by_pdl)
        griddepcontrol_launch_dependents(); // the combine kernel may occupy SMs that this grid
                                            // leaves free
    tile_scheduler scheduler(counters, reinterpret_cast<u32 *>(smem + scheduler_smem));
    if constexpr (combine_in_cluster)
        cluster_arrive(); // this block runs: other blocks may write to its shared memory
    do {
        if constexpr (persistent)
            scheduler.prefetch_next_work();
        const work_unit work = decode_work_unit(scheduler, params);
        const int kv_head = divide(work.head, heads_per_kv_head_inverse);
        if constexpr (varlen && !combine_in_cluster)
            if (work.first_row >= work.S)
                continue;
        const element *k_gmem =
            k + to_sequence<varlen>(params.k, work.batch, kv_head, work.first_key);
        const element *v_gmem =
            v + to_sequence<varlen>(params.v, work.batch, kv_head, work.first_key);
        q_fragments q_rmem;
        o_fragments o_rmem = {};
        row_state rows;

        load_q(q_rmem, q + to_sequence<varlen>(params.q, work.batch, work.head, work.first_query),
               work, params, thread);
        load_prologue(k_gmem, v_gmem, work, params);
        if constexpr (overlap)
            mainloop_overlapped(o_rmem, rows, q_rmem, k_gmem, v_gmem, work, params, thread);
        else
            mainloop(o_rmem, rows, q_rmem, k_gmem, v_gmem, work, params, thread);
        o_float_fragments acc_rmem;
        finalize_row_sums(acc_rmem, rows, o_rmem);
        if constexpr (warps_kv > 1)
            merge_warp_groups(acc_rmem, rows, params.scale, thread);
        if constexpr (combine_in_cluster) {
            cluster_wait(); // all blocks of the cluster run
            if (thread.group == 0)
                send_partials(acc_rmem, rows, work.split);
            cluster_arrive();
            cluster_wait(); // the partial results of all blocks have arrived
            if (thread.group == 0)
                reduce_and_store(o, lse, acc_rmem, rows, work, params, thread);
        } else if (thread.group == 0) {
            kernel_params own = params;
            if constexpr (has_sinks && kv_splits == 1) {
                join_sinks(acc_rmem, rows, work.head, params);
                own.scale = 1;
            }
            if constexpr (kv_splits > 1)
                store_partial(partial_o, partial_ml, acc_rmem, rows, work, params, thread);
            else
                store_o(o, lse, acc_rmem, rows, work, own, thread);
        }
        if constexpr (combine_by_last_block)
            if (arrive_is_last_block(split_counter(counters, work, params), kv_splits))
                combine_tile(partial_o, partial_ml, o, lse, work, params);
    } while (persistent && scheduler.fetch_next_work(work_units));
}

// The combine kernel of split-KV (COMBINE kernel or early).
extern "C" __global__ void __launch_bounds__(256)
    attention_combine(const float *__restrict__ partial_o, const float *__restrict__ partial_ml,
                      const float *__restrict__ sinks, element *__restrict__ o,
                      float *__restrict__ lse, const int *__restrict__ cu_seqlens_q, int total_rows,
                      int S, int heads, float scale, u32 o_batch, u32 o_head, int o_row) {
    const kernel_params params{S,
                               0,
                               heads,
                               total_rows,
                               cu_seqlens_q,
                               nullptr,
                               0,
                               softmax_scale_log2(scale),
                               0,
                               sinks,
                               {},
                               {},
                               {},
                               {o_batch, o_head, o_row}};
    constexpr int block_rows = 256 / row_threads; // some threads may be left over
    const int row = blockIdx.x * block_rows + threadIdx.x / row_threads;
    const sequence_rows queries = rows_of_sequence<varlen>(blockIdx.z, cu_seqlens_q, S);
    if constexpr (combine_by_pdl)
        griddepcontrol_wait(); // all splits have been written to the workspace
    if (row < queries.count && (256 % row_threads == 0 || threadIdx.x < block_rows * row_threads))
        combine_row(partial_o, partial_ml, o, lse, queries.batch, blockIdx.y, queries.first + row,
                    params);
}
