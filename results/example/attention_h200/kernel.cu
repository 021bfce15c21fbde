// kernel.cu: attention_fwd_hopper, exported by evotile. Generated: do not edit.
//
// FlashAttention forward on Hopper, half or bf16: O = softmax(scale Q K^T) V, optionally causal,
// with grouped heads, and LSE
//
// The genes and specialised dimensions of variant N are macros of variant_N.h;
// nvcc -DEVOTILE_VARIANT=N selects it.
//
// replay: evotile replay results/example/attention_h200

#ifndef EVOTILE_VARIANT
#define EVOTILE_VARIANT 1
#endif
#if EVOTILE_VARIANT == 1
#include "variant_1.h"
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
#if EVOTILE_VARIANT == 5
#include "variant_5.h"
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
#if EVOTILE_VARIANT == 9
#include "variant_9.h"
#endif
#if EVOTILE_VARIANT == 10
#include "variant_10.h"
#endif
#if EVOTILE_VARIANT == 11
#include "variant_11.h"
#endif
#if EVOTILE_VARIANT == 12
#include "variant_12.h"
#endif
#if EVOTILE_VARIANT == 13
#include "variant_13.h"
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
//   The extents may lie in any order: of Q and O strides say how far apart batches, heads and rows
//   begin, of K and V their tensor maps.
//   CAUSAL: query i sees key j only if j <= i + S_KV - S (the last query sees the last key).
//   A query that sees no key gives a row of zeros, and minus infinity for LSE.
//
// A block computes a unit: the BLOCK_M queries of one tile against the keys of one split. The copy
// engine brings tiles of BLOCK_N keys into two rings of buffers, one for K and one for V. Each
// warpgroup has 64 queries, and for each of them the largest score so far m, the sum l of
// exp(score - m), and O before its division by l. The blocks that share out the keys of a tile of
// queries are a cluster, and add up through each other's shared memory. README.md has the picture.

// What depends on the type of a tensor's 16-bit elements, f16 or bf16, by that type.
#ifndef EVOTILE_LIB_ELEMENT
#define EVOTILE_LIB_ELEMENT

// Conversions between bfloat16 and float, as half.cuh has them for halves.
#ifndef EVOTILE_LIB_BFLOAT
#define EVOTILE_LIB_BFLOAT

// Types and constants that the device code needs without any system header.
#ifndef EVOTILE_LIB_TYPES
#define EVOTILE_LIB_TYPES

// A function of the device, always inlined: what it is given by reference stays in registers.
#define DEVICE __device__ __forceinline__

using u16 = unsigned short;
using u32 = unsigned int;
using i64 = long long;
using u64 = unsigned long long;

// An IEEE half as it lies in memory. Arithmetic is done in float; half.cuh converts.
struct f16 {
    u16 bits;
};

// A bfloat16: the upper half of a float.
struct bf16 {
    u16 bits;
};

// `choose<condition, A, B>` is A if the condition holds, else B.
template <bool condition, typename A, typename B> struct choose_type { using type = A; };
template <typename A, typename B> struct choose_type<false, A, B> { using type = B; };
template <bool condition, typename A, typename B>
using choose = typename choose_type<condition, A, B>::type;

constexpr float minus_infinity = __builtin_bit_cast(float, 0xff800000u);
constexpr u32 full_warp = 0xffffffffu;

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

// Each of the two as a float.
template <typename element> DEVICE float low_of(u32 pair);
template <typename element> DEVICE float high_of(u32 pair);

template <> DEVICE float low_of<f16>(u32 pair) {
    return low_half_to_float(pair);
}

template <> DEVICE float high_of<f16>(u32 pair) {
    return high_half_to_float(pair);
}

template <> DEVICE float low_of<bf16>(u32 pair) {
    return __uint_as_float(pair << 16);
}

template <> DEVICE float high_of<bf16>(u32 pair) {
    return __uint_as_float(pair & 0xffff0000);
}

#endif
// Fragments of the tensor-core products of lib/mma.cuh, filled by one warp from tiles of halves in
// shared memory (lib/tile.cuh) or from a matrix in global memory; and what is in an accumulator.
// `step` counts 16 columns.
#ifndef EVOTILE_LIB_FRAGMENTS
#define EVOTILE_LIB_FRAGMENTS

// Arithmetic on whole numbers where the compiler needs a hint.
#ifndef EVOTILE_LIB_INTEGER
#define EVOTILE_LIB_INTEGER


// a * b in 64 bits by one multiplication. (Of 64-bit operands the compiler forgets that they were
// once shorter, and takes three.)
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

// n / d, where inverse = (2^31 - 1) / d and 0 <= n, (n + 1) * d <= 2^31. Exact: 2^31 is
// d * inverse + r with 1 <= r <= d, so the product is short of (n + 1) / d by (n + 1) r / (2^31 d),
// which is more than 0 and at most 1 / d.
DEVICE int divide(int n, int inverse) {
    return static_cast<int>(__umulhi(2u * n + 2u, inverse));
}

#endif
// Loads of four 8x8 tiles of halves from shared memory by one warp. Lanes 8i to 8i+7 each name one
// row (16 bytes, aligned to 16) of tile i. The eight rows of a tile should lie in different banks.
#ifndef EVOTILE_LIB_LDMATRIX
#define EVOTILE_LIB_LDMATRIX


// tile[i] of lane l: row l/4, columns 2(l%4) and 2(l%4)+1 of tile i.
DEVICE void ldmatrix_x4(u32 (&tile)[4], u32 row_smem) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(tile[0]), "=r"(tile[1]), "=r"(tile[2]), "=r"(tile[3])
                 : "r"(row_smem)
                 : "memory");
}

// The same of the transposed tile: rows 2(l%4) and 2(l%4)+1 of column l/4 of tile i.
DEVICE void ldmatrix_x4_trans(u32 (&tile)[4], u32 row_smem) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(tile[0]), "=r"(tile[1]), "=r"(tile[2]), "=r"(tile[3])
                 : "r"(row_smem)
                 : "memory");
}

#endif

// a = 16 rows of the tile from first_row on, the 16 columns of `step`.
template <typename tile>
DEVICE void load_left(u32 (&a)[4], u32 tile_smem, int first_row, int step) {
    const int lane = threadIdx.x % 32;
    ldmatrix_x4(a, tile_smem + tile::offset(first_row + lane % 16, step * 2 + lane / 16));
}

// The same from a matrix whose rows begin `stride` elements apart; rows at or past row_end are
// zeros, and not read.
template <typename element>
DEVICE void load_left_gmem(u32 (&a)[4], const element *matrix_gmem, int stride, int first_row,
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

// For a product with the transposed tile: b[0], b[1] belong to its 8 rows from first_row on, b[2],
// b[3] to the 8 after these; the 16 columns of `step`.
template <typename tile>
DEVICE void load_right_transposed(u32 (&b)[4], u32 tile_smem, int first_row, int step) {
    const int lane = threadIdx.x % 32;
    ldmatrix_x4(b, tile_smem +
                       tile::offset(first_row + lane / 16 * 8 + lane % 8, step * 2 + lane / 8 % 2));
}

// For a product with the tile itself: 16 rows from first_row on; b[0], b[1] belong to the first 8
// columns of `step`, b[2], b[3] to the other 8.
template <typename tile>
DEVICE void load_right(u32 (&b)[4], u32 tile_smem, int first_row, int step) {
    const int lane = threadIdx.x % 32;
    ldmatrix_x4_trans(b, tile_smem + tile::offset(first_row + lane % 16, step * 2 + lane / 16));
}

// Accumulators, float or half, as floats.
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
// What Hopper (sm_90a) has beyond the chips before it: barriers in shared memory, the copy engine,
// products of a warpgroup, and here what is needed around them. A warpgroup is four warps in a row,
// the first of them a multiple of four.
#ifndef EVOTILE_LIB_HOPPER
#define EVOTILE_LIB_HOPPER

// Blocks of a cluster, which run at the same time and reach each other's shared memory. sm_90 and
// later; a kernel says how many by __cluster_dims__.
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

// The cluster-wide address of what lies at place_smem in the shared memory of block `rank`.
DEVICE u32 map_to_block(u32 place_smem, u32 rank) {
    u32 mapped;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(mapped)
                 : "r"(place_smem), "r"(rank));
    return mapped;
}

