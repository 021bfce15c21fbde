// kernel_hopper.cu: attention_fwd, hopper, exported by evotile. Generated: do not edit.
//
// FlashAttention forward on Hopper: wgmma and TMA
//
// The genes and specialised dimensions of variant N are macros of variant_N.h;
// nvcc -DEVOTILE_VARIANT=N selects it, of those below.
//
// replay: evotile replay /tmp/r/attention_dispatch

#ifndef EVOTILE_VARIANT
#define EVOTILE_VARIANT 2
#endif
#if EVOTILE_VARIANT == 2
#include "variant_2.h"
#endif
#if EVOTILE_VARIANT == 3
#include "variant_3.h"
#endif
#if EVOTILE_VARIANT == 4
#include "variant_4.h"
#endif
#if EVOTILE_VARIANT == 6
#include "variant_6.h"
#endif
#if EVOTILE_VARIANT == 7
#include "variant_7.h"
#endif
#if EVOTILE_VARIANT == 8
#include "variant_8.h"
#endif
#if EVOTILE_VARIANT == 10
#include "variant_10.h"
#endif
#if EVOTILE_VARIANT == 11
#include "variant_11.h"
#endif
#if EVOTILE_VARIANT == 13
#include "variant_13.h"
#endif
#if EVOTILE_VARIANT == 14
#include "variant_14.h"
#endif
#if EVOTILE_VARIANT == 15
#include "variant_15.h"
#endif
#if EVOTILE_VARIANT == 16
#include "variant_16.h"
#endif
#if EVOTILE_VARIANT == 17
#include "variant_17.h"
#endif
#if EVOTILE_VARIANT == 18
#include "variant_18.h"
#endif

// Read back from the loaded module: proof that it is this genome's. nvcc takes `extern "C"` without
// braces for a declaration.
extern "C" {
__device__ unsigned long long evotile_genome = EVOTILE_GENOME;
}

// FlashAttention forward on Hopper:  O = softmax(scale Q K^T) V, half or bf16 in and out.
//
//   Q, O   [B, H, S, D]          row i of one head of one batch is one query
//   K, V   [B, H_KV, S_KV, D]    row j is one key; H / H_KV heads in a row share their keys
//   LSE    [B, H, S], or null    the logarithm of the sum of exp(scale * score) of a query
//   The extents may be in any order: strides give the distance between batches, heads and rows of
//   Q and O; K and V are described by their tensor maps.
//   CAUSAL: query i sees key j only if j <= i + S_KV - S (the last query sees the last key).
//   A query that sees no key gives a row of zeros, and minus infinity for LSE.
//   VARLEN: there is one batch, and sequence b has its rows cu_seqlens[b] to cu_seqlens[b + 1]; S
//   and S_KV are then its own numbers of rows, and LSE is [H, total].
//
// A block computes one work unit: the BLOCK_M rows of one query tile against the keys of one KV
// split. The rows are BLOCK_M / PACK_HEADS neighbouring queries of each head of a pack, PACK_HEADS
// neighbouring heads that share their keys. TMA loads key tiles of BLOCK_N into two circular
// buffers (pipelines), one for K and one for V. Each warpgroup has 64 rows and keeps, for each of
// them, the running maximum m, the sum l of exp(score - m), and the unnormalised O. The blocks that
// split the keys of a query tile form a cluster and combine their results through distributed
// shared memory. README.md has a diagram.

// Operations on 16-bit tensor elements, selected by the element type, f16 or bf16.
#ifndef EVOTILE_LIB_ELEMENT
#define EVOTILE_LIB_ELEMENT

// Conversions between bfloat16 and float; half.cuh has the same for halves.
#ifndef EVOTILE_LIB_BFLOAT
#define EVOTILE_LIB_BFLOAT

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
// Hopper primitives (sm_90a): mbarrier, TMA, named barriers, wgmma, clusters, and here setmaxnreg and elect.sync.
// A warpgroup is four consecutive warps, the first of them a multiple of four.
#ifndef EVOTILE_LIB_HOPPER
#define EVOTILE_LIB_HOPPER

// Thread block clusters: blocks that run concurrently and can access each other's shared memory.
// sm_90 and later; a kernel sets its cluster size by __cluster_dims__.
#ifndef EVOTILE_LIB_CLUSTER
#define EVOTILE_LIB_CLUSTER


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
// mbarrier: barriers in shared memory, 8 bytes each, aligned to 8. A barrier is in a phase, whose
// parity is 0 at first, then 1, 0 ...; the phase completes when the expected number of arrivals and
// all announced bytes have come, and the next one starts with the same count. A waiter names the
// parity of the phase whose completion it waits for. sm_90.
//
//     if (threadIdx.x == 0) { mbarrier_init(full_smem, 1); fence_mbarrier_init(); }
//     __syncthreads();                            // the barrier is there for all
//     one thread:  mbarrier_arrive_expect_bytes(full_smem, bytes); copies that name full_smem
//     all others:  mbarrier_wait(full_smem, 0);   // what was copied may be read
#ifndef EVOTILE_LIB_MBARRIER
#define EVOTILE_LIB_MBARRIER


// One thread initialises the barrier for `arrivals` per phase. Other threads may use it after
// fence_mbarrier_init and a block barrier.
DEVICE void mbarrier_init(u32 barrier_smem, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                 :
                 : "r"(barrier_smem), "r"(arrivals)
                 : "memory");
}

// Makes this thread's mbarrier_inits visible to TMA and to the cluster's other blocks.
DEVICE void fence_mbarrier_init() {
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
}

// One arrival at the current phase, with release semantics: the thread's earlier writes are visible
// to the waiters.
DEVICE void mbarrier_arrive(u32 barrier_smem) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(barrier_smem) : "memory");
}

// The same at a barrier of another block of the cluster (address from map_to_block).
DEVICE void mbarrier_arrive_cluster(u32 barrier_smem) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];"
                 :
                 : "r"(barrier_smem)
                 : "memory");
}

// The same without the order between the blocks: for a thread that says only that it has read what
// the other block may now overwrite by a copy. (A release to the cluster waits for the whole GPU.)
DEVICE void mbarrier_arrive_block(u32 barrier_smem) {
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" : : "r"(barrier_smem) : "memory");
}

// Announces `bytes` for the current phase, without an arrival (expect_tx).
DEVICE void mbarrier_expect_bytes(u32 barrier_smem, u32 bytes) {
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;"
                 :
                 : "r"(barrier_smem), "r"(bytes)
                 : "memory");
}

// Announces `bytes` and arrives. Bytes of a box outside its tensor count too, since they are
// written as zeros.
DEVICE void mbarrier_arrive_expect_bytes(u32 barrier_smem, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(barrier_smem), "r"(bytes)
                 : "memory");
}

// Returns whether the phase of this parity has completed; does not wait.
DEVICE bool mbarrier_test_wait(u32 barrier_smem, u32 parity) {
    u32 ended;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; "
                 "selp.u32 %0, 1, 0, p; }"
                 : "=r"(ended)
                 : "r"(barrier_smem), "r"(parity)
                 : "memory");
    return ended;
}

// The same, but the thread may be suspended for a while first.
DEVICE bool mbarrier_try_wait(u32 barrier_smem, u32 parity) {
    u32 ended;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
                 "selp.u32 %0, 1, 0, p; }"
                 : "=r"(ended)
                 : "r"(barrier_smem), "r"(parity)
                 : "memory");
    return ended;
}

// Waits for the phase of this parity to complete. On a fresh barrier the phase of parity 1 counts
// as complete, so a wait for parity 1 returns immediately.
DEVICE void mbarrier_wait(u32 barrier_smem, u32 parity) {
    while (!mbarrier_try_wait(barrier_smem, parity)) {
    }
}

// Makes this thread's ordinary stores to shared memory visible to TMA copies (tma.cuh) and wgmma
// (wgmma.cuh) that are issued later, by it or after a barrier.
DEVICE void fence_proxy_async() {
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}

#endif
// Barriers of a part of a block: 1 to 15 (0 is __syncthreads), for `threads` threads that arrive or
// wait, a multiple of 32.
#ifndef EVOTILE_LIB_NAMED_BARRIER
#define EVOTILE_LIB_NAMED_BARRIER


DEVICE void named_barrier_sync(int number, int threads) {
    asm volatile("bar.sync %0, %1;" : : "r"(number), "r"(threads) : "memory");
}

