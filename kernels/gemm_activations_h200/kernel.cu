// kernel.cu: gemm, exported by evotile. Generated: do not edit.
//
// wgmma and TMA on Hopper: a producer warp, clusters with multicast, cooperative or ping-pong
// consumers, few rows as columns
//
// The genes and specialised dimensions of variant N are macros of variant_N.h;
// nvcc -DEVOTILE_VARIANT=N selects it.
//
// replay: evotile replay gemm_activations_h200

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

// C = epilogue(A B) in half or bfloat16 with float sums, on Hopper: wgmma and TMA (sm_90a).
//
//   A         [BATCH, M, K], or [BATCH, K, M] with TRANS_A
//   B         [BATCH, K, N], or [BATCH, N, K] with TRANS_B
//   C         [BATCH, M, N], like the residual; the bias is [N]
//
// The product of a tile is D = P Q of BLOCK_M rows and BLOCK_N columns: P and Q are A and B, or
// with SWAP the transposed B and A, so that D is a tile of the transposed C and few rows of A are
// the few columns of a wgmma. A producer warp loads tiles of P and Q of BLOCK_K steps into a
// pipeline of STAGES stages; the blocks of a cluster share what they load. Consumer warpgroups
// multiply: all of them one tile, or, with PINGPONG, two of them tiles of their own in turn.
// README.md of the problem has a diagram.

// cp.async: asynchronous copies from global to shared memory. A thread's copies are grouped by
// commit. A wait is by group and covers only the thread's own copies: a barrier must follow before
// other threads' copies are read. sm_80 and later.
#ifndef EVOTILE_LIB_CP_ASYNC
#define EVOTILE_LIB_CP_ASYNC

// Shared memory addresses, loads.
#ifndef EVOTILE_LIB_SMEM
#define EVOTILE_LIB_SMEM

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
// What a linear layer does to its sums before it rounds them.
#ifndef EVOTILE_LIB_LINEAR_EPILOGUE
#define EVOTILE_LIB_LINEAR_EPILOGUE

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

// x / (1 + 2^-y): x for large y, and 0 for y towards minus infinity. For y < 0 it is
// x 2^y / (1 + 2^y), with 2^y as a square: the result is a normal number where 2^y and 1 / 2^-y no
// longer are.
DEVICE float times_sigmoid_base_2(float x, float y) {
    const float root = exp2_fast(-0.5f * fabsf(y)); // of 2^-|y|
    const float above = x * reciprocal_fast(1.0f + root * root);
    return y < 0 ? above * root * root : above;
}

// z sigmoid(z).
DEVICE float silu(float z) {
    return times_sigmoid_base_2(z, 1.4426950408889634f * z); // log2(e)
}

// GELU by tanh, which is z sigmoid(2 sqrt(2 / pi) (z + 0.044715 z^3)).
DEVICE float gelu_tanh(float z) {
    return times_sigmoid_base_2(z, z * (2.3022081984f + 0.1029432396f * z * z));
}

enum class linear_epilogue { none, bias, bias_gelu, bias_silu, residual };