// Stores a word where map_to_block says; cluster_arrive and cluster_wait make it seen there.
DEVICE void store_to_block(u32 mapped, float value) {
    asm volatile("st.shared::cluster.f32 [%0], %1;" : : "r"(mapped), "f"(value) : "memory");
}

// A barrier of all threads of the cluster, in two halves; what was written before the first is seen
// after the second.
DEVICE void cluster_arrive() {
    asm volatile("barrier.cluster.arrive.release.aligned;" : : : "memory");
}

DEVICE void cluster_wait() {
    asm volatile("barrier.cluster.wait.acquire.aligned;" : : : "memory");
}

#endif
// Programmatic dependent launch: a kernel whose launch is "early" (template.json) begins while the
// one before it still runs, and waits for it where it must. sm_90 and later.
#ifndef EVOTILE_LIB_DEPENDENT
#define EVOTILE_LIB_DEPENDENT


// Waits until the launch before has ended and what it wrote is visible.
DEVICE void grid_dependency_wait() {
    asm volatile("griddepcontrol.wait;" : : : "memory");
}

// The launch after may begin, once every block has said so or has ended.
DEVICE void grid_dependents_launch() {
    asm volatile("griddepcontrol.launch_dependents;" : : : "memory");
}

#endif
// Barriers that live in shared memory (mbarrier): 8 bytes each, aligned to 8. A barrier is in a
// phase, whose parity is 0 at first, then 1, 0 ...; the phase ends when as many arrivals as it was
// made for and all the bytes that were announced have come, and the next begins at once with the
// same count. Who waits names the parity of the phase whose end it waits for. sm_90.
//
//     if (threadIdx.x == 0) { mbarrier_init(full_smem, 1); fence_mbarrier_init(); }
//     __syncthreads();                            // the barrier is there for all
//     one thread:  mbarrier_arrive_expect_bytes(full_smem, bytes); copies that name full_smem
//     all others:  mbarrier_wait(full_smem, 0);   // what was copied may be read
#ifndef EVOTILE_LIB_MBARRIER
#define EVOTILE_LIB_MBARRIER


// One thread makes the barrier, for `arrivals` a phase. Others may use it past
// fence_mbarrier_init and a barrier of the block.
DEVICE void mbarrier_init(u32 barrier_smem, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                 :
                 : "r"(barrier_smem), "r"(arrivals)
                 : "memory");
}

// Makes this thread's mbarrier_inits visible to the copy engine and to the cluster's other blocks.
DEVICE void fence_mbarrier_init() {
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
}

// One arrival at the present phase. What this thread did before is visible to those who waited.
DEVICE void mbarrier_arrive(u32 barrier_smem) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(barrier_smem) : "memory");
}

// The same at a barrier of another block of the cluster (map_to_block).
DEVICE void mbarrier_arrive_cluster(u32 barrier_smem) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];"
                 :
                 : "r"(barrier_smem)
                 : "memory");
}

// Announces `bytes` to come in the present phase, without an arrival.
DEVICE void mbarrier_expect_bytes(u32 barrier_smem, u32 bytes) {
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;"
                 :
                 : "r"(barrier_smem), "r"(bytes)
                 : "memory");
}

// Announces `bytes` and then arrives. Bytes of a box outside its tensor count too: they are
// written, as zeros.
DEVICE void mbarrier_arrive_expect_bytes(u32 barrier_smem, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(barrier_smem), "r"(bytes)
                 : "memory");
}

// Whether the phase of this parity has ended; does not wait.
DEVICE bool mbarrier_test_wait(u32 barrier_smem, u32 parity) {
    u32 ended;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; "
                 "selp.u32 %0, 1, 0, p; }"
                 : "=r"(ended)
                 : "r"(barrier_smem), "r"(parity)
                 : "memory");
    return ended;
}

// The same, but the thread may sleep for a while first.
DEVICE bool mbarrier_try_wait(u32 barrier_smem, u32 parity) {
    u32 ended;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
                 "selp.u32 %0, 1, 0, p; }"
                 : "=r"(ended)
                 : "r"(barrier_smem), "r"(parity)
                 : "memory");
    return ended;
}

// Waits for the end of the phase of this parity. A barrier that has just been made passes for one
// whose phase of parity 1 has ended: who waits for parity 1 then goes on at once.
DEVICE void mbarrier_wait(u32 barrier_smem, u32 parity) {
    while (!mbarrier_try_wait(barrier_smem, parity)) {
    }
}

// What this thread wrote to shared memory by ordinary stores is seen by copies (tma.cuh) and
// products (wgmma.cuh) that are issued later, by it or past a barrier.
DEVICE void fence_proxy_async() {
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}

#endif
// Copies between global and shared memory that one thread issues and the copy engine (TMA) carries
// out: boxes of a tensor, by way of a tensor map that the host made, and plain runs of bytes.
// sm_90.
//
// A load announces nothing: its bytes count down those that mbarrier_arrive_expect_bytes announced
// at the barrier it names (mbarrier.cuh). A box always has its full size: elements outside the
// tensor are written as zeros by a load, and not written by a store. Coordinates are counted in
// elements, the fastest running first, and may be negative for loads, not for stores; a box begins
// a multiple of 16 bytes into its row. Places in shared memory are aligned to 128 bytes, or to the
// swizzle's pattern (below) where wgmma.cuh is to read them.
//
// Swizzle: in shared memory the box lies packed, its innermost row first, and 16-byte chunks are
// then swapped by address, bits 4.. with bits 7.. of it:
//     128B  bits 4-6 ^= bits 7-9; an innermost row has 128 bytes, the pattern repeats after 1024
//     64B   bits 4-5 ^= bits 7-8; 64, 512
//     32B   bit  4   ^= bit  7;   32, 256
#ifndef EVOTILE_LIB_TMA
#define EVOTILE_LIB_TMA


// What the host encoded of one tensor: its address, sizes, strides, box and swizzle. A kernel takes
// it as `const __grid_constant__ tensor_map map`.
struct alignas(64) tensor_map {
    unsigned char bytes[128];
};

// Fetches the map itself ahead of the first copy that needs it.
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

// How long what is read should stay in L2: a word for the loads below.
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

// ---- a box, shared to global. What was stored to shared memory before needs fence_proxy_async,
// and a barrier if other threads stored it ----

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

// ---- plain bytes: both addresses and the size are multiples of 16 ----

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

// ---- the stores of this thread, in groups ----

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
// Tensor-core products of one warpgroup (four warps in a row, 128 threads): d = a * b (+ d), with a
// 64x16, b 16xN, d 64xN; N is what fits d. They run while the threads go on. sm_90a.
//
//     wgmma_fence();                         // d and a of earlier instructions are settled
//     wgmma<f16>(d, a, b, false);            // d = a * b
//     wgmma<f16>(d, a_next, b_next, true);   // d += a_next * b_next
//     wgmma_commit();
//     wgmma_wait<0>();                       // d may be read, a's registers written
//
// All four warps issue the same instructions. Between the first product and the wait that covers it
// nobody touches d or a's registers, nor overwrites what the descriptors describe.
//
// Fragment layouts, with w the warp's place in the warpgroup, g = lane / 4, t = lane % 4; a pair is
// two neighbours packed in 32 bits. Warp w has rows 16w to 16w + 15 of a and d; i counts from 0:
//   d, float: d[4i], d[4i+1] row g, columns 8i+2t, 8i+2t+1; d[4i+2], d[4i+3] row g+8, the same
//   d, half:  d[2i] row g, columns 8i+2t, 8i+2t+1 as a pair; d[2i+1] row g+8, the same
//   a[0] row g, columns 2t, 2t+1; a[1] row g+8, the same
//   a[2] row g, columns 2t+8, 2t+9; a[3] row g+8, the same
// So sixteen columns of d, rounded to half, are a for the next product, as with mma.cuh.
#ifndef EVOTILE_LIB_WGMMA
#define EVOTILE_LIB_WGMMA


