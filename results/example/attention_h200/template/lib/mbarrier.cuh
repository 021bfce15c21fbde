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

#include "lib/types.cuh"

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
