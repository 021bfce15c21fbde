// Asynchronous communication between a cluster's two blocks, for the faults that misuse it.
#pragma once

static __device__ unsigned at(const void *smem) {
    return (unsigned)__cvta_generic_to_shared(smem);
}

static __device__ unsigned across(const void *smem, unsigned rank) {
    unsigned there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at(smem)), "r"(rank));
    return there;
}

static __device__ void meet() {
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" : : : "memory");
}

// Initialises the mbarrier for `bytes` bytes, and waits until the other block has initialised its own; returns the rank.
static __device__ unsigned begin(unsigned long long *barrier, unsigned bytes) {
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.mbarrier_init.release.cluster; "
                     "mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;"
                     :
                     : "r"(at(barrier)), "r"(bytes)
                     : "memory");
    meet();
    return 1 - rank;
}

static __device__ void await(unsigned long long *barrier) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0; "
                 "@!p bra again; }"
                 :
                 : "r"(at(barrier))
                 : "memory");
}

static __device__ void store(unsigned to, unsigned value, unsigned barrier) {
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
                 :
                 : "r"(to), "r"(value), "r"(barrier)
                 : "memory");
}

static __device__ void add(unsigned to, unsigned value, unsigned barrier) {
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];"
                 :
                 : "r"(to), "r"(value), "r"(barrier)
                 : "memory");
}

static __device__ void send(unsigned to, const void *from, unsigned bytes, unsigned barrier) {
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :
                 : "r"(to), "r"(at(from)), "r"(bytes), "r"(barrier)
                 : "memory");
}

// In a bulk group of its own.
static __device__ void reduce(unsigned *to, const void *from, unsigned bytes) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2; "
                 "cp.async.bulk.commit_group;"
                 :
                 : "l"(to), "r"(at(from)), "r"(bytes)
                 : "memory");
}

static __device__ void fence() {
    asm volatile("fence.proxy.async;" : : : "memory");
}