DEVICE void named_barrier_arrive(int number, int threads) {
    asm volatile("bar.arrive %0, %1;" : : "r"(number), "r"(threads) : "memory");
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
// TMA: copies between global and shared memory that one thread issues and the copy engine performs:
// boxes of a tensor, described by a tensor map that the host encoded, and contiguous bytes. sm_90.
//
// A load does not announce its bytes: they count down those announced by
// mbarrier_arrive_expect_bytes at the barrier that the load names (mbarrier.cuh). A box always has
// its full size: elements outside the tensor are written as zeros by a load, and not written by a
// store. Coordinates are in elements, fastest dimension first, and may be negative for loads, not
// for stores; a box begins at a multiple of 16 bytes in its row. Shared memory addresses are
// aligned to 128 bytes, or to the period of the swizzle (below) if wgmma.cuh reads them.
//
// Swizzle: in shared memory the box is packed, its innermost row first; 16-byte chunks are then
// permuted by XOR of address bits 4.. with bits 7..:
//     128B  bits 4-6 ^= bits 7-9; an innermost row has 128 bytes, the pattern repeats after 1024
//     64B   bits 4-5 ^= bits 7-8; 64, 512
//     32B   bit  4   ^= bit  7;   32, 256
#ifndef EVOTILE_LIB_TMA
#define EVOTILE_LIB_TMA


// The host's encoding of a tensor: address, sizes, strides, box and swizzle. A kernel takes it as
// `const __grid_constant__ tensor_map map`.
struct alignas(64) tensor_map {
    unsigned char bytes[128];
};

// Prefetches the map itself before the first copy that needs it.
DEVICE void prefetch_tensor_map(const tensor_map &map) {
    asm volatile("prefetch.tensormap [%0];" : : "l"(&map) : "memory");
}

// ---- a box, global to shared ----

DEVICE void tma_load(u32 target_smem, const tensor_map &map, u32 barrier_smem, int x0, int x1) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4}], [%2];"
                 :
                 : "r"(target_smem), "l"(&map), "r"(barrier_smem), "r"(x0), "r"(x1)
                 : "memory");
}

DEVICE void tma_load(u32 target_smem, const tensor_map &map, u32 barrier_smem, int x0, int x1,
                     int x2) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4, %5}], [%2];"
                 :
                 : "r"(target_smem), "l"(&map), "r"(barrier_smem), "r"(x0), "r"(x1), "r"(x2)
                 : "memory");
}

DEVICE void tma_load(u32 target_smem, const tensor_map &map, u32 barrier_smem, int x0, int x1,
                     int x2, int x3) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4, %5, %6}], [%2];"
                 :
                 : "r"(target_smem), "l"(&map), "r"(barrier_smem), "r"(x0), "r"(x1), "r"(x2),
                   "r"(x3)
                 : "memory");
}

// The same to the blocks of the cluster whose ranks `blocks` has as bits: to the same place of each
// one's shared memory, and announced at the same place.
DEVICE void tma_load_multicast(u16 blocks, u32 target_smem, const tensor_map &map, u32 barrier_smem,
                               int x0, int x1, int x2) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%4, %5, %6}], [%2], %3;"
                 :
                 : "r"(target_smem), "l"(&map), "r"(barrier_smem), "h"(blocks), "r"(x0), "r"(x1),
                   "r"(x2)
                 : "memory");
}

DEVICE void tma_load_multicast(u16 blocks, u32 target_smem, const tensor_map &map, u32 barrier_smem,
                               int x0, int x1, int x2, int x3) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%4, %5, %6, %7}], [%2], %3;"
                 :
                 : "r"(target_smem), "l"(&map), "r"(barrier_smem), "h"(blocks), "r"(x0), "r"(x1),
                   "r"(x2), "r"(x3)
                 : "memory");
}

// L2 eviction policies for tma_load_hinted.
DEVICE u64 l2_evict_last() {
    u64 policy;
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

DEVICE u64 l2_evict_first() {
    u64 policy;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

DEVICE void tma_load_hinted(u64 l2_policy, u32 target_smem, const tensor_map &map, u32 barrier_smem,
                            int x0, int x1) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".L2::cache_hint [%0], [%1, {%4, %5}], [%2], %3;"
                 :
                 : "r"(target_smem), "l"(&map), "r"(barrier_smem), "l"(l2_policy), "r"(x0), "r"(x1)
                 : "memory");
}

DEVICE void tma_load_hinted(u64 l2_policy, u32 target_smem, const tensor_map &map, u32 barrier_smem,
                            int x0, int x1, int x2) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".L2::cache_hint [%0], [%1, {%4, %5, %6}], [%2], %3;"
                 :
                 : "r"(target_smem), "l"(&map), "r"(barrier_smem), "l"(l2_policy), "r"(x0), "r"(x1),
                   "r"(x2)
                 : "memory");
}

DEVICE void tma_load_hinted(u64 l2_policy, u32 target_smem, const tensor_map &map, u32 barrier_smem,
                            int x0, int x1, int x2, int x3) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".L2::cache_hint [%0], [%1, {%4, %5, %6, %7}], [%2], %3;"
                 :
                 : "r"(target_smem), "l"(&map), "r"(barrier_smem), "l"(l2_policy), "r"(x0), "r"(x1),
                   "r"(x2), "r"(x3)
                 : "memory");
}

// ---- a box, shared to global. Earlier ordinary stores to the shared memory need
// fence_proxy_async, and a barrier if other threads made them ----

DEVICE void tma_store(const tensor_map &map, u32 source_smem, int x0, int x1) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];"
                 :
                 : "l"(&map), "r"(source_smem), "r"(x0), "r"(x1)
                 : "memory");
}

DEVICE void tma_store(const tensor_map &map, u32 source_smem, int x0, int x1, int x2) {
    asm volatile(
        "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];"
        :
        : "l"(&map), "r"(source_smem), "r"(x0), "r"(x1), "r"(x2)
        : "memory");
}

DEVICE void tma_store(const tensor_map &map, u32 source_smem, int x0, int x1, int x2, int x3) {
    asm volatile(
        "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5}], [%1];"
        :
        : "l"(&map), "r"(source_smem), "r"(x0), "r"(x1), "r"(x2), "r"(x3)
        : "memory");
}

// ---- contiguous bytes: both addresses and the size are multiples of 16 ----

DEVICE void bulk_load(u32 target_smem, const void *source_gmem, u32 bytes, u32 barrier_smem) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];"
                 :
                 : "r"(target_smem), "l"(source_gmem), "r"(bytes), "r"(barrier_smem)
                 : "memory");
}

DEVICE void bulk_store(void *target_gmem, u32 source_smem, u32 bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 :
                 : "l"(target_gmem), "r"(source_smem), "r"(bytes)
                 : "memory");
}

// ---- groups of this thread's stores ----

// Closes the group of stores that this thread has issued since the last commit.
DEVICE void bulk_commit() {
    asm volatile("cp.async.bulk.commit_group;" : : : "memory");
}

// Waits until at most `pending` of this thread's latest groups are unfinished.
template <int pending> DEVICE void bulk_wait() {
    asm volatile("cp.async.bulk.wait_group %0;" : : "n"(pending) : "memory");
}

// The same, but only until their shared memory has been read and may be written again.
template <int pending> DEVICE void bulk_wait_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" : : "n"(pending) : "memory");
}

#endif
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

// Called by all warps of a warpgroup: sets the registers per thread to `count` (a multiple of 8, 24
// to 256); an increase waits until other warps have released registers. The compiler ignores it
// unless it knows the register count at launch: __launch_bounds__(threads, 1).
template <int count> DEVICE void setmaxnreg_inc() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(count));
}

template <int count> DEVICE void setmaxnreg_dec() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(count));
}

// True in one lane of the warp, the same each time; all lanes must call it.
DEVICE bool elect_lane() {
    u32 elected;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
                 : "=r"(elected));
    return elected;
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
// Positions in a circular buffer of stages, each with an mbarrier (mbarrier.cuh) that says when it
// is full and one that says when it is empty.
#ifndef EVOTILE_LIB_PIPELINE
#define EVOTILE_LIB_PIPELINE


// Of a producer or a consumer (CUTLASS PipelineState): the index of the stage and the parity of the
// phase of its barriers.
template <int stages> struct pipeline_state {
    int stage = 0;
    u32 phase = 0;

    // At most one wrap-around: `tiles` <= stages.
    DEVICE void advance(int tiles) {
        stage += tiles;
        if (stage >= stages) {
            stage -= stages;
            phase ^= 1;
        }
    }

    // Past any number of tiles.
    DEVICE void skip(int tiles) {
        stage += tiles;
        phase ^= stage / stages & 1;
        stage %= stages;
    }
};

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

// The genes and what follows from them: sizes, registers, the layout of shared memory.
// Included by kernel.cu: the genes and what follows from them: sizes, registers, the layout of
// shared memory.

#if !defined(BLOCK_M) || !defined(BLOCK_N) || !defined(GROUPS_KV) || !defined(K_STAGES) ||         \
    !defined(V_STAGES) || !defined(PRODUCER) || !defined(OVERLAP) || !defined(TURNS) ||            \
    !defined(KV_SPLITS) || !defined(LAZY_RESCALE) || !defined(POLYNOMIAL_EXP) ||                   \
    !defined(MIN_CTAS) || !defined(PERSISTENT) || !defined(ORDER) || !defined(D) ||                \
    !defined(Q_SMEM) || !defined(MULTICAST) || !defined(L2_HEADS) || !defined(STORE) ||            \
    !defined(PACK_HEADS) || !defined(CAUSAL) || !defined(BF16) || !defined(VARLEN)
#error "a gene or a specialised dimension is not defined: see solution.json"
#endif

constexpr int head_dim = D;
constexpr bool causal = CAUSAL;
constexpr bool varlen = VARLEN;                 // sequences of different lengths, packed
using element = conditional_t<BF16, bf16, f16>; // element type of Q, K, V and O
constexpr int block_m = BLOCK_M;                // rows per query tile
constexpr int block_n = BLOCK_N;                // keys per tile
constexpr int groups_kv = GROUPS_KV; // sets of consumer warpgroups that take key tiles in turn
constexpr int k_stages = K_STAGES;   // pipeline stages of K
constexpr int v_stages = V_STAGES;   // pipeline stages of V
constexpr bool q_in_smem = Q_SMEM;   // Q is an operand in shared memory, not in registers
constexpr bool has_producer = PRODUCER != PRODUCER_NONE; // dedicated warps issue the TMA loads
constexpr bool producer_warpgroup =
    PRODUCER == PRODUCER_WARPGROUP; // a whole producer warpgroup, which releases registers
