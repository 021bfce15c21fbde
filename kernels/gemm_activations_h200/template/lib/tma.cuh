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

#include "lib/types.cuh"

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