// Before the first product, and again where registers of d or a were written since: orders these
// accesses before the products that follow. (Products with the same d one after another need none.)
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

// Keeps the compiler from moving uses of d across this line: put it after a wait that is not the
// last thing before the use, and before the fence. No instruction.
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

// ---- where an operand lies in shared memory ----

// Which index runs fastest there: k, of which a row of a and a column of b have 16, or the other
// one (a's rows, b's columns).
enum class major { k, mn };

// The swizzle by which the operand was stored: tma.cuh.
enum class swizzle : u64 { none = 0, by_128 = 1, by_64 = 2, by_32 = 3 };

// Describes an operand of halves (or bf16) that begins at start_smem. With S bytes of swizzle (128,
// 64, 32) it is made of *atoms* of 8 rows of S bytes, 8S bytes in one piece whose start is aligned
// to 8S; without, of *core matrices* of 8 rows of 16 bytes, 128 bytes in one piece.
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
// A K tile (keys x D) by TMA is b of S = QK', K-major; a V tile (keys x D) is b of PV, MN-major.
DEVICE u64 matrix_descriptor(u32 start_smem, u32 leading_bytes, u32 stride_bytes, swizzle mode) {
    return static_cast<u64>((start_smem & 0x3ffff) >> 4) |
           static_cast<u64>((leading_bytes & 0x3ffff) >> 4) << 16 |
           static_cast<u64>((stride_bytes & 0x3ffff) >> 4) << 32 | static_cast<u64>(mode) << 62;
}

// The same operand `bytes` (a multiple of 16) further on: the address is in the low half, which does
// not overflow.
DEVICE u64 advance(u64 descriptor, u32 bytes) {
    return descriptor >> 32 << 32 | (static_cast<u32>(descriptor) + (bytes >> 4));
}

// ---- the products ----

// The types in the instruction's name: d's, a's and b's.
template <typename accumulator, typename input> struct wgmma_types;
template <> struct wgmma_types<float, f16> {
    static constexpr char name[] = "f32.f16.f16";
    static constexpr int columns = 2; // of d, a register
};
template <> struct wgmma_types<float, bf16> {
    static constexpr char name[] = "f32.bf16.bf16";
    static constexpr int columns = 2;
};
template <> struct wgmma_types<u32, f16> {
    static constexpr char name[] = "f16.f16.f16";
    static constexpr int columns = 4;
};

// One instruction by the number of d's registers; WGMMA below defines them. An operand of asm goes
// by its number, which grows with that of d's registers, so that each size needs a text of its own.
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
#define WGMMA_NAMES_96  WGMMA_NAMES_80 ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91" \
                  ", %92, %93, %94, %95"
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
#define WGMMA_PLACES_96(c, i)  WGMMA_PLACES_64(c, i), WGMMA_PLACES_32(c, i + 64)
#define WGMMA_PLACES_112(c, i) WGMMA_PLACES_64(c, i), WGMMA_PLACES_48(c, i + 64)
#define WGMMA_PLACES_128(c, i) WGMMA_PLACES_64(c, i), WGMMA_PLACES_64(c, i + 64)

// a from registers: its four are operands i to l, b's descriptor m. Or a by its descriptor: i, b's j.
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

// The number of d's registers, which is that of the first operand after them, and those of the
// others.
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
WGMMA(96, 97, 98, 99, 100, 101, 102, 103, 104)
WGMMA(112, 113, 114, 115, 116, 117, 118, 119, 120)
WGMMA(128, 129, 130, 131, 132, 133, 134, 135, 136)
// clang-format on

// d = a * b, or d += a * b if `accumulate`; a from registers. N is d's columns: 2 a register of
// float, 4 of half pairs; at most 256.
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

// All warps of a warpgroup together: from here on each thread has `count` registers (a multiple of
// 8, 24 to 256); more wait until others gave theirs back. Ignored by the compiler unless it knows
// what the kernel begins with: __launch_bounds__(threads, 1).
template <int count> DEVICE void set_registers_up() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(count));
}

template <int count> DEVICE void set_registers_down() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(count));
}

// True in one lane of the warp, the same each time; all lanes take part.
DEVICE bool elect_lane() {
    u32 elected;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
                 : "=r"(elected));
    return elected;
}

// ---- barriers of some of the block's warps: number 1 to 15 (0 is __syncthreads), `threads` of all
// that arrive and wait, a multiple of 32 ----

DEVICE void barrier_sync(int number, int threads) {
    asm volatile("bar.sync %0, %1;" : : "r"(number), "r"(threads) : "memory");
}

DEVICE void barrier_arrive(int number, int threads) {
    asm volatile("bar.arrive %0, %1;" : : "r"(number), "r"(threads) : "memory");
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

// The same to about 1e-4 of its value, without the unit that exp2_fast waits for: 2^x = 2^i 2^f
// with i the nearest integer, which the addition leaves in the low bits of its sum; 2^f by a
// polynomial with the least largest relative error on [-1/2, 1/2]. Never below 2^-126. For x up to
// 127.
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

#endif
// Addresses of shared memory.
#ifndef EVOTILE_LIB_SMEM
#define EVOTILE_LIB_SMEM


// The 32-bit address of a place in the block's shared memory, as instructions take it.
DEVICE u32 smem_address(const void *place_smem) {
    return static_cast<u32>(__cvta_generic_to_shared(place_smem));
}

// What lies there: 4 bytes, and 16, aligned to as many.
DEVICE u32 load_smem_4(u32 place_smem) {
    u32 value;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(place_smem) : "memory");
    return value;
}

DEVICE uint4 load_smem_16(u32 place_smem) {
    uint4 value;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                 : "r"(place_smem)
                 : "memory");
    return value;
}

#endif
// Where the heads and rows of a tensor lie, [batches, heads, rows, columns] in whichever order.
#ifndef EVOTILE_LIB_STRIDES
#define EVOTILE_LIB_STRIDES


// How far apart batches and heads begin, in units of 8 elements of 16 bits: all begin at multiples
// of 16 bytes; and rows, in elements. (In 32 bits: an address takes half the instructions.)
struct strides {
    u32 batch, head;
    int row;

    // Where a head begins, in elements.
    DEVICE u64 to_head(u32 batch_number, u32 head_number) const {
        return 8 * (multiply_wide(batch_number, batch) + multiply_wide(head_number, head));
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
        value = fmaxf(value, __shfl_xor_sync(full_warp, value, step));
    return value;
}

template <int width> DEVICE float lanes_sum(float value) {
#pragma unroll
    for (int step = width / 2; step > 0; step /= 2)
        value += __shfl_xor_sync(full_warp, value, step);
    return value;
}

// Four lanes in a row as the rows of a 4x4 matrix, lane t's `words` row t: transposes it. (Selected
// by value: a register cannot be addressed.)
DEVICE void lanes_transpose(u32 (&words)[4]) {
    const bool odd = threadIdx.x & 1, upper = threadIdx.x & 2;
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
        const u32 taken = __shfl_xor_sync(full_warp, odd ? words[i] : words[i + 1], 1);
        words[i] = odd ? taken : words[i];
        words[i + 1] = odd ? words[i + 1] : taken;
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const u32 taken = __shfl_xor_sync(full_warp, upper ? words[i] : words[i + 2], 2);
        words[i] = upper ? taken : words[i];
        words[i + 2] = upper ? words[i + 2] : taken;
    }
}

#endif

// ---- Genes ----