constexpr bool overlap = OVERLAP;   // QK^T of a tile runs beside PV of the previous tile
constexpr bool softmax_turns =
    TURNS == 1;                         // ping-pong: consumer warpgroups alternate in the softmax,
constexpr bool gemm_turns = TURNS == 2; // or in issuing their products
constexpr int kv_splits = KV_SPLITS;    // split-KV: blocks of a cluster that split the keys
constexpr int multicast = MULTICAST;    // blocks of a cluster that load each tile together, for all
constexpr bool lazy_rescale =
    LAZY_RESCALE; // m is raised only when scores exceed it by a threshold;
constexpr bool optimistic =
    LAZY_RESCALE == 2; // optimistic: the first exponentials do not wait for that check
constexpr int polynomial_exp =
    POLYNOMIAL_EXP; // of 8 exponentials, this many by polynomial instead of the MUFU unit
constexpr int min_ctas = MIN_CTAS; // minimum resident blocks per SM (launch bounds)
constexpr bool persistent =
    PERSISTENT; // a block processes several work units and prefetches the next
constexpr bool alternating =
    PERSISTENT == 2; // in odd rounds the work units are given out in reverse
constexpr bool tiles_first = ORDER == ORDER_TILES; // consecutive blocks share a head's keys
constexpr bool tma_store_o = STORE == STORE_TMA;   // O leaves through shared memory, by TMA
constexpr int l2_heads = L2_HEADS;     // packs whose work units run before those of others; 0: all
constexpr int pack_heads = PACK_HEADS; // heads of a pack: neighbours that share a query tile

// ---- Derived sizes ----

constexpr int group_rows = 64;                         // rows per warpgroup: the M of wgmma
constexpr int group_queries = group_rows / pack_heads; // of each head of the pack
constexpr int tile_queries = block_m / pack_heads;
constexpr int groups_m = block_m / group_rows; // warpgroups along the rows
constexpr int groups = groups_m * groups_kv;   // consumer warpgroups
constexpr int consumer_threads = groups * 128;
constexpr int threads = consumer_threads + (producer_warpgroup ? 128 : has_producer ? 32 : 0);
constexpr int n_tiles = block_n / 8;  // a thread's scores are in tiles of 8 keys,
constexpr int d_tiles = head_dim / 8; // its O in tiles of 8 columns
constexpr int score_registers = n_tiles * 4, o_registers = d_tiles * 4;
constexpr int panels = head_dim / 64; // a tile in shared memory is stored as panels of 64 columns
constexpr int panel_bytes = block_n * 128;
constexpr int q_panel_bytes = group_rows * 128;

// A warpgroup's rows are group_queries neighbouring queries of the pack's first head, then the same
// queries of the next: the head, within the pack, and the query, within the warpgroup, of a row.
DEVICE constexpr int row_head(int row) {
    return pack_heads > 1 ? row / group_queries : 0;
}
DEVICE constexpr int row_query(int row) {
    return pack_heads > 1 ? row % group_queries : row;
}

// Registers per thread: at launch and, where a producer warpgroup keeps only 24, after the
// consumers have taken over the rest (solution.json computes the same). Registers are not
// reallocated where every thread has more than 168.
constexpr int launch_registers = 65536 / (ceil_div(threads, 128) * 128 * min_ctas) / 8 * 8;
constexpr int pool_registers = (launch_registers * (groups + 1) - 24) / groups / 8 * 8;
constexpr int consumer_registers = min_of(pool_registers, 240);
constexpr bool reallocate_registers = producer_warpgroup && launch_registers <= 168;

constexpr float default_scale = head_dim == 64 ? 0.125f : 0.08838834764831845f; // 1 / sqrt(D)
// Probabilities may grow to 2^8 before m must be raised.
constexpr float rescale_threshold_log2 = 8.0f;

// ---- Shared memory, in bytes ----
//
//   0              K, `k_stages` tiles, then V, `v_stages` tiles, each as 64-column panels
//                  (merge_warpgroup_sets overlays these with m, l and O of up to half of the sets)
//   q_smem         Q, if it is in shared memory: for each warpgroup along the queries its panels
//   o_smem         O, if TMA stores it: the same for each warp
//   barriers_smem  two mbarriers per stage, and for Q: full (the load has completed), empty (all
//                  have read it)
//   partials_smem  partial results (m, l, columns of O) from each other block of the cluster

constexpr int tile_bytes = panels * panel_bytes;
constexpr int v_smem = k_stages * tile_bytes;
constexpr int merge_words = o_registers + 4; // per thread: m and l of two rows, and O
constexpr int merge_bytes = groups_kv / 2 * groups_m * 128 * merge_words * 4;
constexpr int q_smem = v_smem + v_stages * tile_bytes;
constexpr int q_bytes = q_in_smem ? groups_m * panels * q_panel_bytes : 0;
constexpr int o_smem = max_of(q_smem + q_bytes, ceil_div(merge_bytes, 1024) * 1024);
constexpr int o_bytes = tma_store_o ? 2 * block_m * head_dim : 0;
constexpr int barriers_smem =
    tma_store_o ? o_smem + o_bytes : max_of(q_smem + q_bytes, merge_bytes);
constexpr int barriers = k_stages + v_stages + q_in_smem;
constexpr int partials_smem = barriers_smem + 16 * barriers;
constexpr int owned_registers = o_registers / kv_splits; // of O, reduced by one block
constexpr int partial_words = owned_registers + 4;

extern __shared__ __align__(1024) unsigned char smem[];

static_assert(head_dim == 64 || head_dim == 128, "D is 64 or 128");
static_assert(block_m % group_rows == 0, "a warpgroup has 64 rows");
static_assert(pack_heads == 1 || pack_heads == 2 || pack_heads == 4 || pack_heads == 8,
              "8 rows of a warp are of one head");
static_assert(block_n % 16 == 0, "the product with V takes 16 keys at a time");
static_assert((groups_kv & (groups_kv - 1)) == 0, "the merge halves the sets until one is left");
static_assert(k_stages % groups_kv == 0 && v_stages % groups_kv == 0,
              "a stage serves one set, so that its waiters have observed the previous phase");
static_assert(!persistent || (has_producer && groups_kv == 1 && kv_splits == 1),
              "loads of the next work unit overlap the current one");
static_assert(multicast == 1 || (has_producer && groups_kv == 1 && kv_splits == 1),
              "producers wait for the consumers of the whole cluster");
static_assert(block_n % (multicast * 8) == 0,
              "a share of a tile begins at a period of the swizzle");
static_assert(o_registers % kv_splits == 0 && owned_registers % 4 == 0,
              "a block reduces whole tiles");
static_assert(!tma_store_o || (kv_splits == 1 && !varlen),
              "a box of O is of one block and sequence");
static_assert(TURNS == 0 || groups_kv == 1, "all warpgroups take equally many ping-pong turns");
static_assert(!optimistic || !overlap, "P of the previous tile is still being read");
static_assert(threads <= 1024, "a block has at most 1024 threads");

// ---- Per-thread state ----
// Fragment layouts are those of lib/wgmma.cuh: with g = lane / 4 and t = lane % 4, a thread holds
// columns of rows g (half h = 0) and g + 8 (h = 1) of its warp's 16.

using q_fragments = u32[head_dim / 16][4]; // the A operand of QK^T, unless it is in shared memory
using p_fragments = u32[block_n / 16][4];  // P in 16 bits: the A operand of PV
using score_accumulators = float[score_registers];
using o_accumulators = float[o_registers];

struct row_state {
    float row_max[2] = {minus_infinity, minus_infinity}; // m, before scaling
    float scale[2]; // a probability is exp2(score * scale - shift)
    float shift[2] = {0, 0};
    float row_sum[2] = {0, 0}; // l; covers only this thread's keys until finalize_row_sums

    DEVICE row_state(float scale_) : scale{scale_, scale_} {
    }
};

// The thread's coordinates within the block.
struct thread_coords {
    // The shuffle tells the compiler that the value is warp-uniform: everything derived from it,
    // down to the wgmma operands, is computed once per warp in uniform registers.
    int warp = __shfl_sync(full_warp_mask, threadIdx.x / 32, 0);
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    int warpgroup = warp / 4;                           // warpgroup
    int set = groups_kv > 1 ? warpgroup / groups_m : 0; // set of the warpgroup
    int first_row = warpgroup % groups_m * group_rows;  // of the warpgroup, within the query tile
    int warp_row = warp % 4 * 16;                       // of the warp, within the warpgroup
};

// The kernel's parameters and its work units: kernel_params, work_unit, visible_keys,
// decode_work_unit, tile_scheduler.
// Included by kernel.cu: the kernel's parameters, its work units, and which block gets which.