// The sum with its element of the bias or of the residual.
template <linear_epilogue kind> DEVICE float apply_epilogue(float sum, float addend) {
    if constexpr (kind == linear_epilogue::none)
        return sum;
    else if constexpr (kind == linear_epilogue::bias_gelu)
        return gelu_tanh(sum + addend);
    else if constexpr (kind == linear_epilogue::bias_silu)
        return silu(sum + addend);
    else
        return sum + addend;
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
// Tiles whose sums have `steps` steps each, divided over the blocks of a launch, and the sums of
// tiles that several blocks share. Two schedules:
//   splits    every tile is `splits` parts of equally many steps; the blocks take parts in turn,
//             neighbouring blocks those of one tile
//   stream_k  whole tiles for all but the last one to two rounds; the steps of the tiles that are
//             left stand in a row and are divided equally, whatever tile they belong to
// A thread's float sums are added in the order of the steps, so that every call gives the same
// bits.
#ifndef EVOTILE_LIB_SPLIT_TILES
#define EVOTILE_LIB_SPLIT_TILES


// Steps [first, end) of a tile's sum, perhaps none. It is the `own`-th of `sharers` parts, whose
// places in the workspace are place(0), place(1) and so on.
struct tile_part {
    int tile, first, end, sharers, own;
    int place_of_first, place_of_others; // of the first part; of the others, in steps of `stride`
    int stride;

    DEVICE int place(int part) const {
        return part == 0 ? place_of_first : place_of_others + part * stride;
    }

    // Where `blocks` blocks have a tile each and divide its steps alike: the part of the one with
    // this rank.
    DEVICE tile_part of_rank(int rank, int blocks) const {
        return {tile * blocks + rank,
                first,
                end,
                sharers,
                own,
                place_of_first * blocks + rank,
                place_of_others * blocks + rank,
                stride * blocks};
    }
};

// The parts of this block, one after another. The workspace has a place for each part of `splits`,
// two for each block of stream_k.
template <bool stream_k, int splits> struct tile_parts {
    int tiles, steps; // of the launch; of each tile
    int block, blocks;
    int next;      // splits: part; stream_k: whole tile
    int step, end; // stream_k: of the block's share of the steps of the tiles that are left

    DEVICE tile_parts(int tiles, int steps, int block, int blocks)
        : tiles(tiles), steps(steps), block(block), blocks(blocks), next(block), step(0), end(0) {
        if constexpr (stream_k)
            if (block < sharing_blocks()) {
                step = share_of(block);
                end = share_of(block + 1);
            }
    }

    DEVICE int whole_tiles() const {
        return max(tiles / blocks - 1, 0) * blocks;
    }
    DEVICE int shared_steps() const {
        return (tiles - whole_tiles()) * steps;
    }
    DEVICE int sharing_blocks() const { // so that each of them has a step
        return min(blocks, shared_steps());
    }
    DEVICE int share_of(int of) const {
        return static_cast<int>(multiply_wide(of, shared_steps()) / sharing_blocks());
    }
    // The block that has this step: the last one whose share begins at it or before.
    DEVICE int block_of(int of) const {
        return static_cast<int>((multiply_wide(of + 1, sharing_blocks()) - 1) / shared_steps());
    }

    // Whether there is another part, which `part` becomes.
    DEVICE bool take(tile_part &part) {
        if constexpr (!stream_k) {
            if (next >= tiles * splits)
                return false;
            const int tile = next / splits, own = next % splits;
            part = {tile,
                    own * steps / splits,
                    (own + 1) * steps / splits,
                    splits,
                    own,
                    tile * splits,
                    tile * splits,
                    1};
            next += blocks;
            return true;
        } else {
            if (next < whole_tiles()) {
                part = {next, 0, steps, 1, 0, 0, 0, 0};
                next += blocks;
                return true;
            }
            if (step >= end)
                return false;
            const int of_shared = step / steps, start = of_shared * steps;
            const int first_block = block_of(start), last_block = block_of(start + steps - 1);
            // A share's first part may begin inside a tile, and its last one end inside another.
            part = {whole_tiles() + of_shared, step - start,
                    min(end - start, steps),   last_block - first_block + 1,
                    block - first_block,       2 * first_block + 1,
                    2 * first_block,           2};
            step = start + part.end;
            return true;
        }
    }
};

// Called by threads of a block that share the barrier `sync`. `threads` of them have sums of a part
// of a tile, with the same layout in each block: `has_sums`, and `thread` counts them. `last_smem`
// is a word in shared memory. The tile's counter in global memory is zero when the launch begins,
// parts_gmem is the workspace, registers / 4 * threads vectors a place. Returns true in the block
// that comes last, with the sums of all parts.
template <int threads, int registers, typename barrier>
DEVICE bool add_parts(float (&sums)[registers], const tile_part &part, float4 *parts_gmem,
                      u32 *counter_gmem, u32 *last_smem, int thread, bool has_sums,
                      const barrier &sync) {
    constexpr int vectors = registers / 4;
    static_assert(registers % 4 == 0, "sums are stored in vectors of four");
    const auto place_gmem = [&](int of) {
        return parts_gmem + static_cast<i64>(part.place(of)) * (vectors * threads) + thread;
    };
    if (has_sums)
#pragma unroll
        for (int i = 0; i < vectors; ++i)
            place_gmem(part.own)[i * threads] =
                make_float4(sums[4 * i], sums[4 * i + 1], sums[4 * i + 2], sums[4 * i + 3]);
    __threadfence(); // this thread's sums are visible before the part is counted,
    sync();          // and those of the other threads
    if (has_sums && thread == 0)
        *last_smem = atomicAdd(counter_gmem, 1u) == static_cast<u32>(part.sharers) - 1;
    sync();
    if (!*last_smem)
        return false;
    __threadfence(); // no later read is moved before the count
    if (!has_sums)
        return true;
#pragma unroll
    for (int i = 0; i < registers; ++i)
        sums[i] = 0;
    for (int of = 0; of < part.sharers; ++of) {
        const float4 *from_gmem = place_gmem(of);
#pragma unroll
        for (int i = 0; i < vectors; ++i) {
            const float4 added = from_gmem[i * threads];
            sums[4 * i] += added.x;
            sums[4 * i + 1] += added.y;
            sums[4 * i + 2] += added.z;
            sums[4 * i + 3] += added.w;
        }
    }
    return true;
}

#endif
// The order in which blocks take the tiles of a matrix, so that those that run at once share rows
// and columns of its factors in L2.
#ifndef EVOTILE_LIB_TILE_ORDER
#define EVOTILE_LIB_TILE_ORDER


struct tile_place {
    int m, n; // tile row and tile column
};

// The place of the tile with this number among tiles_m x tiles_n: `group` rows of tiles, or those
// that are left, are taken column by column.
DEVICE tile_place place_of_tile(int tile, int tiles_m, int tiles_n, int group) {
    const int first_m = tile / (group * tiles_n) * group;
    const int height = min(group, tiles_m - first_m);
    const int within = tile - first_m * tiles_n;
    return {first_m + within % height, within / height};
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

// ---- Genes ----

#if !defined(SWAP) || !defined(BLOCK_M) || !defined(BLOCK_N) || !defined(BLOCK_K) ||               \
    !defined(CONSUMERS) || !defined(PINGPONG) || !defined(PRODUCER) || !defined(STAGES) ||         \
    !defined(CLUSTER_M) || !defined(CLUSTER_N) || !defined(SCHEDULE) || !defined(SPLITS) ||        \
    !defined(COMBINE) || !defined(PERSISTENT) || !defined(STORE) || !defined(GROUP) ||             \
    !defined(MIN_CTAS) || !defined(TRANS_A) || !defined(TRANS_B) || !defined(BF16) ||              \
    !defined(EPILOGUE)
#error "a gene or a specialised dimension is not defined: see solution.json"
#endif

using element = conditional_t<BF16, bf16, f16>;
constexpr linear_epilogue epilogue = static_cast<linear_epilogue>(EPILOGUE);
constexpr bool swapped = SWAP;
constexpr int block_m = BLOCK_M, block_n = BLOCK_N, block_k = BLOCK_K;
constexpr int consumers = CONSUMERS; // warpgroups that multiply
constexpr bool pingpong = PINGPONG;  // each has tiles of its own, and they multiply in turn
constexpr bool producer_warpgroup = PRODUCER == PRODUCER_WARPGROUP; // releases its registers
constexpr int stages = STAGES;
constexpr int cluster_m = CLUSTER_M, cluster_n = CLUSTER_N; // tiles of a cluster's blocks
constexpr bool stream_k = SCHEDULE == SCHEDULE_STREAM_K;
constexpr int splits = SPLITS;                          // blocks that share the sum of a tile
constexpr bool in_cluster = COMBINE == COMBINE_CLUSTER; // and combine it as a cluster
constexpr bool in_workspace = stream_k || (splits > 1 && !in_cluster);
constexpr bool persistent = PERSISTENT && !in_cluster; // a block has several parts, in turn
constexpr bool store_by_tma = STORE == STORE_TMA;
constexpr int group = GROUP; // rows of cluster tiles that run together
constexpr int min_ctas = MIN_CTAS;

// ---- Derived sizes ----

constexpr int cluster_blocks = cluster_m * cluster_n; // that load together
constexpr int consumer_threads = consumers * 128;
constexpr int threads = consumer_threads + (producer_warpgroup ? 128 : 32);
constexpr int sum_threads = pingpong ? 128 : consumer_threads; // that have the sums of a tile
constexpr int warpgroup_rows = pingpong ? block_m : block_m / consumers;
constexpr int m_tiles = warpgroup_rows / 64, n_tiles = block_n / 8;
constexpr int registers = m_tiles * n_tiles * 4;

// Registers per thread: at launch and, where a producer warpgroup keeps only 24, after the
// consumers have taken over the rest (solution.json computes the same). Registers are not
// reallocated where every thread has more than 168.
constexpr int launch_registers = 65536 / (ceil_div(threads, 128) * 128 * min_ctas) / 8 * 8;
constexpr int pool_registers = (launch_registers * (consumers + 1) - 24) / consumers / 8 * 8;
constexpr int consumer_registers = min_of(pool_registers, 240);
constexpr bool reallocate_registers = producer_warpgroup && launch_registers <= 168;

using sum_registers = float[m_tiles][n_tiles * 4];

// Included by kernel.cu: the pipeline of tiles of P and Q in shared memory, its producer, and the
// consumers' release.

// ---- Tiles in shared memory ----

// A tile of one factor, `extent` rows of P or columns of Q by block_k steps, as wgmma reads it with
// a swizzle of 128 bytes: panels of rows of 128 bytes. Of a factor that is stored k-major a panel
// has 64 steps of all `extent`; of one that is stored the other way, 64 of `extent` by all steps.
// `sharers` blocks of a cluster load an equal share of each panel's rows.
template <int extent, bool k_major, int sharers> struct factor_tile {
    static constexpr major order = k_major ? major::k : major::mn;
    static constexpr int bytes = extent * block_k * 2;
    static constexpr int panel_rows = k_major ? extent : block_k;
    static constexpr int panels = k_major ? block_k / 64 : extent / 64;
    static constexpr int panel_bytes = panel_rows * 128;
    static constexpr int share_rows = panel_rows / sharers;
    static_assert(share_rows % 8 == 0 && panels > 0, "swizzled rows come in groups of eight");

    // Issues this block's share of the loads of the tile that begins at `first` and step k.
    static DEVICE void load(u32 tile_smem, const tensor_map &map, u32 barrier_smem, int first,
                            int k, int batch, int share, u16 blocks) {
#pragma unroll
        for (int panel = 0; panel < panels; ++panel) {
            const u32 share_smem = tile_smem + panel * panel_bytes + share * share_rows * 128;
            const int x0 = (k_major ? k : first) + panel * 64;
            const int x1 = (k_major ? first : k) + share * share_rows;
            if constexpr (sharers > 1)
                tma_load_multicast(blocks, share_smem, map, barrier_smem, x0, x1, batch);
            else
                tma_load(share_smem, map, barrier_smem, x0, x1, batch);
        }
    }

    // Offset of the part that begins at `first`, a multiple of 64, and 16-step `step`.
    static DEVICE constexpr u32 offset(int first, int step) {
        return k_major ? step / 4 * panel_bytes + first * 128 + step % 4 * 32
                       : first / 64 * panel_bytes + step * 2048;
    }
    static DEVICE u64 descriptor(u32 tile_smem, int first) {
        return matrix_descriptor(tile_smem + offset(first, 0), panel_bytes, 1024, swizzle::by_128);
    }
};

using p_tile = factor_tile<block_m, swapped ? TRANS_B : !TRANS_A, cluster_n>;
using q_tile = factor_tile<block_n, swapped ? !TRANS_A : TRANS_B, cluster_m>;

// ---- Shared memory, in bytes ----
//
//   0              `stages` stages, of a tile of P and one of Q; in a cluster that shares a tile,
//                  after its last step: the sums of this block, by threads
//   panels_offset  of each warpgroup two panels of C that the copy engine stores: 64 rows each
//   barriers       two mbarriers per stage: full (the loads have completed), empty (all have read
//   it) flags          a word for each warpgroup: whether its block comes last

constexpr int stage_bytes = p_tile::bytes + q_tile::bytes;
constexpr int sums_bytes = in_cluster ? block_m * block_n * 4 : 0;
constexpr int panels_offset = max_of(stages * stage_bytes, sums_bytes);
constexpr int panel_columns = block_n % 64 == 0 ? 64 : 32; // with a swizzle of a row's bytes
constexpr int panel_bytes = 64 * panel_columns * 2;
constexpr int barriers_offset = panels_offset + (store_by_tma ? consumers * 2 * panel_bytes : 0);
constexpr int flags_offset = barriers_offset + 16 * stages;

extern __shared__ __align__(1024) unsigned char smem[];

static_assert(block_m % 64 == 0 && warpgroup_rows * (pingpong ? 1 : consumers) == block_m &&
                  warpgroup_rows % 64 == 0,
              "a warpgroup has 64 rows or a multiple of it");
static_assert(stage_bytes % 1024 == 0 && p_tile::bytes % 1024 == 0, "the swizzle's period");
static_assert(!pingpong || consumers == 2, "two warpgroups take turns");
static_assert(!store_by_tma || (!swapped && !in_cluster && block_n % 32 == 0),
              "panels of C have 64 or 32 columns, in whole tiles of it");
static_assert(!in_cluster || (!stream_k && splits > 1 && !pingpong),
              "a cluster that shares a sum has one part of it a block");

DEVICE u32 p_smem(int stage) {
    return smem_address(smem) + stage * stage_bytes;
}
DEVICE u32 q_smem(int stage) {
    return p_smem(stage) + p_tile::bytes;
}
DEVICE u32 full_barrier(int stage) {
    return smem_address(smem) + barriers_offset + 16 * stage;
}
DEVICE u32 empty_barrier(int stage) {
    return full_barrier(stage) + 8;
}

// The tile of D that a block computes: its first row and column, and its matrix of the batch.
struct block_tile {
    int batch, row, column;
};

// ---- Clusters ----

// What the cluster's threads wrote to shared memory before is visible behind it.
DEVICE void cluster_sync() {
    cluster_arrive();
    cluster_wait();
}

// All threads of the cluster have come so far.
DEVICE void cluster_meet() {
    cluster_arrive_relaxed();
    cluster_wait();
}

// The block among those that load together. Those with the same m have the same rows of P, those
// with the same n the same columns of Q. In a cluster that shares sums, each part of them has such
// blocks, one after another.
constexpr int sharing_blocks = cluster_m + cluster_n - 1; // that write to a block's stages

struct cluster_place {
    int first, rank, m, n; // the first block's rank in the cluster; this one's among them

    DEVICE cluster_place() {
        const int in_all = cluster_blocks > 1 ? static_cast<int>(cluster_rank()) : 0;
        rank = in_all % cluster_blocks;
        first = in_all - rank;
        m = rank % cluster_m;
        n = rank / cluster_m;
    }
    DEVICE u16 blocks_of_p() const {
        u32 blocks = 0;
#pragma unroll
        for (int i = 0; i < cluster_n; ++i)
            blocks |= 1u << (first + m + i * cluster_m);
        return blocks;
    }
    DEVICE u16 blocks_of_q() const {
        return ((1u << cluster_m) - 1) << (first + n * cluster_m);
    }
    // Where this lane says that its warp has read stage 0: at one of the blocks that write to this
    // block's stages, itself among them. 0: the lane says nothing.
    DEVICE u32 barrier_to_release() const {
        const int lane = threadIdx.x % 32;
        if constexpr (cluster_blocks == 1)
            return lane == 0 ? empty_barrier(0) : 0;
        const int other_m = lane - cluster_n + (lane - cluster_n >= m);
        const int to = lane < cluster_n ? m + lane * cluster_m : other_m + n * cluster_m;
        return lane < sharing_blocks ? map_to_block(empty_barrier(0), first + to) : 0;
    }
};

// Begins to initialise them; what follows needs no other block until await_barriers.
DEVICE void init_barriers() {
    if (threadIdx.x == 0) {
        for (int i = 0; i < stages; ++i) {
            mbarrier_init(full_barrier(i), 1);
            mbarrier_init(empty_barrier(i), sum_threads / 32 * sharing_blocks);
        }
        fence_mbarrier_init();
    }
    if constexpr (cluster_blocks > 1)
        cluster_arrive_relaxed();
}

// All blocks of the cluster run, and their barriers are initialised.
DEVICE void await_barriers() {
    if constexpr (cluster_blocks > 1)
        cluster_wait();
    else
        __syncthreads();
}

// Signals that the warp has read the stage.
DEVICE void release_stage(int stage, u32 release_smem) {
    if (release_smem) {
        if constexpr (cluster_blocks > 1)
            mbarrier_arrive_block(release_smem + 16 * stage);
        else
            mbarrier_arrive(release_smem + 16 * stage);
    }
    __syncwarp();
}

// The single thread that issues the loads of a part. A stage is empty when the consumers of all
// blocks to which it is written have read it. A wait for parity 1 on a fresh barrier returns at
// once, so the first round does not wait.
DEVICE void load_part(const tile_part &part, const block_tile &tile, pipeline_state<stages> &state,
                      const tensor_map &p_map, const tensor_map &q_map,
                      const cluster_place &cluster) {
#pragma unroll 1
    for (int step = part.first; step < part.end; ++step) {
        const u32 full = full_barrier(state.stage);
        mbarrier_wait(empty_barrier(state.stage), state.phase ^ 1);
        mbarrier_arrive_expect_bytes(full, stage_bytes);
        p_tile::load(p_smem(state.stage), p_map, full, tile.row, step * block_k, tile.batch,
                     cluster.n, cluster.blocks_of_p());
        q_tile::load(q_smem(state.stage), q_map, full, tile.column, step * block_k, tile.batch,
                     cluster.m, cluster.blocks_of_q());
        state.advance(1);
    }
}

// ---- Sums ----

// The steps of a part of a tile's sum. One group of products runs while the next one is issued.
DEVICE void sum_part(sum_registers &sums, const tile_part &part, pipeline_state<stages> &state,
                     int first_row, u32 release_smem) {
    const u64 p = p_tile::descriptor(p_smem(0), first_row), q = q_tile::descriptor(q_smem(0), 0);
    u32 previous = 0;
#pragma unroll 1
    for (int step = part.first; step < part.end; ++step) {
        const u32 stage_offset = state.stage * stage_bytes;
        mbarrier_wait(full_barrier(state.stage), state.phase);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < block_k / 16; ++i)
#pragma unroll
            for (int m = 0; m < m_tiles; ++m)
                wgmma<element, q_tile::order, p_tile::order>(
                    sums[m], descriptor_advance(p, stage_offset + p_tile::offset(m * 64, i)),
                    descriptor_advance(q, stage_offset + q_tile::offset(0, i)),
                    step > part.first || i > 0);
        wgmma_commit();
        wgmma_wait<1>();
        if (step > part.first)
            release_stage(previous, release_smem);
        previous = state.stage;
        state.advance(1);
    }
    wgmma_wait<0>();
#pragma unroll
    for (int m = 0; m < m_tiles; ++m)
        wgmma_hold(sums[m]);
    release_stage(previous, release_smem);
}

// Ping-pong: named barriers by which two warpgroups multiply in turn. The first one begins.
DEVICE void pass_turn(int warpgroup) {
    named_barrier_arrive(2 + (warpgroup ^ 1), 256);
}
DEVICE void await_turn(int warpgroup) {
    named_barrier_sync(2 + warpgroup, 256);
}

// Included by kernel.cu: from the sums of a tile to C.

// A barrier of the threads that have the sums of a tile.
DEVICE void sync_sums(int warpgroup) {
    named_barrier_sync(pingpong ? 4 + warpgroup : 1, sum_threads);
}

// The sums of all blocks that share the tile, in the one that comes last; false in the others.
DEVICE bool add_parts_of_blocks(sum_registers &sums, const tile_part &part, float4 *parts_gmem,
                                u32 *counters_gmem, int warpgroup) {
    u32 *flag_smem = reinterpret_cast<u32 *>(smem + flags_offset) + (pingpong ? warpgroup : 0);
    auto &flat = reinterpret_cast<float(&)[registers]>(sums);
    const bool last =
        add_parts<sum_threads>(flat, part, parts_gmem, counters_gmem + part.tile, flag_smem,
                               threadIdx.x % sum_threads, true, [=] { sync_sums(warpgroup); });
    sync_sums(warpgroup); // the flag has been read
    return last;
}

// The tile of C of a warpgroup and what its epilogue needs. Four neighbouring n-tiles of 8 columns
// are a group: its 16-byte stores have whole sectors of memory.
struct output_tile {
    element *c;
    const element *bias, *residual;
    int batch;
    i64 batch_offset; // in elements
    int row, column;  // of D: the warp's first row, the tile's first column
    int M, N;

    DEVICE output_tile(const block_tile &tile, int warpgroup, element *c, const element *bias,
                       const element *residual, int M, int N)
        : c(c), bias(bias), residual(residual), batch(tile.batch),
          batch_offset(multiply_wide(tile.batch, M) * N),
          row(tile.row + (pingpong ? 0 : warpgroup * warpgroup_rows) +
              static_cast<int>(threadIdx.x / 32 % 4) * 16),
          column(tile.column), M(M), N(N) {
    }

    static constexpr bool adds_residual = epilogue == linear_epilogue::residual;
    static constexpr bool adds_bias = epilogue != linear_epilogue::none && !adds_residual;

    DEVICE void write(const sum_registers &sums, const tensor_map &c_map) const {
        if constexpr (in_cluster)
            write_share(sums);
        else if constexpr (store_by_tma)
            write_panels(sums, c_map);
        else
#pragma unroll
            for (int m = 0; m < m_tiles; ++m)
#pragma unroll
                for (int n = 0; n < n_tiles; n += at_once) {
                    float values[at_once][4] = {};
                    take_values(values, sums[m], n);
                    write_columns(values, m, n);
                }
    }

    static constexpr int at_once = swapped ? 1 : 4; // n-tiles

    static DEVICE void take_values(float (&values)[at_once][4], const float (&sums)[n_tiles * 4],
                                   int n) {
#pragma unroll
        for (int i = 0; i < at_once; ++i)
#pragma unroll
            for (int e = 0; e < 4; ++e)
                if (n + i < n_tiles)
                    values[i][e] = sums[(n + i) * 4 + e];
    }

    // In a cluster that shares a sum: a share of the tile's columns, with the sums of all blocks.
    DEVICE void write_share(const sum_registers &sums) const {
        const u32 own_smem = smem_address(smem) + threadIdx.x % sum_threads * 16;
        sync_sums(0); // all stages have been read
#pragma unroll
        for (int i = 0; i < registers / 4; ++i) {
            const float *from = &sums[i / n_tiles][i % n_tiles * 4];
            store_smem_16(own_smem + i * sum_threads * 16,
                          make_uint4(__float_as_uint(from[0]), __float_as_uint(from[1]),
                                     __float_as_uint(from[2]), __float_as_uint(from[3])));
        }
        cluster_sync(); // the sums of all blocks are there
        const int rank = cluster_rank();
        const int split = rank / cluster_blocks, among = rank % cluster_blocks;
#pragma unroll
        for (int m = 0; m < m_tiles; ++m)
#pragma unroll
            for (int n = 0; n < n_tiles; n += at_once) {
                float values[at_once][4] = {};
                if ((m * ceil_div(n_tiles, at_once) + n / at_once) % splits != split)
                    continue;
#pragma unroll
                for (int i = 0; i < at_once; ++i)
                    if (n + i < n_tiles)
                        add_splits(values[i], own_smem + (m * n_tiles + n + i) * sum_threads * 16,
                                   among);
                write_columns(values, m, n);
            }
    }

    // The sum of four elements over the blocks of the cluster that have parts of it, in order.
    static DEVICE void add_splits(float (&values)[4], u32 vector_smem, int among) {
#pragma unroll
        for (int split = 0; split < splits; ++split) {
            const float4 added =
                load_shared_cluster_16(map_to_block(vector_smem, split * cluster_blocks + among));
            values[0] += added.x;
            values[1] += added.y;
            values[2] += added.z;
            values[3] += added.w;
        }
    }

    // 16 rows and the n-tiles from n on, at most at_once.
    DEVICE void write_columns(const float (&values)[at_once][4], int m, int n) const {
        constexpr int full_groups = n_tiles / at_once * at_once;
        if constexpr (swapped)
            write_transposed(values[0], row + m * 64, column + n * 8);
        else if (n < full_groups)
            write_group(values, row + m * 64, column + n * 8);
        else
#pragma unroll
            for (int i = 0; i < n_tiles - full_groups; ++i)
                write_pairs(values[i], row + m * 64, column + (n + i) * 8);
    }

    // Two neighbours of a row, with the pair that the epilogue adds to them.
    static DEVICE u32 finish(float low, float high, u32 added) {
        return pack_pair<element>(apply_epilogue<epilogue>(low, unpack_low<element>(added)),
                                  apply_epilogue<epilogue>(high, unpack_high<element>(added)));
    }

    DEVICE i64 place(int row, int column) const {
        return batch_offset + multiply_wide(row, N) + column;
    }

    // The results of 16 rows and four n-tiles: pairs[h][i] is of row lane / 4 + 8 h and n-tile i.
    // The four lanes of a row load 16 bytes of the residual each, and exchange pairs.
    DEVICE void finish_group(u32 (&pairs)[2][4], const float (*values)[4], int first_row,
                             int first_column) const {
        const int lane = threadIdx.x % 32, own_column = first_column + lane % 4 * 8;
        u32 bias_pairs[4] = {};
        if constexpr (adds_bias)
#pragma unroll
            for (int i = 0; i < 4; ++i)
                if (first_column + i * 8 < N)
                    bias_pairs[i] =
                        *reinterpret_cast<const u32 *>(bias + first_column + i * 8 + lane % 4 * 2);
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const int own_row = first_row + lane / 4 + h * 8;
            u32 added[4] = {bias_pairs[0], bias_pairs[1], bias_pairs[2], bias_pairs[3]};
            if constexpr (adds_residual) {
                if (own_row < M && own_column < N) {
                    const uint4 loaded =
                        *reinterpret_cast<const uint4 *>(residual + place(own_row, own_column));
                    added[0] = loaded.x, added[1] = loaded.y, added[2] = loaded.z,
                    added[3] = loaded.w;
                }
                lanes_transpose(added);
            }
#pragma unroll
            for (int i = 0; i < 4; ++i)
                pairs[h][i] = finish(values[i][h * 2], values[i][h * 2 + 1], added[i]);
        }
    }

    // 16 rows and four n-tiles: the four lanes of a row exchange pairs, so that each stores 16
    // bytes at a time.
    DEVICE void write_group(const float (*values)[4], int first_row, int first_column) const {
        const int lane = threadIdx.x % 32, own_column = first_column + lane % 4 * 8;
        u32 pairs[2][4];
        finish_group(pairs, values, first_row, first_column);
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const int own_row = first_row + lane / 4 + h * 8;
            lanes_transpose(pairs[h]);
            if (own_row < M && own_column < N)
                *reinterpret_cast<uint4 *>(c + place(own_row, own_column)) =
                    make_uint4(pairs[h][0], pairs[h][1], pairs[h][2], pairs[h][3]);
        }
    }

    // The copy engine stores panels of C, which it clips at the ends of C. A warpgroup fills one of
    // its two panels while the other one is read.
    DEVICE void write_panels(const sum_registers &sums, const tensor_map &c_map) const {
        constexpr int panels = block_n / panel_columns, row_chunks = panel_columns / 8;
        const int warpgroup = threadIdx.x / 128, warp = threadIdx.x / 32 % 4;
        const int lane = threadIdx.x % 32, tile_row = warp * 16 + lane % 16;
        const bool issues = threadIdx.x % 128 == 0;
        // 16-byte chunks of a row change places: bits 4 to 6 of an address by its bits 7 to 9, or
        // bits 4 and 5 by bits 7 and 8.
        const int swap = panel_columns == 64 ? tile_row % 8 : tile_row / 2 % 4;
#pragma unroll
        for (int m = 0; m < m_tiles; ++m)
#pragma unroll
            for (int panel = 0; panel < panels; ++panel) {
                const u32 panel_smem = smem_address(smem) + panels_offset +
                                       (warpgroup * 2 + (m * panels + panel) % 2) * panel_bytes;
                if (issues)
                    bulk_wait_read<(m_tiles * panels) % 2 == 0 ? 1 : 0>();
                named_barrier_sync(6 + warpgroup, 128); // the panel's last store has read it
#pragma unroll
                for (int part = 0; part < panel_columns / 32; ++part) {
                    const int n = panel * (panel_columns / 8) + part * 4;
                    float values[at_once][4] = {};
                    u32 pairs[2][4];
                    take_values(values, sums[m], n);
                    finish_group(pairs, values, row + m * 64, column + n * 8);
#pragma unroll
                    for (int i = 0; i < 4; i += 2) {
                        const int chunk = part * 4 + i + lane / 16;
                        stmatrix_x4(panel_smem + (tile_row * row_chunks + (chunk ^ swap)) * 16,
                                    pairs[0][i], pairs[1][i], pairs[0][i + 1], pairs[1][i + 1]);
                    }
                }
                fence_proxy_async();
                named_barrier_sync(6 + warpgroup, 128); // all have written
                if (issues) {
                    tma_store(c_map, panel_smem, column + panel * panel_columns,
                              row - warp * 16 + m * 64, batch);
                    bulk_commit();
                }
            }
    }

    // 16 rows and one n-tile, by pairs.
    DEVICE void write_pairs(const float (&values)[4], int first_row, int first_column) const {
        const int lane = threadIdx.x % 32, own_column = first_column + lane % 4 * 2;
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const int own_row = first_row + lane / 4 + h * 8;
            u32 added = 0;
            if (own_row >= M || own_column >= N)
                continue;
            if constexpr (adds_residual || adds_bias)
                added = *reinterpret_cast<const u32 *>(
                    adds_bias ? bias + own_column : residual + place(own_row, own_column));
            *reinterpret_cast<u32 *>(c + place(own_row, own_column)) =
                finish(values[h * 2], values[h * 2 + 1], added);
        }
    }

    // 16 rows and 8 columns of D, which are columns and rows of C.
    DEVICE void write_transposed(const float (&values)[4], int first_row, int first_column) const {
        const int lane = threadIdx.x % 32;
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const int from_row = first_row + lane / 4 + h * 8; // a column of C
            const int from_column = first_column + lane % 4 * 2;
            element added[2] = {};
            if constexpr (adds_bias)
                if (from_row < N)
                    added[0] = added[1] = bias[from_row];
            if constexpr (adds_residual)
#pragma unroll
                for (int e = 0; e < 2; ++e)
                    if (from_row < N && from_column + e < M)
                        added[e] = residual[place(from_column + e, from_row)];
            const u32 pair =
                movmatrix_trans(finish(values[h * 2], values[h * 2 + 1],
                                       added[0].bits | static_cast<u32>(added[1].bits) << 16));
            const int to_row = first_column + lane / 4;
            const int to_column = first_row + h * 8 + lane % 4 * 2;
            if (to_row < M && to_column < N)
                *reinterpret_cast<u32 *>(c + place(to_row, to_column)) = pair;
        }
    }
};