#if !defined(BLOCK_M) || !defined(BLOCK_N) || !defined(GROUPS_KV) || !defined(K_STAGES) ||         \
    !defined(V_STAGES) || !defined(PRODUCER) || !defined(OVERLAP) || !defined(TURNS) ||            \
    !defined(KV_SPLITS) || !defined(LAZY_RESCALE) || !defined(POLYNOMIAL_EXP) ||                   \
    !defined(MIN_CTAS) || !defined(PERSISTENT) || !defined(ORDER) || !defined(D) ||                \
    !defined(CAUSAL) || !defined(BF16)
#error "a gene or a specialised dimension is not defined: see template.json"
#endif

constexpr int head_dim = D;
constexpr bool causal = CAUSAL;
using element = choose<BF16, bf16, f16>; // of Q, K, V and O
constexpr int block_m = BLOCK_M;         // queries a tile
constexpr int block_n = BLOCK_N;         // keys a tile
constexpr int groups_kv = GROUPS_KV;     // sets of warpgroups that take the tiles of keys in turn
constexpr int k_stages = K_STAGES;       // buffers for tiles of K
constexpr int v_stages = V_STAGES;       // and of V
constexpr bool producer = PRODUCER != PRODUCER_NONE; // warps of their own start the copies
constexpr bool producer_group = PRODUCER == PRODUCER_WARPGROUP; // a warpgroup, to give registers up
constexpr bool overlap = OVERLAP;           // the scores of a tile run beside P V of the one before
constexpr bool turns = TURNS;               // warpgroups take turns at the exponentials
constexpr int kv_splits = KV_SPLITS;        // parts of the keys that go to the blocks of a cluster
constexpr bool lazy_rescale = LAZY_RESCALE; // m follows the scores only when they outgrow it,
constexpr bool hopeful = LAZY_RESCALE == 2; // which is found out beside the first exponentials
constexpr int polynomial_exp = POLYNOMIAL_EXP; // of 8 exponentials so many without the exp2 unit
constexpr int min_ctas = MIN_CTAS;             // blocks a multiprocessor to leave registers for
constexpr bool persistent = PERSISTENT; // a block takes unit after unit, prefetching the next
constexpr bool tiles_first = ORDER == ORDER_TILES; // neighbouring blocks have the same keys

// ---- Derived sizes ----

constexpr int group_rows = 64;                 // queries of a warpgroup: what wgmma has
constexpr int groups_m = block_m / group_rows; // warpgroups that share out the queries
constexpr int groups = groups_m * groups_kv;   // warpgroups that compute
constexpr int consumers = groups * 128;
constexpr int threads = consumers + (producer_group ? 128 : producer ? 32 : 0);
constexpr int n_tiles = block_n / 8;  // a thread's scores lie in tiles of 8 keys,
constexpr int d_tiles = head_dim / 8; // its O in tiles of 8 columns
constexpr int score_registers = n_tiles * 4, o_registers = d_tiles * 4;
constexpr int panels = head_dim / 64; // a tile in shared memory: panels of 64 columns
constexpr int panel_bytes = block_n * 128;

// Registers of a thread: what it begins with and, where a producing warpgroup keeps but 24, what
// the others come to (template.json has the same sum). Nothing is moved where all have plenty.
constexpr int launch_registers = 65536 / (ceil_div(threads, 128) * 128 * min_ctas) / 8 * 8;
constexpr int pool_registers = (launch_registers * (groups + 1) - 24) / groups / 8 * 8;
constexpr int consumer_registers = min_of(pool_registers, 240);
constexpr bool move_registers = producer_group && launch_registers <= 168;

constexpr float log2_e = 1.4426950408889634f;
constexpr float usual_scale = head_dim == 64 ? 0.125f : 0.08838834764831845f; // 1 / sqrt(D)
constexpr float headroom = 8.0f; // weights may grow to 2^8 before m must follow

// ---- Shared memory, in bytes ----
//
//   0         K, `k_stages` tiles, then V, `v_stages` tiles: a panel of 64 columns after the other
//             (when sets of warpgroups merge, m, l and O of half of them at most overlay these)
//   barriers  of each buffer two: full (the copy has landed), empty (all have read it)
//   parts     what each other block of the cluster hands this one: m, l and its columns of O

constexpr int tile_bytes = panels * panel_bytes;
constexpr int v_smem = k_stages * tile_bytes;
constexpr int merge_words = o_registers + 4; // of one thread: m, l of two rows, and O
constexpr int merge_bytes = groups_kv / 2 * groups_m * 128 * merge_words * 4;
constexpr int barriers_smem = max_of(v_smem + v_stages * tile_bytes, merge_bytes);
constexpr int parts_smem = barriers_smem + 16 * (k_stages + v_stages);
constexpr int part_registers = o_registers / kv_splits; // of O, that one block of a cluster ends
constexpr int part_words = part_registers + 4;

extern __shared__ __align__(1024) unsigned char smem[];

static_assert(head_dim == 64 || head_dim == 128, "D is 64 or 128");
static_assert(block_m % group_rows == 0, "a warpgroup has 64 queries");
static_assert(block_n % 16 == 0, "the product with V takes 16 keys at a time");
static_assert((groups_kv & (groups_kv - 1)) == 0, "the merge halves the sets until one is left");
static_assert(k_stages % groups_kv == 0 && v_stages % groups_kv == 0,
              "a buffer serves one set: who waits at its barrier has seen the phase before");
static_assert(!persistent || (producer && groups_kv == 1 && kv_splits == 1),
              "tiles of the next unit come while the buffers of this one are in use");
static_assert(o_registers % kv_splits == 0 && part_registers % 4 == 0, "a block ends whole tiles");
static_assert(!turns || groups_kv == 1, "each warpgroup has as many turns");
static_assert(!hopeful || !overlap, "P of the tile before is still being read");
static_assert(threads <= 1024, "a block has at most 1024 threads");

// ---- What a thread holds ----
// Fragments are laid out as lib/wgmma.cuh says: with g = lane / 4 and t = lane % 4, a thread holds
// columns of rows g (half h = 0) and g + 8 (h = 1) of its warp's 16.

using q_fragments = u32[head_dim / 16][4];
using weight_fragments = u32[block_n / 16][4]; // P, rounded to half: a of the product with V
using score_sums = float[score_registers];
using o_sums = float[o_registers];

struct row_state {
    float largest[2] = {minus_infinity, minus_infinity}; // m, not scaled
    float scale[2];                                      // a weight is 2^(score * scale - shift)
    float shift[2] = {0, 0};
    float sum[2] = {0, 0}; // l, until total_rows of own keys alone

    DEVICE row_state(float scale_) : scale{scale_, scale_} {
    }
};

// The thread's place in the block.
struct place {
    // By a shuffle the compiler learns that all lanes have the same: what follows from it, down to
    // the operands of products, is computed once a warp.
    int warp = __shfl_sync(full_warp, threadIdx.x / 32, 0);
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    int group = warp / 4;                           // its warpgroup,
    int set = groups_kv > 1 ? group / groups_m : 0; // that one's set,
    int first_row = group % groups_m * group_rows;  // its first query within the tile of queries
    int warp_row = warp % 4 * 16;                   // and the warp's within the warpgroup's
};

// What one launch works on; `inverse`s are for divide.
struct problem {
    int S, S_KV, batches, heads;
    int x_inverse, y_inverse; // of the units in a row and in a column, as a grid would have them
    int group_inverse;        // of H / H_KV, the heads that share their keys
    float scale;              // exp(scale given * x) = 2^(scale * x)
    strides q, o;
};

struct unit {
    int batch, head, kv_head, first_row;
    int first_tile, end_tile; // the tiles of keys of its split; none, if they are equal
};

// The keys that rows before `row_end` see.
DEVICE int seen_keys(int row_end, int S, int S_KV) {
    return causal ? max(min(S_KV, row_end + S_KV - S), 0) : S_KV;
}