// Kernel parameters. The `inverse` fields are reciprocals for divide().
struct kernel_params {
    int S, S_KV, sequences, packs; // with VARLEN S and S_KV are the most of a sequence
    int rows; // queries in a batch of the tensors: S, with VARLEN those of all sequences
    const int *cu_seqlens_q, *cu_seqlens_k; // null without VARLEN
    int x_inverse,
        y_inverse; // of the virtual grid in which work units are numbered, see place_unit
    int heads_per_kv_head_inverse; // of H / H_KV
    float scale;                   // softmax scale times log2(e)
    strides q, o;
};

struct work_unit {
    int head, kv_head, first_row; // the pack's first head, and the first row of each of its heads
    int batch, S, S_KV;           // the sequence's batch of the tensors, queries and keys
    int first_query, first_key;   // its first rows in the batch: 0 without VARLEN
    int first_tile, end_tile;     // key tiles of the split; empty if equal

    DEVICE bool is_behind_end() const { // of its sequence
        return first_row >= S;
    }
};

// The number of keys visible to at least one row before `row_end`.
DEVICE int visible_keys(int row_end, int S, int S_KV) {
    return causal ? max(min(S_KV, row_end + S_KV - S), 0) : S_KV;
}

// The number of query tiles. Where the tiles of a head form clusters, the last ones may be empty.
DEVICE int query_tiles(int S) {
    constexpr int tiles = tiles_first ? multicast : 1;
    return ceil_div(S, tile_queries * tiles) * tiles;
}

struct unit_place {
    int pack, sequence, part; // part: query tile and KV split
};

// The place of the unit with an index where the packs of a section are inner, the parts next and
// the sections outer. A section is `size` packs of the batch, the last one fewer.
template <int size>
DEVICE unit_place place_in_section(int index, int tiles_m, const kernel_params &params) {
    const int section = divide(index, params.x_inverse), first = section * size;
    const int unit = index - section * (size * tiles_m);
    const int packs = min(size, params.sequences * params.packs - first);
    const int part = packs == size ? unit / size : unit / packs;
    const int row_id = first + unit - part * packs; // of all packs of all sequences
    const int sequence = divide(row_id, params.y_inverse);
    return {row_id - sequence * params.packs, sequence, part};
}

// The place of a work unit: from its index if persistent, else from blockIdx.
DEVICE unit_place place_unit(int work_index, int tiles_m, const kernel_params &params) {
    if constexpr (l2_heads > 0)
        return place_in_section<max_of(l2_heads, 1)>(persistent ? work_index : blockIdx.x, tiles_m,
                                                     params);
    int x = blockIdx.x, y = blockIdx.y, z = blockIdx.z;
    if constexpr (persistent) {
        const int row_id = divide(work_index, params.x_inverse);
        x = work_index - row_id * (tiles_first ? tiles_m : params.packs);
        z = divide(row_id, params.y_inverse);
        y = row_id - z * (tiles_first ? params.packs : params.sequences);
    }
    return {tiles_first ? y : x, tiles_first ? z : y, tiles_first ? x : z};
}

// Decodes a work unit. Under a causal mask the last query tiles, which have most keys, are
// scheduled first. There are as many units for each sequence as the longest has; those behind the
// end of another have no key tiles.
DEVICE work_unit decode_work_unit(int work_index, const kernel_params &params) {
    const int tiles_m = query_tiles(params.S);
    const auto [pack, sequence, part] = place_unit(work_index, tiles_m, params);
    const sequence_rows queries = rows_of_sequence<varlen>(sequence, params.cu_seqlens_q, params.S),
                        keys = rows_of_sequence<varlen>(sequence, params.cu_seqlens_k, params.S_KV);
    const int head = pack * pack_heads, kv_head = divide(head, params.heads_per_kv_head_inverse);
    const int m_tile = part / kv_splits, split = part % kv_splits;
    const int first_row = (causal ? tiles_m - 1 - m_tile : m_tile) * tile_queries;
    const int row_end = min(first_row + tile_queries, queries.count);
    const bool has_rows = !varlen || first_row < queries.count;
    const int tiles =
        has_rows ? ceil_div(visible_keys(row_end, queries.count, keys.count), block_n) : 0;
    const int share = ceil_div(tiles, kv_splits), first_tile = min(split * share, tiles);
    return {head,       kv_head,       first_row,  queries.batch, queries.count,
            keys.count, queries.first, keys.first, first_tile,    min(first_tile + share, tiles)};
}

// Tile scheduler of persistent blocks: in each round every block gets one work unit. If
// alternating, odd rounds run from the last block to the first: where units become shorter (longest
// first, under a causal mask), the block with the longest of a round gets the shortest of the next.
struct tile_scheduler {
    int work_index = persistent ? blockIdx.x : 0;
    int step = !persistent ? 1 : alternating ? 2 * (gridDim.x - blockIdx.x) - 1 : gridDim.x;

    DEVICE void advance() {
        work_index += step;
        if constexpr (alternating)
            step = 2 * gridDim.x - step;
    }
};

// The pipelines: stages and their barriers (k_stage_smem, k_full_barrier ...), pipeline_state,
// consumer_wait, consumer_release, and the producers (tma_loader, inline_producer).
// Included by kernel.cu: the TMA pipelines of K and V in shared memory, and Q where it is there
// too, their producers and the consumers' release.

DEVICE u32 k_stage_smem(int stage) {
    return smem_address(smem) + stage * tile_bytes;
}
DEVICE u32 v_stage_smem(int stage) {
    return smem_address(smem) + v_smem + stage * tile_bytes;
}
DEVICE u32 k_full_barrier(int stage) {
    return smem_address(smem) + barriers_smem + 16 * stage;
}
DEVICE u32 v_full_barrier(int stage) {
    return k_full_barrier(k_stages + stage);
}
DEVICE u32 q_group_smem(int group) { // of the warpgroup's rows
    return smem_address(smem) + q_smem + group * panels * q_panel_bytes;
}
DEVICE u32 q_full_barrier() {
    return v_full_barrier(v_stages);
}
DEVICE u32 empty_barrier(u32 full) {
    return full + 8;
}

DEVICE void init_barriers() {
    if (threadIdx.x == 0) {
        for (int i = 0; i < k_stages + v_stages; ++i) {
            mbarrier_init(k_full_barrier(i), 1);
            mbarrier_init(empty_barrier(k_full_barrier(i)),
                          multicast * groups_m * 4); // of each warp of the set that reads the stage
        }
        if constexpr (q_in_smem) {
            mbarrier_init(q_full_barrier(), 1);
            mbarrier_init(empty_barrier(q_full_barrier()), groups * 4);
        }
        fence_mbarrier_init();
    }
    __syncthreads(); // the barriers are initialised for all threads
}

// Waits until the load into the stage has completed.
DEVICE void consumer_wait(u32 full, u32 phase) {
    mbarrier_wait(full, phase);
}

// Signals that the warp has read the stage.
DEVICE void consumer_release(u32 full) {
    if (threadIdx.x % 32 == 0)
        mbarrier_arrive(empty_barrier(full));
    __syncwarp();
}

// The same for a stage of K or V, which every block of the cluster loads a share of.
DEVICE void consumer_release_stage(u32 full) {
    if constexpr (multicast == 1)
        consumer_release(full);
    else if (threadIdx.x % 32 < multicast)
        mbarrier_arrive_cluster(map_to_block(empty_barrier(full), threadIdx.x % 32));
    __syncwarp();
}

// A block must not end while others of its cluster may still signal at its barriers.
DEVICE void leave_cluster() {
    if constexpr (multicast > 1) {
        __syncwarp();
        cluster_arrive();
        cluster_wait();
    }
}

// The single thread that issues the TMA loads, with its position in both pipelines.
struct tma_loader {
    const tensor_map &q_map, &k_map, &v_map;
    pipeline_state<k_stages> k;
    pipeline_state<v_stages> v;
    pipeline_state<1> q;
    int k_tile, v_tile; // the next tile of K and of V

    DEVICE void init(const work_unit &work) {
        k_tile = v_tile = work.first_tile;
    }

    // Acquires the next stage (waits until it is empty) and issues the load of a tile into it. A
    // wait for parity 1 on a fresh barrier returns immediately, so the first round does not wait.
    template <int stages>
    DEVICE void load(pipeline_state<stages> &state, u32 full, u32 stage_smem, const tensor_map &map,
                     int &next_tile, const work_unit &work) {
        mbarrier_wait(empty_barrier(full), state.phase ^ 1);
        mbarrier_arrive_expect_bytes(full, tile_bytes);
        constexpr int share = block_n / multicast;
        const int first = multicast > 1 ? cluster_rank() * share : 0; // of this block's share
#pragma unroll
        for (int i = 0; i < panels; ++i)
            if constexpr (multicast > 1)
                tma_load_multicast((1 << multicast) - 1, stage_smem + i * panel_bytes + first * 128,
                                   map, full, i * 64, next_tile * block_n + first, work.kv_head,
                                   work.batch);
            else
                tma_load(stage_smem + i * panel_bytes, map, full, i * 64,
                         work.first_key + next_tile * block_n, work.kv_head, work.batch);
        state.advance(1);
        ++next_tile;
    }

