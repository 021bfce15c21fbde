// Thread block clusters: blocks that run concurrently and can access each other's shared memory.
// sm_90 and later; a kernel sets its cluster size by __cluster_dims__.
#ifndef EVOTILE_LIB_CLUSTER
#define EVOTILE_LIB_CLUSTER

#include "lib/types.cuh"

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