// Units as a grid has them, or counted along its rows. Under a causal mask the late queries, with
// most keys, come first.
DEVICE unit find_unit(int number, const problem &all) {
    int x = blockIdx.x, y = blockIdx.y, z = blockIdx.z;
    const int tiles_m = ceil_div(all.S, block_m);
    if constexpr (persistent) {
        const int line = divide(number, all.x_inverse);
        x = number - line * (tiles_first ? tiles_m : all.heads);
        z = divide(line, all.y_inverse);
        y = line - z * (tiles_first ? all.heads : all.batches);
    }
    const int head = tiles_first ? y : x, batch = tiles_first ? z : y, part = tiles_first ? x : z;
    const int kv_head = divide(head, all.group_inverse);
    const int turn = part / kv_splits, split = part % kv_splits;
    const int first_row = (causal ? tiles_m - 1 - turn : turn) * block_m;
    const int row_end = min(first_row + block_m, all.S);
    const int tiles = ceil_div(seen_keys(row_end, all.S, all.S_KV), block_n);
    const int share = ceil_div(tiles, kv_splits), first_tile = min(split * share, tiles);
    return {batch, head, kv_head, first_row, first_tile, min(first_tile + share, tiles)};
}

// Buffers (k_buffer, k_full ...), a ring of them, who fills them (loader, feeder), and release.
// A part of kernel.cu: the rings of buffers in shared memory, who fills them and who gives them
// back.

DEVICE u32 k_buffer(int buffer) {
    return smem_address(smem) + buffer * tile_bytes;
}
DEVICE u32 v_buffer(int buffer) {
    return smem_address(smem) + v_smem + buffer * tile_bytes;
}
DEVICE u32 k_full(int buffer) {
    return smem_address(smem) + barriers_smem + 16 * buffer;
}
DEVICE u32 v_full(int buffer) {
    return k_full(k_stages + buffer);
}
DEVICE u32 empty_of(u32 full) {
    return full + 8;
}

// Where somebody's walk along a ring has come: a buffer, and the parity of its barriers' phase.
template <int stages> struct ring {
    int buffer = 0;
    u32 parity = 0;

    // At most once around: `tiles` <= stages.
    DEVICE void advance(int tiles) {
        buffer += tiles;
        if (buffer >= stages) {
            buffer -= stages;
            parity ^= 1;
        }
    }
};

DEVICE void make_barriers() {
    if (threadIdx.x == 0) {
        for (int i = 0; i < k_stages + v_stages; ++i) {
            mbarrier_init(k_full(i), 1);
            mbarrier_init(empty_of(k_full(i)), groups_m * 4); // each warp of the set that reads it
        }
        fence_mbarrier_init();
    }
    __syncthreads(); // the barriers are there for all
}

// The warp has read the buffer.
DEVICE void release(u32 full) {
    if (threadIdx.x % 32 == 0)
        mbarrier_arrive(empty_of(full));
    __syncwarp();
}

// The one thread that starts the copies: where it has come.
struct loader {
    const tensor_map &k_map, &v_map;
    ring<k_stages> k;
    ring<v_stages> v;
    int k_tile, v_tile; // the next of each

    DEVICE void begin(const unit &u) {
        k_tile = v_tile = u.first_tile;
    }

    // Starts the copy of a tile to the next buffer of its ring, once that is empty. Of an empty
    // barrier that was just made the phase before has ended: the first round need not wait.
    template <int stages>
    DEVICE void load(ring<stages> &at, u32 full, u32 buffer_smem, const tensor_map &map, int &tile,
                     const unit &u) {
        mbarrier_wait(empty_of(full), at.parity ^ 1);
        mbarrier_arrive_expect_bytes(full, tile_bytes);
#pragma unroll
        for (int i = 0; i < panels; ++i)
            tma_load(buffer_smem + i * panel_bytes, map, full, i * 64, tile * block_n, u.kv_head,
                     u.batch);
        at.advance(1);
        ++tile;
    }

    DEVICE void load_k(const unit &u) {
        load(k, k_full(k.buffer), k_buffer(k.buffer), k_map, k_tile, u);
    }
    DEVICE void load_v(const unit &u) {
        load(v, v_full(v.buffer), v_buffer(v.buffer), v_map, v_tile, u);
    }

    // All tiles of a unit, in the order in which they are wanted: K is a tile ahead, which a
    // consumer with `overlap` asks for before it gives V back.
    DEVICE void load_all(const unit &u) {
        for (begin(u); v_tile < u.end_tile; load_v(u))
            while (k_tile < min(v_tile + 1 + groups_kv, u.end_tile))
                load_k(u);
    }
};

// Without a producer a consumer starts the copies, as far as buffers are free: the first thread of
// the last warpgroup of set 0, which sees the most keys.
struct feeder {
    loader copies;
    const unit &u;
    bool here;

    // Up to here the tiles of K (or V) are read by everybody, or soon will be.
    DEVICE void k_read_to(int tile) {
        if constexpr (producer)
            return;
        if (here)
            while (copies.k_tile < min(tile + k_stages, u.end_tile))
                copies.load_k(u);
        __syncwarp();
    }
    DEVICE void v_read_to(int tile) {
        if constexpr (producer)
            return;
        if (here)
            while (copies.v_tile < min(tile + v_stages, u.end_tile))
                copies.load_v(u);
        __syncwarp();
    }
};

// With a spare buffer the tile before is waited for, which others have read by now; with none, this
// one.
constexpr int k_lag = k_stages > groups_kv ? 0 : groups_kv;
constexpr int v_lag = v_stages > groups_kv ? 0 : groups_kv;

// One warpgroup's walk over the tiles of its set.
struct walk {
    ring<k_stages> k;
    ring<v_stages> v;
    int tile;   // the next
    int masked; // tiles before this one need no mask
    int end;    // tiles from here on are not seen by any query of the warpgroup
    int row;    // the thread's row g
    int S, S_KV;

    DEVICE void begin(const unit &u, const place &p, int S_, int S_KV_) {
        S = S_, S_KV = S_KV_;
        const int first_row = u.first_row + p.first_row;
        row = first_row + p.warp_row + p.g;
        tile = u.first_tile + p.set;
        masked = seen_keys(first_row + 1, S, S_KV) / block_n;
        end = min(u.end_tile, ceil_div(seen_keys(first_row + group_rows, S, S_KV), block_n));
    }
};

// What it does with one tile: start_scores, mask, find_largest, outgrown, raise, weigh_all,
// take_weights, weigh_and_take, rescale, start_accumulate; begin_turn and end_turn.
// A part of kernel.cu: what a warpgroup does with one tile of keys.

DEVICE void load_q(q_fragments &q_rmem, const element *q_gmem, int first_row, const problem &all) {
#pragma unroll
    for (int k = 0; k < head_dim / 16; ++k)
        load_left_gmem(q_rmem[k], q_gmem, all.q.row, first_row, all.S, k);
}

// Starts the scores Q K^T of the warpgroup's queries and a tile of keys.
DEVICE void start_scores(score_sums &s_rmem, const q_fragments &q_rmem, u32 k_smem) {
    const u64 k_operand = matrix_descriptor(k_smem, 16, 1024, swizzle::by_128);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < head_dim / 16; ++k)
        wgmma<element>(s_rmem, q_rmem[k], advance(k_operand, k / 4 * panel_bytes + k % 4 * 32),
                       k > 0);
    wgmma_commit();
}

// Starts O += P V.
DEVICE void start_accumulate(o_sums &o_rmem, const weight_fragments &p_rmem, u32 v_smem) {
    const u64 v_operand = matrix_descriptor(v_smem, panel_bytes, 1024, swizzle::by_128);
    wgmma_fence();
#pragma unroll
    for (int n = 0; n < block_n / 16; ++n)
        wgmma<element, major::mn>(o_rmem, p_rmem[n], advance(v_operand, n * 2048), true);
    wgmma_commit();
}