    // Queries past the end are zeros.
    DEVICE void load_q(const work_unit &work) {
        if (!q_in_smem || (varlen && kv_splits == 1 && work.is_behind_end()))
            return;
        const u32 full = q_full_barrier();
        mbarrier_wait(empty_barrier(full), q.phase ^ 1);
        mbarrier_arrive_expect_bytes(full, q_bytes);
#pragma unroll
        for (int i = 0; i < groups_m * panels; ++i)
            tma_load(q_group_smem(0) + i * q_panel_bytes, q_map, full, i % panels * 64,
                     work.first_query + work.first_row + i / panels * group_queries, work.head,
                     work.batch);
        q.advance(1);
    }
    DEVICE void load_k(const work_unit &work) {
        load(k, k_full_barrier(k.stage), k_stage_smem(k.stage), k_map, k_tile, work);
    }
    DEVICE void load_v(const work_unit &work) {
        load(v, v_full_barrier(v.stage), v_stage_smem(v.stage), v_map, v_tile, work);
    }

    // Issues all loads of a work unit, in the order of consumption. K runs one tile ahead of V,
    // because a consumer with `overlap` waits for it before it releases V.
    DEVICE void load_all(const work_unit &work) {
        load_q(work);
        for (init(work); v_tile < work.end_tile; load_v(work))
            while (k_tile < min(v_tile + 1 + groups_kv, work.end_tile))
                load_k(work);
    }
};

// Without a producer warp, one consumer thread issues the loads as stages become free: the first
// thread of the last warpgroup of set 0, which sees the most keys.
struct inline_producer {
    tma_loader loader;
    const work_unit &work;
    bool issues_loads;

    DEVICE void issue_q() {
        if (!has_producer && issues_loads)
            loader.load_q(work);
        __syncwarp();
    }
    // Issues the loads of K (V) into stages whose tiles before `tile` have been, or will soon be,
    // read by all consumers.
    DEVICE void issue_k(int tile) {
        if constexpr (has_producer)
            return;
        if (issues_loads)
            while (loader.k_tile < min(tile + k_stages, work.end_tile))
                loader.load_k(work);
        __syncwarp();
    }
    DEVICE void issue_v(int tile) {
        if constexpr (has_producer)
            return;
        if (issues_loads)
            while (loader.v_tile < min(tile + v_stages, work.end_tile))
                loader.load_v(work);
        __syncwarp();
    }
};

// With a spare stage, a new load waits for the release of the previous tile, which the other warps
// have read by now; without one, for the release of the current tile.
constexpr int k_issue_lag = k_stages > groups_kv ? 0 : groups_kv;
constexpr int v_issue_lag = v_stages > groups_kv ? 0 : groups_kv;

// Mainloop state of one warpgroup: its position in the key tiles of its set.
struct mainloop_state {
    pipeline_state<k_stages> k;
    pipeline_state<v_stages> v;
    int tile;         // the current key tile
    int first_masked; // tiles before this one need no mask
    int end;          // tiles from here on are hidden from every query of the warpgroup
    int row;          // the thread's row g in its head; row g + 8 is row_query(8) behind it
    int S, S_KV;

    DEVICE void init(const work_unit &work, const thread_coords &thread) {
        S = work.S, S_KV = work.S_KV;
        const int first_row = work.first_row + thread.first_row / pack_heads;
        row = first_row + row_query(thread.warp_row) + thread.g;
        tile = work.first_tile + thread.set;
        first_masked = visible_keys(first_row + 1, S, S_KV) / block_n;
        end =
            min(work.end_tile, ceil_div(visible_keys(first_row + group_queries, S, S_KV), block_n));
    }
};

// Steps of one mainloop iteration: start_qk_gemm, mask, thread_row_max, needs_rescale,
// raise_row_max, exp_scores, sum_and_pack, exp_sum_and_pack, rescale_o, start_pv_gemm;
// pingpong_wait and pingpong_signal.
// Included by kernel.cu: the steps of a consumer warpgroup's mainloop iteration (one key tile).

// The queries of a warpgroup's work unit, the A operand of QK^T: in registers, or in shared memory,
// where the loader puts them. Once the last product with K has read them, a persistent block loads
// those of its next unit in their place, beside the last softmax, the last product with V and the
// epilogue.
struct query_tile {
    const element *q_gmem;
    const kernel_params &params;
    const thread_coords &thread;
    work_unit next;
    bool has_next = false;
    u32 phase = 0; // of the barrier of Q in shared memory
    q_fragments rmem;

    DEVICE void find_next(int work_index, int work_units) {
        has_next = work_index < work_units;
        if (has_next)
            next = decode_work_unit(work_index, params);
    }

    DEVICE void load_next() {
        if (q_in_smem || !has_next)
            return;
        const int head = next.head + row_head(thread.warp_row);
        const int first_row =
            next.first_row + thread.first_row / pack_heads + row_query(thread.warp_row);
        const element *head_gmem =
            q_gmem + to_sequence<varlen>(params.q, next.batch, head, next.first_query);
#pragma unroll
        for (int k = 0; k < head_dim / 16; ++k)
            if constexpr (row_head(8) > 0)
                load_a_gmem(rmem[k], {head_gmem, head_gmem + params.q.to_head(0, 1)}, params.q.row,
                            first_row, next.S, k);
            else
                load_a_gmem(rmem[k], head_gmem, params.q.row, first_row, next.S, k);
    }

    // Every warpgroup calls this for every unit, also if it sees no key: a wait at the barrier
    // distinguishes only the parity of the phase.
    DEVICE void acquire() {
        if constexpr (q_in_smem) {
            mbarrier_wait(q_full_barrier(), phase);
            phase ^= 1;
        }
    }
    DEVICE void release() {
        if constexpr (q_in_smem)
            consumer_release(q_full_barrier());
        else
            load_next();
    }
};

// Issues S = Q K^T of the warpgroup's queries and a key tile.
DEVICE void start_qk_gemm(score_accumulators &s_rmem, const query_tile &q, u32 k_smem) {
    const u64 k_operand = matrix_descriptor(k_smem, 16, 1024, swizzle::by_128);
    const u64 q_operand =
        matrix_descriptor(q_group_smem(q.thread.first_row / group_rows), 16, 1024, swizzle::by_128);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < head_dim / 16; ++k) {
        const u64 keys = descriptor_advance(k_operand, k / 4 * panel_bytes + k % 4 * 32);
        if constexpr (q_in_smem)
            wgmma<element>(s_rmem,
                           descriptor_advance(q_operand, k / 4 * q_panel_bytes + k % 4 * 32), keys,
                           k > 0);
        else
            wgmma<element>(s_rmem, q.rmem[k], keys, k > 0);
    }
    wgmma_commit();
}

// Issues O += P V.
DEVICE void start_pv_gemm(o_accumulators &o_rmem, const p_fragments &p_rmem, u32 v_smem) {
    const u64 v_operand = matrix_descriptor(v_smem, panel_bytes, 1024, swizzle::by_128);
    wgmma_fence();
#pragma unroll
    for (int n = 0; n < block_n / 16; ++n)
        wgmma<element, major::mn>(o_rmem, p_rmem[n], descriptor_advance(v_operand, n * 2048), true);
    wgmma_commit();
}

// Sets the scores of keys past the end, and of keys that the causal mask hides, to minus infinity.
DEVICE void mask(score_accumulators &s_rmem, const mainloop_state &state,
                 const thread_coords &thread) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int visible =
            visible_keys(state.row + i / 2 * row_query(8) + 1, state.S, state.S_KV) -
            (state.tile * block_n + thread.t * 2 + i % 2);
#pragma unroll
        for (int n = 0; n < n_tiles; ++n)
            if (n * 8 >= visible)
                s_rmem[n * 4 + i] = minus_infinity;
    }
}

// The maximum of the thread's own scores in each of its rows.
DEVICE void thread_row_max(float (&row_max)[2], const score_accumulators &s_rmem) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        float even = s_rmem[h * 2], odd = s_rmem[h * 2 + 1];
#pragma unroll
        for (int n = 1; n < n_tiles; ++n) {
            even = fmaxf(even, s_rmem[n * 4 + h * 2]);
            odd = fmaxf(odd, s_rmem[n * 4 + h * 2 + 1]);
        }
        row_max[h] = fmaxf(even, odd);
    }
}

// True if in some row of the warp a score exceeds m by more than the threshold. Until then a lazy m
// may lag behind: l and O use the same m, so the result stays exact.
DEVICE bool needs_rescale(const float (&row_max)[2], const row_state &rows,
                          const kernel_params &params) {
    return __any_sync(full_warp_mask,
                      (row_max[0] - rows.row_max[0]) * params.scale > rescale_threshold_log2 ||
                          (row_max[1] - rows.row_max[1]) * params.scale > rescale_threshold_log2);
}

// Raises m to the maximum of the scores and rescales l to the new m; `correction` is the factor for
// O.
DEVICE void raise_row_max(float (&correction)[2], row_state &rows, const float (&row_max)[2],
                          const kernel_params &params) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const float old_max = rows.row_max[h];
        rows.row_max[h] = fmaxf(old_max, lanes_max<4>(row_max[h]));
        correction[h] = correction_factor(old_max, rows.row_max[h], params.scale);
        rows.row_sum[h] *= correction[h];
        rows.scale[h] = exact_scale(rows.row_max[h], params.scale);
        rows.shift[h] = rows.row_max[h] == minus_infinity ? 0.0f : rows.row_max[h] * rows.scale[h];
    }
}

DEVICE void rescale_o(o_accumulators &o_rmem, const float (&correction)[2]) {
#pragma unroll
    for (int i = 0; i < o_registers; ++i)
        o_rmem[i] *= correction[i / 2 % 2];
}