// ---- The schedule ----

#if COMBINE == COMBINE_CLUSTER || CLUSTER_M * CLUSTER_N > 1
#define CLUSTER                                                                                    \
    __cluster_dims__(CLUSTER_M *CLUSTER_N *(COMBINE == COMBINE_CLUSTER ? SPLITS : 1), 1, 1)
#else
#define CLUSTER
#endif

extern "C" __global__ void CLUSTER __launch_bounds__(threads, min_ctas)
    gemm_hopper(const __grid_constant__ tensor_map a_map, const __grid_constant__ tensor_map b_map,
                const __grid_constant__ tensor_map c_map, const element *__restrict__ bias,
                const element *__restrict__ residual, element *__restrict__ c, float4 *parts,
                u32 *counters, int M, int N, int K, int BATCH) {
    const bool loads = threadIdx.x == consumer_threads; // the thread that issues all loads
    if (loads) { // the maps come while the barriers are initialised
        prefetch_tensor_map(a_map);
        prefetch_tensor_map(b_map);
    }
    init_barriers();
    const cluster_place cluster{};
    const int tiles_m = ceil_div(swapped ? N : M, block_m * cluster_m);
    const int tiles_n = ceil_div(swapped ? M : N, block_n * cluster_n);
    tile_parts<stream_k, splits> own(tiles_m * tiles_n * BATCH, ceil_div(K, block_k),
                                     blockIdx.x / cluster_blocks, gridDim.x / cluster_blocks);
    const auto locate = [&](const tile_part &part) {
        const int batch = part.tile / (tiles_m * tiles_n);
        const tile_place place =
            place_of_tile(part.tile - batch * (tiles_m * tiles_n), tiles_m, tiles_n, group);
        return block_tile{batch, (place.m * cluster_m + cluster.m) * block_m,
                          (place.n * cluster_n + cluster.n) * block_n};
    };
    await_barriers();
    tile_part part;
    const int warpgroup = threadIdx.x / 128;
    if (warpgroup == consumers) {
        if constexpr (reallocate_registers)
            setmaxnreg_dec<24>();
        if (loads) {
            pipeline_state<stages> state;
            while (own.take(part)) {
                load_part(part, locate(part), state, swapped ? b_map : a_map,
                          swapped ? a_map : b_map, cluster);
                if constexpr (!persistent)
                    break;
            }
        }
        __syncwarp();
        if constexpr (in_cluster)
            cluster_sync(); // that of the consumers' sums
    } else {
        if constexpr (reallocate_registers)
            setmaxnreg_inc<consumer_registers>();
        pipeline_state<stages> state;
        const u32 release_smem = cluster.barrier_to_release();
        int number = 0; // of the part
        if (pingpong && warpgroup == 1)
            pass_turn(1);
        while (own.take(part)) {
            if (pingpong && number++ % 2 != warpgroup) {
                state.skip(part.end - part.first);
                continue;
            }
            sum_registers sums;
            if constexpr (pingpong)
                await_turn(warpgroup);
            sum_part(sums, part, state, pingpong ? 0 : warpgroup * warpgroup_rows, release_smem);
            if constexpr (pingpong)
                pass_turn(warpgroup);
            if (!in_workspace || part.sharers == 1 ||
                add_parts_of_blocks(sums, part.of_rank(cluster.rank, cluster_blocks), parts,
                                    counters, warpgroup))
                output_tile(locate(part), warpgroup, c, bias, residual, M, N).write(sums, c_map);
            if constexpr (!persistent)
                break;
        }
        if constexpr (store_by_tma)
            bulk_wait<0>(); // the panels have been stored
    }
    if constexpr (in_cluster || cluster_blocks > 1)
        cluster_meet(); // no other block uses this one's shared memory any more
}