// Sets the scores of keys past the end, and of keys that a query must not see, to minus infinity.
DEVICE void mask(score_sums &s_rmem, const walk &w, const place &p) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int seen =
            seen_keys(w.row + i / 2 * 8 + 1, w.S, w.S_KV) - (w.tile * block_n + p.t * 2 + i % 2);
#pragma unroll
        for (int n = 0; n < n_tiles; ++n)
            if (n * 8 >= seen)
                s_rmem[n * 4 + i] = minus_infinity;
    }
}

// What a sum taken at `largest` counts for at `common`, which is no less.
DEVICE float weight_at(float largest, float common, float scale) {
    return largest == minus_infinity ? 0.0f : exp2_fast((largest - common) * scale);
}

// 2^(scale * (score - m)) is computed as 2^(scale * score - scale * m), one multiply-add. Where
// scale * m is beyond 2^23 its rounding could exceed the range of a half. There neighbouring scores
// make powers of 2 apart, and a power of two for the scale, which makes the product exact, does no
// harm.
DEVICE float row_scale(float largest, float scale) {
    const float power_below = __int_as_float(__float_as_int(scale) & 0x7f800000);
    return fabsf(largest * scale) < 8388608.0f ? scale : power_below;
}

// The largest of the thread's scores of each of its rows.
DEVICE void find_largest(float (&largest)[2], const score_sums &s_rmem) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        float even = s_rmem[h * 2], odd = s_rmem[h * 2 + 1];
#pragma unroll
        for (int n = 1; n < n_tiles; ++n) {
            even = fmaxf(even, s_rmem[n * 4 + h * 2]);
            odd = fmaxf(odd, s_rmem[n * 4 + h * 2 + 1]);
        }
        largest[h] = fmaxf(even, odd);
    }
}

// Whether in some row of the warp scores outgrew what weights have headroom for: until they do, a
// lazy m may stay behind, for sums and O are at the same m, whatever it is.
DEVICE bool outgrown(const float (&largest)[2], const row_state &rows, const problem &all) {
    return __any_sync(full_warp, (largest[0] - rows.largest[0]) * all.scale > headroom ||
                                     (largest[1] - rows.largest[1]) * all.scale > headroom);
}

// Raises m to the scores' maximum, and brings l to the new m; what O must be multiplied by.
DEVICE void raise(float (&old_weight)[2], row_state &rows, const float (&largest)[2],
                  const problem &all) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const float before = rows.largest[h];
        rows.largest[h] = fmaxf(before, lanes_max<4>(largest[h]));
        old_weight[h] = weight_at(before, rows.largest[h], all.scale);
        rows.sum[h] *= old_weight[h];
        rows.scale[h] = row_scale(rows.largest[h], all.scale);
        rows.shift[h] = rows.largest[h] == minus_infinity ? 0.0f : rows.largest[h] * rows.scale[h];
    }
}

DEVICE void rescale(o_sums &o_rmem, const float (&old_weight)[2]) {
#pragma unroll
    for (int i = 0; i < o_registers; ++i)
        o_rmem[i] *= old_weight[i / 2 % 2];
}

// The weight exp(score - m) of score `i` of a thread's.
DEVICE float weigh(const score_sums &s_rmem, const row_state &rows, int i) {
    const float exponent = s_rmem[i] * rows.scale[i / 2 % 2] - rows.shift[i / 2 % 2];
    return i / 4 % 8 < polynomial_exp ? exp2_polynomial(exponent) : exp2_fast(exponent);
}

// Turns all scores into weights.
DEVICE void weigh_all(score_sums &s_rmem, const row_state &rows) {
#pragma unroll
    for (int i = 0; i < score_registers; ++i)
        s_rmem[i] = weigh(s_rmem, rows, i);
}

// Rounds weights for the product with V, and adds them up.
DEVICE void take_weights(weight_fragments &p_rmem, row_state &rows, const score_sums &s_rmem) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        float even = s_rmem[h * 2], odd = s_rmem[h * 2 + 1];
#pragma unroll
        for (int n = 1; n < n_tiles; ++n) {
            even += s_rmem[n * 4 + h * 2];
            odd += s_rmem[n * 4 + h * 2 + 1];
        }
        rows.sum[h] += even + odd;
    }
#pragma unroll
    for (int i = 0; i < score_registers / 2; ++i)
        p_rmem[i / 4][i % 4] = pack_pair<element>(s_rmem[i * 2], s_rmem[i * 2 + 1]);
}

// Both at once, of the scores from `first` to before `end`; the scores stay.
DEVICE void weigh_and_take(weight_fragments &p_rmem, float (&sum)[4], const score_sums &s_rmem,
                           const row_state &rows, int first, int end) {
#pragma unroll
    for (int i = first; i < end; i += 2) {
        const float even = weigh(s_rmem, rows, i), odd = weigh(s_rmem, rows, i + 1);
        sum[i % 4] = i < 4 ? even : sum[i % 4] + even;
        sum[i % 4 + 1] = i < 4 ? odd : sum[i % 4 + 1] + odd;
        p_rmem[i / 8][i / 2 % 4] = pack_pair<element>(even, odd);
    }
}

// Warpgroups take turns at what stands between these two, round robin; end_turn before the first
// lets the first begin. Each takes part as often as the others.
DEVICE void begin_turn(const place &p) {
    if constexpr (turns)
        barrier_sync(2 + p.group, 256); // the warpgroup before has ended its turn
}
DEVICE void end_turn(const place &p) {
    if constexpr (turns)
        barrier_arrive(2 + (p.group + 1) % groups, 256);
}

// What it does at the end: total_rows, merge_sets, hand_parts and end_part, or store_o.
// A part of kernel.cu: the end of a unit, when all its tiles have been walked.

// The logarithm of l exp(scale given * m): of the sum of exp(scale given * score).
DEVICE float log_sum(float largest, float sum, float scale) {
    return largest == minus_infinity ? minus_infinity
                                     : (largest * scale + log2_fast(sum)) * (1.0f / log2_e);
}

// 1 / l, or 0 for a query that saw no key. (Its l need not be zero: exp2_polynomial never is.)
DEVICE float inverse_sum(float largest, float sum) {
    return largest == minus_infinity ? 0.0f : 1.0f / sum;
}

// l of each row over all keys of the warpgroup.
DEVICE void total_rows(row_state &rows) {
    rows.sum[0] = lanes_sum<4>(rows.sum[0]);
    rows.sum[1] = lanes_sum<4>(rows.sum[1]);
}

// Adds up the sets that shared out the keys; the result is set 0's. In each round the upper half of
// the sets hand m, l and O to the lower half: the thread with the same fragments reads what one
// wrote.
DEVICE void merge_sets(o_sums &o_rmem, row_state &rows, const problem &all, const place &p) {
    constexpr int stride =
        groups_m * 128; // word w of a thread lies `stride` words after word w - 1
    float *thread_smem = reinterpret_cast<float *>(smem) + threadIdx.x % stride;
#pragma unroll
    for (int half = groups_kv / 2; half > 0; half /= 2) {
        float *word_smem = thread_smem + p.set % half * merge_words * stride;
        barrier_sync(1, consumers); // tiles, or what was written before, have been read
        if (p.set >= half && p.set < 2 * half) {
#pragma unroll
            for (int h = 0; h < 2; ++h, word_smem += 2 * stride) {
                word_smem[0] = rows.largest[h];
                word_smem[stride] = rows.sum[h];
            }
#pragma unroll
            for (int i = 0; i < o_registers; ++i, word_smem += stride)
                *word_smem = o_rmem[i];
        }
        barrier_sync(1, consumers); // what the upper half wrote is there to be read
        if (p.set < half) {
            float own[2], other[2];
#pragma unroll
            for (int h = 0; h < 2; ++h, word_smem += 2 * stride) {
                const float common = fmaxf(rows.largest[h], word_smem[0]);
                own[h] = weight_at(rows.largest[h], common, all.scale);
                other[h] = weight_at(word_smem[0], common, all.scale);
                rows.largest[h] = common;
                rows.sum[h] = rows.sum[h] * own[h] + word_smem[stride] * other[h];
            }
#pragma unroll
            for (int i = 0; i < o_registers; ++i, word_smem += stride)
                o_rmem[i] = o_rmem[i] * own[i / 2 % 2] + *word_smem * other[i / 2 % 2];
        }
    }
}