// The probability exp(score - m) of the thread's score `i`.
DEVICE float exp_score(const score_accumulators &s_rmem, const row_state &rows, int i) {
    const float exponent = s_rmem[i] * rows.scale[i / 2 % 2] - rows.shift[i / 2 % 2];
    return i / 4 % 8 < polynomial_exp ? exp2_polynomial(exponent) : exp2_fast(exponent);
}

// Replaces all scores with probabilities.
DEVICE void exp_scores(score_accumulators &s_rmem, const row_state &rows) {
#pragma unroll
    for (int i = 0; i < score_registers; ++i)
        s_rmem[i] = exp_score(s_rmem, rows, i);
}

// Adds the probabilities to l and packs them to 16 bits for PV.
DEVICE void sum_and_pack(p_fragments &p_rmem, row_state &rows, const score_accumulators &s_rmem) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        float even = s_rmem[h * 2], odd = s_rmem[h * 2 + 1];
#pragma unroll
        for (int n = 1; n < n_tiles; ++n) {
            even += s_rmem[n * 4 + h * 2];
            odd += s_rmem[n * 4 + h * 2 + 1];
        }
        rows.row_sum[h] += even + odd;
    }
#pragma unroll
    for (int i = 0; i < score_registers / 2; ++i)
        p_rmem[i / 4][i % 4] = pack_pair<element>(s_rmem[i * 2], s_rmem[i * 2 + 1]);
}

// Computes, sums and packs the probabilities of scores [first, end) in one pass; the scores are
// kept.
DEVICE void exp_sum_and_pack(p_fragments &p_rmem, float (&tile_sum)[4],
                             const score_accumulators &s_rmem, const row_state &rows, int first,
                             int end) {
#pragma unroll
    for (int i = first; i < end; i += 2) {
        const float even = exp_score(s_rmem, rows, i), odd = exp_score(s_rmem, rows, i + 1);
        tile_sum[i % 4] = i < 4 ? even : tile_sum[i % 4] + even;
        tile_sum[i % 4 + 1] = i < 4 ? odd : tile_sum[i % 4 + 1] + odd;
        p_rmem[i / 8][i / 2 % 4] = pack_pair<element>(even, odd);
    }
}

// Ping-pong scheduling (FlashAttention-3, section 3.1): consumer warpgroups execute the code
// between pingpong_wait and pingpong_signal round robin: the softmax of a tile, or the issue of its
// products, so that those of one warpgroup run beside the softmax of another. The signal before the
// mainloop lets the first one begin. Every warpgroup must call the pair equally often.
template <bool enabled> DEVICE void pingpong_wait(const thread_coords &thread) {
    if constexpr (enabled)
        named_barrier_sync(2 + thread.warpgroup, 256); // the previous warpgroup has had its turn
}
template <bool enabled> DEVICE void pingpong_signal(const thread_coords &thread) {
    if constexpr (enabled)
        named_barrier_arrive(2 + (thread.warpgroup + 1) % groups, 256);
}

// Epilogue: finalize_row_sums, merge_warpgroup_sets; send_partials and reduce_and_store, or
// finish_rows and store_o_by_threads or store_o_by_tma.
// Included by kernel.cu: the epilogue of a work unit, after the mainloop.

// 1 / l, or 0 for a query without visible keys. (Its l may be non-zero, because exp2_polynomial
// never returns 0.)
DEVICE float inverse_row_sum(float row_max, float row_sum) {
    return row_max == minus_infinity ? 0.0f : 1.0f / row_sum;
}

// Reduces l of each row over all keys of the warpgroup.
DEVICE void finalize_row_sums(row_state &rows) {
    rows.row_sum[0] = lanes_sum<4>(rows.row_sum[0]);
    rows.row_sum[1] = lanes_sum<4>(rows.row_sum[1]);
}

// Reduces m, l and O over the warpgroup sets that split the keys; the result is in set 0. In each
// round the upper half of the sets writes to shared memory, and the threads of the lower half with
// the same fragments read it.
DEVICE void merge_warpgroup_sets(o_accumulators &o_rmem, row_state &rows,
                                 const kernel_params &params, const thread_coords &thread) {
    constexpr int stride =
        groups_m * 128; // distance, in words, between consecutive words of a thread
    float *thread_smem = reinterpret_cast<float *>(smem) + threadIdx.x % stride;
#pragma unroll
    for (int half = groups_kv / 2; half > 0; half /= 2) {
        float *word_smem = thread_smem + thread.set % half * merge_words * stride;
        named_barrier_sync(
            1, consumer_threads); // the last tiles, or the previous round's results, have been read
        if (thread.set >= half && thread.set < 2 * half) {
#pragma unroll
            for (int h = 0; h < 2; ++h, word_smem += 2 * stride) {
                word_smem[0] = rows.row_max[h];
                word_smem[stride] = rows.row_sum[h];
            }
#pragma unroll
            for (int i = 0; i < o_registers; ++i, word_smem += stride)
                *word_smem = o_rmem[i];
        }
        named_barrier_sync(1, consumer_threads); // the upper half has written its results
        if (thread.set < half) {
            float own_factor[2], other_factor[2];
#pragma unroll
            for (int h = 0; h < 2; ++h, word_smem += 2 * stride) {
                const float new_max = fmaxf(rows.row_max[h], word_smem[0]);
                own_factor[h] = correction_factor(rows.row_max[h], new_max, params.scale);
                other_factor[h] = correction_factor(word_smem[0], new_max, params.scale);
                rows.row_max[h] = new_max;
                rows.row_sum[h] =
                    rows.row_sum[h] * own_factor[h] + word_smem[stride] * other_factor[h];
            }
#pragma unroll
            for (int i = 0; i < o_registers; ++i, word_smem += stride)
                o_rmem[i] =
                    o_rmem[i] * own_factor[i / 2 % 2] + *word_smem * other_factor[i / 2 % 2];
        }
    }
}

// Offset in shared memory of block `to` where this thread finds the partial results from block
// `from`; a block sends none to itself.
DEVICE int partial_offset(int from, int to) {
    const int sender = (from > to ? from - 1 : from) * groups_m + threadIdx.x / 128;
    return partials_smem + (sender * partial_words * 128 + static_cast<int>(threadIdx.x % 128)) * 4;
}

// Sends m, l and the columns of O that it reduces to each other block of the cluster.
DEVICE void send_partials(const o_accumulators &o_rmem, const row_state &rows, int rank) {
#pragma unroll
    for (int to = 0; to < kv_splits; ++to) {
        if (to == rank)
            continue;
        const u32 word_smem = map_to_block(smem_address(smem) + partial_offset(rank, to), to);
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            store_shared_cluster(word_smem + h * 512, rows.row_max[h]);
            store_shared_cluster(word_smem + (2 + h) * 512, rows.row_sum[h]);
        }
#pragma unroll
        for (int i = 0; i < owned_registers; ++i)
            store_shared_cluster(word_smem + (4 + i) * 512, o_rmem[to * owned_registers + i]);
    }
}

// Where O has the thread's row h; o_gmem is row 0 of the first row's head.
DEVICE element *o_row(element *o_gmem, int row, int h, const kernel_params &params) {
    element *row_gmem = o_gmem + multiply_wide(row, params.o.row);
    if constexpr (row_head(8) > 0)
        row_gmem += params.o.to_head(0, h);
    return row_gmem;
}

// Writes the log-sum-exp of the thread's row h, if it is asked for.
DEVICE void store_lse(float *lse, i64 row_id, int row, int h, float row_max, float row_sum,
                      const mainloop_state &state, const kernel_params &params,
                      const thread_coords &thread) {
    if (lse && thread.t == 0 && row < state.S)
        lse[row_id + h * row_head(8) * params.rows + row] =
            log_sum_exp(row_max, row_sum, params.scale);
}

// Combines all blocks' partial results of this block's columns and writes them.
DEVICE void reduce_and_store(element *o_gmem, float *lse, i64 row_id, const o_accumulators &o_rmem,
                             const row_state &rows, int rank, const mainloop_state &state,
                             const kernel_params &params, const thread_coords &thread) {
    float row_max[2] = {rows.row_max[0], rows.row_max[1]}, row_sum[2], total[owned_registers],
          factor[2];
#pragma unroll
    for (int from = 0; from < kv_splits; ++from)
#pragma unroll
        for (int h = 0; h < 2; ++h)
            if (from != rank)
                row_max[h] =
                    fmaxf(row_max[h],
                          *reinterpret_cast<float *>(smem + partial_offset(from, rank) + h * 512));
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        factor[h] = correction_factor(rows.row_max[h], row_max[h], params.scale);
        row_sum[h] = rows.row_sum[h] * factor[h];
    }
#pragma unroll
    for (int split = 0; split < kv_splits;
         ++split) // register indices must be compile-time constants
        if (split == rank)
#pragma unroll
            for (int i = 0; i < owned_registers; ++i)
                total[i] = o_rmem[split * owned_registers + i] * factor[i / 2 % 2];
#pragma unroll
    for (int from = 0; from < kv_splits; ++from) {
        const unsigned char *partial = smem + partial_offset(from, rank);
        if (from == rank)
            continue;
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            factor[h] = correction_factor(*reinterpret_cast<const float *>(partial + h * 512),
                                          row_max[h], params.scale);
            row_sum[h] += *reinterpret_cast<const float *>(partial + (2 + h) * 512) * factor[h];
        }
