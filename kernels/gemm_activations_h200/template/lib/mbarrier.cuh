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

#include "lib/types.cuh"

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