// Where a thread of block `to` finds what block `from` of its cluster hands it; a block has no part
// from itself.
DEVICE int part_place(int from, int to) {
    const int number = (from > to ? from - 1 : from) * groups_m + threadIdx.x / 128;
    return parts_smem + (number * part_words * 128 + static_cast<int>(threadIdx.x % 128)) * 4;
}

// Hands each other block of the cluster m, l and the columns of O that it ends.
DEVICE void hand_parts(const o_sums &o_rmem, const row_state &rows, int rank) {
#pragma unroll
    for (int to = 0; to < kv_splits; ++to) {
        if (to == rank)
            continue;
        const u32 word_smem = map_to_block(smem_address(smem) + part_place(rank, to), to);
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            store_to_block(word_smem + h * 512, rows.largest[h]);
            store_to_block(word_smem + (2 + h) * 512, rows.sum[h]);
        }
#pragma unroll
        for (int i = 0; i < part_registers; ++i)
            store_to_block(word_smem + (4 + i) * 512, o_rmem[to * part_registers + i]);
    }
}

// Adds up what all blocks of the cluster have of this one's columns, and writes them.
DEVICE void end_part(element *o_gmem, float *lse, i64 line, const o_sums &o_rmem,
                     const row_state &rows, int rank, const walk &w, const problem &all,
                     const place &p) {
    float largest[2] = {rows.largest[0], rows.largest[1]}, sum[2], total[part_registers], weight[2];
#pragma unroll
    for (int from = 0; from < kv_splits; ++from)
#pragma unroll
        for (int h = 0; h < 2; ++h)
            if (from != rank)
                largest[h] =
                    fmaxf(largest[h],
                          *reinterpret_cast<float *>(smem + part_place(from, rank) + h * 512));
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        weight[h] = weight_at(rows.largest[h], largest[h], all.scale);
        sum[h] = rows.sum[h] * weight[h];
    }
#pragma unroll
    for (int own = 0; own < kv_splits; ++own) // a register's number must be a constant
        if (own == rank)
#pragma unroll
            for (int i = 0; i < part_registers; ++i)
                total[i] = o_rmem[own * part_registers + i] * weight[i / 2 % 2];
#pragma unroll
    for (int from = 0; from < kv_splits; ++from) {
        const unsigned char *part = smem + part_place(from, rank);
        if (from == rank)
            continue;
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            weight[h] =
                weight_at(*reinterpret_cast<const float *>(part + h * 512), largest[h], all.scale);
            sum[h] += *reinterpret_cast<const float *>(part + (2 + h) * 512) * weight[h];
        }
#pragma unroll
        for (int i = 0; i < part_registers; ++i)
            total[i] += *reinterpret_cast<const float *>(part + (4 + i) * 512) * weight[i / 2 % 2];
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const int row = w.row + h * 8;
        const float inverse = inverse_sum(largest[h], sum[h]);
        element *pair_gmem =
            o_gmem + multiply_wide(row, all.o.row) + rank * part_registers * 2 + p.t * 2;
        if (lse && rank == 0 && p.t == 0 && row < w.S)
            lse[line + row] = log_sum(largest[h], sum[h], all.scale);
#pragma unroll
        for (int d = 0; d < part_registers / 4; ++d)
            if (row < w.S)
                *reinterpret_cast<u32 *>(pair_gmem + d * 8) = pack_pair<element>(
                    total[d * 4 + h * 2] * inverse, total[d * 4 + h * 2 + 1] * inverse);
    }
}

// Writes the rows that exist: O divided by l, or zeros where l is zero. The four lanes of a row
// exchange pairs, so that each writes 16 bytes at a time.
DEVICE void store_o(element *o_gmem, float *lse, i64 line, const o_sums &o_rmem,
                    const row_state &rows, const walk &w, const problem &all, const place &p) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const int row = w.row + h * 8;
        const float inverse = inverse_sum(rows.largest[h], rows.sum[h]);
        element *row_gmem = o_gmem + multiply_wide(row, all.o.row);
        if (lse && p.t == 0 && row < w.S)
            lse[line + row] = log_sum(rows.largest[h], rows.sum[h], all.scale);
#pragma unroll
        for (int d = 0; d < d_tiles; d += 4) {
            u32 pairs[4];
#pragma unroll
            for (int i = 0; i < 4; ++i)
                pairs[i] = pack_pair<element>(o_rmem[(d + i) * 4 + h * 2] * inverse,
                                              o_rmem[(d + i) * 4 + h * 2 + 1] * inverse);
            lanes_transpose(pairs);
            if (row < w.S)
                *reinterpret_cast<uint4 *>(row_gmem + (d + p.t) * 8) =
                    make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
        }
    }
}

// ---- All tiles of a unit ----

// Scores become weights. True: m rose, and the caller multiplies O by old_weight.
DEVICE bool softmax(score_sums &s_rmem, float (&old_weight)[2], row_state &rows, const problem &all,
                    const place &p) {
    float largest[2];
    find_largest(largest, s_rmem);
    const bool raised = !lazy_rescale || outgrown(largest, rows, all);
    if (raised)
        raise(old_weight, rows, largest, all);
    begin_turn(p);
    weigh_all(s_rmem, rows);
    return raised;
}

// The same, and the weights are taken. When hopeful, those of the first keys are taken at the old m
// before it is known whether m must rise, so that no exponential waits for the maximum; where it
// must, they are taken again. (Of 16 keys: more would need more registers until that is known.)
DEVICE bool softmax_taken(weight_fragments &p_rmem, score_sums &s_rmem, float (&old_weight)[2],
                          row_state &rows, const problem &all, const place &p) {
    if constexpr (hopeful) {
        constexpr int first = 8;
        float largest[2], sum[4];
        begin_turn(p);
        weigh_and_take(p_rmem, sum, s_rmem, rows, 0, first);
        find_largest(largest, s_rmem);
        const bool raised = outgrown(largest, rows, all);
        if (raised) {
            raise(old_weight, rows, largest, all);
            weigh_and_take(p_rmem, sum, s_rmem, rows, 0, first);
        }
        weigh_and_take(p_rmem, sum, s_rmem, rows, first, score_registers);
        rows.sum[0] += sum[0] + sum[1];
        rows.sum[1] += sum[2] + sum[3];
        return raised;
    } else {
        const bool raised = softmax(s_rmem, old_weight, rows, all, p);
        take_weights(p_rmem, rows, s_rmem);
        return raised;
    }
}

// S, softmax, O: one tile after another.
DEVICE void attend(o_sums &o_rmem, row_state &rows, const q_fragments &q_rmem, walk &w, feeder &f,
                   const problem &all, const place &p) {
    for (; w.tile < w.end; w.tile += groups_kv) {
        score_sums s_rmem;
        weight_fragments p_rmem;
        float old_weight[2];
        const u32 k_full_smem = k_full(w.k.buffer), v_full_smem = v_full(w.v.buffer);
        mbarrier_wait(k_full_smem, w.k.parity);
        start_scores(s_rmem, q_rmem, k_buffer(w.k.buffer));
        if (k_lag == 0)
            f.k_read_to(w.tile);
        if (v_lag == 0)
            f.v_read_to(w.tile);
        wgmma_wait<0>();
        wgmma_hold(s_rmem);
        release(k_full_smem);
        if (k_lag > 0)
            f.k_read_to(w.tile + k_lag);
        if (w.tile >= w.masked)
            mask(s_rmem, w, p);
        const bool raised = softmax_taken(p_rmem, s_rmem, old_weight, rows, all, p);
        if (raised)
            rescale(o_rmem, old_weight);
        mbarrier_wait(v_full_smem, w.v.parity);
        end_turn(p);
        start_accumulate(o_rmem, p_rmem, v_buffer(w.v.buffer));
        w.k.advance(groups_kv);
        wgmma_wait<0>();
        wgmma_hold(o_rmem);
        release(v_full_smem);
        if (v_lag > 0)
            f.v_read_to(w.tile + v_lag);
        w.v.advance(groups_kv);
    }
}