#pragma unroll
        for (int i = 0; i < owned_registers; ++i)
            total[i] +=
                *reinterpret_cast<const float *>(partial + (4 + i) * 512) * factor[i / 2 % 2];
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const int row = state.row + h * row_query(8);
        const float inverse = inverse_row_sum(row_max[h], row_sum[h]);
        element *pair_gmem =
            o_row(o_gmem, row, h, params) + rank * owned_registers * 2 + thread.t * 2;
        if (rank == 0)
            store_lse(lse, row_id, row, h, row_max[h], row_sum[h], state, params, thread);
#pragma unroll
        for (int d = 0; d < owned_registers / 4; ++d)
            if (row < state.S)
                *reinterpret_cast<u32 *>(pair_gmem + d * 8) = pack_pair<element>(
                    total[d * 4 + h * 2] * inverse, total[d * 4 + h * 2 + 1] * inverse);
    }
}

// 1 / l of the thread's rows, whose log-sum-exp it writes if it is asked for.
DEVICE void finish_rows(float (&inverse)[2], float *lse, i64 row_id, const row_state &rows,
                        const mainloop_state &state, const kernel_params &params,
                        const thread_coords &thread) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const int row = state.row + h * row_query(8);
        inverse[h] = inverse_row_sum(rows.row_max[h], rows.row_sum[h]);
        store_lse(lse, row_id, row, h, rows.row_max[h], rows.row_sum[h], state, params, thread);
    }
}

// Two halves of O divided by l, or zeros where l is zero: row half h of column tile d.
DEVICE u32 o_pair(const o_accumulators &o_rmem, const float (&inverse)[2], int d, int h) {
    return pack_pair<element>(o_rmem[d * 4 + h * 2] * inverse[h],
                              o_rmem[d * 4 + h * 2 + 1] * inverse[h]);
}

// Writes the rows within the tensor. The four lanes of a row exchange pairs, so that each writes
// 16 bytes at a time.
DEVICE void store_o_by_threads(element *o_gmem, const o_accumulators &o_rmem,
                               const float (&inverse)[2], const mainloop_state &state,
                               const kernel_params &params, const thread_coords &thread) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const int row = state.row + h * row_query(8);
        element *row_gmem = o_row(o_gmem, row, h, params);
#pragma unroll
        for (int d = 0; d < d_tiles; d += 4) {
            u32 pairs[4];
#pragma unroll
            for (int i = 0; i < 4; ++i)
                pairs[i] = o_pair(o_rmem, inverse, d + i, h);
            lanes_transpose(pairs);
            if (row < state.S)
                *reinterpret_cast<uint4 *>(row_gmem + (d + thread.t) * 8) =
                    make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
        }
    }
}

// Waits until the stores that store_o_by_tma has issued have read the shared memory: before the
// next ones, and before the block ends.
DEVICE void finish_o_stores() {
    if constexpr (tma_store_o) {
        bulk_wait_read<0>(); // of this thread, if it has issued any
        __syncwarp();
    }
}

// Each warp puts its 16 rows into shared memory, as panels of 64 columns whose 16-byte chunks are
// swizzled, and has them stored; rows behind the tensor are left out. The stores go on beside the
// next unit.
DEVICE void store_o_by_tma(const tensor_map &o_map, const o_accumulators &o_rmem,
                           const float (&inverse)[2], const work_unit &work,
                           const thread_coords &thread) {
    constexpr int warp_panel_bytes = 16 * 128;
    const int lane = threadIdx.x % 32;
    const int warp_query = thread.first_row / pack_heads + row_query(thread.warp_row);
    const u32 warp_smem =
        smem_address(smem) + o_smem + (thread.first_row + thread.warp_row) * (panels * 128);
    finish_o_stores();
#pragma unroll
    for (int d = 0; d < d_tiles; d += 2) {
        const int chunk = (d % 8 + lane / 16) ^ (lane % 8);
        stmatrix_x4(warp_smem + d / 8 * warp_panel_bytes + lane % 16 * 128 + chunk * 16,
                    o_pair(o_rmem, inverse, d, 0), o_pair(o_rmem, inverse, d, 1),
                    o_pair(o_rmem, inverse, d + 1, 0), o_pair(o_rmem, inverse, d + 1, 1));
    }
    fence_proxy_async();
    __syncwarp();
    if (lane == 0) {
#pragma unroll
        for (int panel = 0; panel < panels; ++panel)
            tma_store(o_map, warp_smem + panel * warp_panel_bytes, panel * 64,
                      work.first_row + warp_query, work.head + row_head(thread.warp_row),
                      work.batch);
        bulk_commit();
    }
}

// ---- The mainloop over the key tiles of a work unit ----

// Replaces scores with probabilities. Returns true if m was raised; the caller then multiplies O by
// `correction`.
DEVICE bool softmax(score_accumulators &s_rmem, float (&correction)[2], row_state &rows,
                    const kernel_params &params, const thread_coords &thread) {
    float row_max[2];
    thread_row_max(row_max, s_rmem);
    const bool max_raised = !lazy_rescale || needs_rescale(row_max, rows, params);
    if (max_raised)
        raise_row_max(correction, rows, row_max, params);
    pingpong_wait<softmax_turns>(thread);
    exp_scores(s_rmem, rows);
    return max_raised;
}

// The same, and packs the probabilities into p_rmem. If optimistic, the probabilities of the first
// keys are computed with the old m before it is known whether m must be raised, so that no
// exponential waits for the maximum; if m is raised, they are computed again. (Only 16 keys: more
// would need more registers until the check is done.)
DEVICE bool softmax_and_pack(p_fragments &p_rmem, score_accumulators &s_rmem,
                             float (&correction)[2], row_state &rows, const kernel_params &params,
                             const thread_coords &thread) {
    if constexpr (optimistic) {
        constexpr int first_scores = 8;
        float row_max[2], tile_sum[4];
        pingpong_wait<softmax_turns>(thread);
        exp_sum_and_pack(p_rmem, tile_sum, s_rmem, rows, 0, first_scores);
        thread_row_max(row_max, s_rmem);
        const bool max_raised = needs_rescale(row_max, rows, params);
        if (max_raised) {
            raise_row_max(correction, rows, row_max, params);
            exp_sum_and_pack(p_rmem, tile_sum, s_rmem, rows, 0, first_scores);
        }
        exp_sum_and_pack(p_rmem, tile_sum, s_rmem, rows, first_scores, score_registers);
        rows.row_sum[0] += tile_sum[0] + tile_sum[1];
        rows.row_sum[1] += tile_sum[2] + tile_sum[3];
        return max_raised;
    } else {
        const bool max_raised = softmax(s_rmem, correction, rows, params, thread);
        sum_and_pack(p_rmem, rows, s_rmem);
        return max_raised;
    }
}

// Mainloop without overlap: S, softmax and O of one tile after another.
DEVICE void mainloop(o_accumulators &o_rmem, row_state &rows, query_tile &q, mainloop_state &state,
                     inline_producer &producer, const kernel_params &params,
                     const thread_coords &thread) {
    q.acquire();
    if (state.tile >= state.end)
        q.release();
    for (; state.tile < state.end; state.tile += groups_kv) {
        score_accumulators s_rmem;
        p_fragments p_rmem;
        float correction[2];
        const u32 k_full = k_full_barrier(state.k.stage), v_full = v_full_barrier(state.v.stage);
        consumer_wait(k_full, state.k.phase);
        start_qk_gemm(s_rmem, q, k_stage_smem(state.k.stage));
        if (k_issue_lag == 0)
            producer.issue_k(state.tile);
        if (v_issue_lag == 0)
            producer.issue_v(state.tile);
        wgmma_wait<0>();
        wgmma_hold(s_rmem);
        consumer_release_stage(k_full);
        if (state.tile + groups_kv >= state.end)
            q.release();
        if (k_issue_lag > 0)
            producer.issue_k(state.tile + k_issue_lag);
        if (state.tile >= state.first_masked)
            mask(s_rmem, state, thread);
        const bool max_raised = softmax_and_pack(p_rmem, s_rmem, correction, rows, params, thread);
        if (max_raised)
            rescale_o(o_rmem, correction);
        consumer_wait(v_full, state.v.phase);
        pingpong_signal<softmax_turns>(thread);
        start_pv_gemm(o_rmem, p_rmem, v_stage_smem(state.v.stage));
        state.k.advance(groups_kv);
        wgmma_wait<0>();
        wgmma_hold(o_rmem);
        consumer_release_stage(v_full);
        if (v_issue_lag > 0)
            producer.issue_v(state.tile + v_issue_lag);
        state.v.advance(groups_kv);
    }
}

// Mainloop with overlap (FlashAttention-3, section 3.2): QK^T of a tile is issued beside PV of the
// previous tile, and PV continues beside the softmax.
DEVICE void mainloop_overlapped(o_accumulators &o_rmem, row_state &rows, query_tile &q,
                                mainloop_state &state, inline_producer &producer,
                                const kernel_params &params, const thread_coords &thread) {
    score_accumulators s_rmem;
    p_fragments p_rmem;
    float correction[2];
    q.acquire();
    if (state.tile >= state.end) {
        q.release();
        return;
    }
    consumer_wait(k_full_barrier(state.k.stage), state.k.phase);
    pingpong_wait<gemm_turns>(thread);
    start_qk_gemm(s_rmem, q, k_stage_smem(state.k.stage));
    pingpong_signal<gemm_turns>(thread);
    wgmma_wait<0>();
    wgmma_hold(s_rmem);
    consumer_release_stage(k_full_barrier(state.k.stage));
    if (state.tile + groups_kv >= state.end)
        q.release();
    state.k.advance(groups_kv);
    if (k_issue_lag > 0)
        producer.issue_k(state.tile + k_issue_lag);
    if (state.tile >= state.first_masked)
        mask(s_rmem, state, thread);
    softmax(s_rmem, correction, rows, params, thread);
    sum_and_pack(p_rmem, rows, s_rmem);
    pingpong_signal<softmax_turns>(thread);
    state.tile += groups_kv;
    if (state.tile < state.end)
        consumer_wait(k_full_barrier(state.k.stage), state.k.phase);
    for (; state.tile < state.end; state.tile += groups_kv) {
        const u32 k_full = k_full_barrier(state.k.stage), v_full = v_full_barrier(state.v.stage);
        pingpong_wait<gemm_turns>(thread);
        start_qk_gemm(s_rmem, q, k_stage_smem(state.k.stage));
        consumer_wait(v_full, state.v.phase);
        start_pv_gemm(o_rmem, p_rmem, v_stage_smem(state.v.stage));
        pingpong_signal<gemm_turns>(thread);
        state.k.advance(groups_kv);
        state.v.advance(groups_kv);
        if (k_issue_lag == 0)
            producer.issue_k(state.tile);
        if (v_issue_lag == 0)
            producer.issue_v(state.tile - groups_kv);
        wgmma_wait<1>();
        wgmma_hold(s_rmem);
        consumer_release_stage(k_full);
        if (state.tile + groups_kv >= state.end)
            q.release();
        if (k_issue_lag > 0)
            producer.issue_k(state.tile + k_issue_lag);
        if (state.tile >= state.first_masked)
            mask(s_rmem, state, thread);
        const bool max_raised = softmax(s_rmem, correction, rows, params, thread);
        wgmma_hold(s_rmem);
        // Placed here so that the compiler keeps the wait below after the softmax.
        if (state.tile + groups_kv < state.end)
            consumer_wait(k_full_barrier(state.k.stage), state.k.phase);
        wgmma_wait<0>();
        wgmma_hold(o_rmem);
        consumer_release_stage(v_full);
        if (v_issue_lag > 0)
            producer.issue_v(state.tile);
        if (max_raised)
            rescale_o(o_rmem, correction);
        sum_and_pack(p_rmem, rows, s_rmem);
        pingpong_signal<softmax_turns>(thread);
    }
    if (k_issue_lag == 0)
        producer.issue_k(state.tile);
    if (v_issue_lag == 0)
        producer.issue_v(state.tile - groups_kv);
    consumer_wait(v_full_barrier(state.v.stage), state.v.phase);
    start_pv_gemm(o_rmem, p_rmem, v_stage_smem(state.v.stage));
    wgmma_wait<0>();
    wgmma_hold(o_rmem);
    consumer_release_stage(v_full_barrier(state.v.stage));
    state.v.advance(groups_kv);
    producer.issue_v(state.tile);
}

// Consumes, without reading them, the key tiles that other warpgroups' queries see and this
// warpgroup's queries do not.
DEVICE void skip_hidden_tiles(mainloop_state &state, inline_producer &producer,
                              const work_unit &work, const thread_coords &thread) {
    for (; state.tile < work.end_tile; state.tile += groups_kv) {
        pingpong_wait<softmax_turns || gemm_turns>(thread);
        pingpong_signal<softmax_turns || gemm_turns>(thread);
        consumer_wait(k_full_barrier(state.k.stage), state.k.phase);
        consumer_release_stage(k_full_barrier(state.k.stage));
        state.k.advance(groups_kv);
        producer.issue_k(state.tile + groups_kv);
        consumer_wait(v_full_barrier(state.v.stage), state.v.phase);
        consumer_release_stage(v_full_barrier(state.v.stage));
        state.v.advance(groups_kv);
        producer.issue_v(state.tile + groups_kv);
    }
}

// ---- The schedule ----

#if KV_SPLITS > 1 && ORDER == ORDER_TILES
#define CLUSTER __cluster_dims__(KV_SPLITS, 1, 1)
#elif KV_SPLITS > 1
#define CLUSTER __cluster_dims__(1, 1, KV_SPLITS)
#elif MULTICAST > 1
#define CLUSTER __cluster_dims__(MULTICAST, 1, 1)
#else
#define CLUSTER
#endif

extern "C" __global__ void __launch_bounds__(threads, min_ctas) CLUSTER attention_fwd_hopper(
    const __grid_constant__ tensor_map q_map, const __grid_constant__ tensor_map k_map,
    const __grid_constant__ tensor_map v_map, const __grid_constant__ tensor_map o_map,
    const element *__restrict__ q_gmem, element *__restrict__ o, float *__restrict__ lse,
    const int *__restrict__ cu_seqlens_q, const int *__restrict__ cu_seqlens_k, int S, int S_KV,
    int sequences, int total_rows, int heads, int x_inverse, int y_inverse,
    int heads_per_kv_head_inverse, float scale, u32 q_batch, u32 q_head, int q_row, u32 o_batch,
    u32 o_head, int o_row) {
    const kernel_params params{S,
                               S_KV,
                               sequences,
                               heads / pack_heads,
                               total_rows,
                               cu_seqlens_q,
                               cu_seqlens_k,
                               x_inverse,
                               y_inverse,
                               heads_per_kv_head_inverse,
                               (scale > 0 ? scale : default_scale) * log2_e,
                               {q_batch, q_head, q_row},
                               {o_batch, o_head, o_row}};
    const thread_coords thread{};
    const int work_units = persistent ? sequences * params.packs * query_tiles(S) : 1;
    init_barriers();
    if constexpr (kv_splits > 1 || multicast > 1)
        cluster_arrive(); // this block runs: other blocks may write to its shared memory
    if constexpr (multicast > 1)
        cluster_wait();
    if (has_producer && thread.warp >= consumer_threads / 32) {
        if constexpr (reallocate_registers)
            setmaxnreg_dec<24>();
        if (threadIdx.x == consumer_threads) {
            tma_loader loader{q_map, k_map, v_map};
            for (tile_scheduler scheduler; scheduler.work_index < work_units; scheduler.advance())
                loader.load_all(decode_work_unit(scheduler.work_index, params));
        }
        leave_cluster();
        return;
    }
    if constexpr (reallocate_registers)
        setmaxnreg_inc<consumer_registers>();
    mainloop_state state;
    state.k.advance(thread.set), state.v.advance(thread.set);
    if (thread.warpgroup == groups - 1)
        pingpong_signal<softmax_turns || gemm_turns>(thread); // warpgroup 0 may begin
    tile_scheduler scheduler;
    query_tile q{q_gmem, params, thread};
    q.find_next(scheduler.work_index, work_units);
    q.load_next();
    while (scheduler.work_index < work_units) {
        const work_unit work = q.next;
        scheduler.advance();
        q.find_next(scheduler.work_index, work_units);
        if constexpr (varlen && kv_splits == 1)
            if (work.is_behind_end()) {
                q.load_next();
                continue;
            }
        const int head = work.head + row_head(thread.warp_row); // of the thread's row g
        element *o_gmem = o + to_sequence<varlen>(params.o, work.batch, head, work.first_query);
        const i64 row_id = static_cast<i64>(work.batch * heads + head) * params.rows +
                           work.first_query; // index of the first query in LSE
        inline_producer producer{{q_map, k_map, v_map},
                                 work,
                                 thread.warp == (groups_m - 1) * 4 && threadIdx.x % 32 == 0};
        o_accumulators o_rmem = {};
        row_state rows(params.scale);
        producer.loader.init(work);
        producer.issue_q();
        producer.issue_k(work.first_tile), producer.issue_v(work.first_tile);
        state.init(work, thread);
        (overlap ? mainloop_overlapped : mainloop)(o_rmem, rows, q, state, producer, params,
                                                   thread);
        if (causal)
            skip_hidden_tiles(state, producer, work, thread);
        finalize_row_sums(rows);
        if constexpr (groups_kv > 1)
            merge_warpgroup_sets(o_rmem, rows, params, thread);
        if constexpr (kv_splits > 1) {
            const int rank = cluster_rank();
            cluster_wait(); // all blocks of the cluster run
            if (thread.set == 0)
                send_partials(o_rmem, rows, rank);
            cluster_arrive();
            cluster_wait(); // the partial results of all blocks have arrived
            if (thread.set == 0)
                reduce_and_store(o_gmem, lse, row_id, o_rmem, rows, rank, state, params, thread);
        } else if (thread.set == 0) {
            float inverse[2];
            finish_rows(inverse, lse, row_id, rows, state, params, thread);
            if constexpr (tma_store_o)
                store_o_by_tma(o_map, o_rmem, inverse, work, thread);
            else
                store_o_by_threads(o_gmem, o_rmem, inverse, state, params, thread);
        }
    }
    finish_o_stores();
    leave_cluster();
}