// The same, but the scores of a tile are computed beside P V of the tile before, and P V goes on
// beside the softmax.
DEVICE void attend_overlapped(o_sums &o_rmem, row_state &rows, const q_fragments &q_rmem, walk &w,
                              feeder &f, const problem &all, const place &p) {
    score_sums s_rmem;
    weight_fragments p_rmem;
    float old_weight[2];
    if (w.tile >= w.end)
        return;
    mbarrier_wait(k_full(w.k.buffer), w.k.parity);
    start_scores(s_rmem, q_rmem, k_buffer(w.k.buffer));
    wgmma_wait<0>();
    wgmma_hold(s_rmem);
    release(k_full(w.k.buffer));
    w.k.advance(groups_kv);
    if (k_lag > 0)
        f.k_read_to(w.tile + k_lag);
    if (w.tile >= w.masked)
        mask(s_rmem, w, p);
    softmax(s_rmem, old_weight, rows, all, p);
    take_weights(p_rmem, rows, s_rmem);
    end_turn(p);
    w.tile += groups_kv;
    if (w.tile < w.end)
        mbarrier_wait(k_full(w.k.buffer), w.k.parity);
    for (; w.tile < w.end; w.tile += groups_kv) {
        const u32 k_full_smem = k_full(w.k.buffer), v_full_smem = v_full(w.v.buffer);
        start_scores(s_rmem, q_rmem, k_buffer(w.k.buffer));
        mbarrier_wait(v_full_smem, w.v.parity);
        start_accumulate(o_rmem, p_rmem, v_buffer(w.v.buffer));
        w.k.advance(groups_kv);
        w.v.advance(groups_kv);
        if (k_lag == 0)
            f.k_read_to(w.tile);
        if (v_lag == 0)
            f.v_read_to(w.tile - groups_kv);
        wgmma_wait<1>();
        wgmma_hold(s_rmem);
        release(k_full_smem);
        if (k_lag > 0)
            f.k_read_to(w.tile + k_lag);
        if (w.tile >= w.masked)
            mask(s_rmem, w, p);
        const bool raised = softmax(s_rmem, old_weight, rows, all, p);
        wgmma_hold(s_rmem);
        if (w.tile + groups_kv < w.end) // here, so that the wait below stays below the softmax
            mbarrier_wait(k_full(w.k.buffer), w.k.parity);
        wgmma_wait<0>();
        wgmma_hold(o_rmem);
        release(v_full_smem);
        if (v_lag > 0)
            f.v_read_to(w.tile);
        if (raised)
            rescale(o_rmem, old_weight);
        take_weights(p_rmem, rows, s_rmem);
        end_turn(p);
    }
    if (k_lag == 0)
        f.k_read_to(w.tile);
    if (v_lag == 0)
        f.v_read_to(w.tile - groups_kv);
    mbarrier_wait(v_full(w.v.buffer), w.v.parity);
    start_accumulate(o_rmem, p_rmem, v_buffer(w.v.buffer));
    wgmma_wait<0>();
    wgmma_hold(o_rmem);
    release(v_full(w.v.buffer));
    w.v.advance(groups_kv);
    f.v_read_to(w.tile);
}

// Tiles that later queries see and those of this warpgroup do not: given back unread.
DEVICE void pass_over(walk &w, feeder &f, const unit &u, const place &p) {
    for (; w.tile < u.end_tile; w.tile += groups_kv) {
        begin_turn(p);
        end_turn(p);
        mbarrier_wait(k_full(w.k.buffer), w.k.parity);
        release(k_full(w.k.buffer));
        w.k.advance(groups_kv);
        f.k_read_to(w.tile + groups_kv);
        mbarrier_wait(v_full(w.v.buffer), w.v.parity);
        release(v_full(w.v.buffer));
        w.v.advance(groups_kv);
        f.v_read_to(w.tile + groups_kv);
    }
}

// ---- The schedule ----

#if KV_SPLITS > 1 && ORDER == ORDER_TILES
#define CLUSTER __cluster_dims__(KV_SPLITS, 1, 1)
#elif KV_SPLITS > 1
#define CLUSTER __cluster_dims__(1, 1, KV_SPLITS)
#else
#define CLUSTER
#endif

extern "C" __global__ void __launch_bounds__(threads, min_ctas) CLUSTER
    attention_fwd_hopper(const __grid_constant__ tensor_map k_map,
                         const __grid_constant__ tensor_map v_map, const element *__restrict__ q,
                         element *__restrict__ o, float *__restrict__ lse, int S, int S_KV,
                         int batches, int heads, int x_inverse, int y_inverse, int group_inverse,
                         float scale, u32 q_batch, u32 q_head, int q_row, u32 o_batch, u32 o_head,
                         int o_row) {
    const problem all{S,
                      S_KV,
                      batches,
                      heads,
                      x_inverse,
                      y_inverse,
                      group_inverse,
                      (scale > 0 ? scale : usual_scale) * log2_e,
                      {q_batch, q_head, q_row},
                      {o_batch, o_head, o_row}};
    const place p{};
    const int units = persistent ? batches * heads * ceil_div(S, block_m) : 1;
    const int first_unit = persistent ? blockIdx.x : 0, step = persistent ? gridDim.x : 1;
    make_barriers();
    if constexpr (kv_splits > 1)
        cluster_arrive(); // this block runs: others may write to its shared memory
    if (producer && p.warp >= consumers / 32) {
        if constexpr (move_registers)
            set_registers_down<24>();
        if (threadIdx.x == consumers) {
            loader copies{k_map, v_map};
            for (int number = first_unit; number < units; number += step)
                copies.load_all(find_unit(number, all));
        }
        return;
    }
    if constexpr (move_registers)
        set_registers_up<consumer_registers>();
    walk w;
    w.k.advance(p.set), w.v.advance(p.set);
    if (turns && p.group == groups - 1)
        end_turn(p); // warpgroup 0 may begin
    for (int number = first_unit; number < units; number += step) {
        const unit u = find_unit(number, all);
        element *o_gmem = o + all.o.to_head(u.batch, u.head);
        const i64 line = static_cast<i64>(u.batch * heads + u.head) * S; // of its first query
        feeder f{{k_map, v_map}, u, p.warp == (groups_m - 1) * 4 && threadIdx.x % 32 == 0};
        q_fragments q_rmem;
        o_sums o_rmem = {};
        row_state rows(all.scale);
        f.copies.begin(u);
        f.k_read_to(u.first_tile), f.v_read_to(u.first_tile);
        w.begin(u, p, S, S_KV);
        load_q(q_rmem, q + all.q.to_head(u.batch, u.head), w.row - p.g, all);
        (overlap ? attend_overlapped : attend)(o_rmem, rows, q_rmem, w, f, all, p);
        if (causal)
            pass_over(w, f, u, p);
        total_rows(rows);
        if constexpr (groups_kv > 1)
            merge_sets(o_rmem, rows, all, p);
        if constexpr (kv_splits > 1) {
            const int rank = cluster_rank();
            cluster_wait(); // all blocks run
            if (p.set == 0)
                hand_parts(o_rmem, rows, rank);
            cluster_arrive();
            cluster_wait(); // the parts of all blocks are there
            if (p.set == 0)
                end_part(o_gmem, lse, line, o_rmem, rows, rank, w, all, p);
        } else if (p.set == 0) {
            store_o(o_gmem, lse, line, o_rmem, rows, w, all, p);
        }
    }
}
