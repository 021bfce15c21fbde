// mbarriers in their less common forms, and named barriers; 128 threads. The host knows the expected
// out[i] of step i.
#include "lib/cp_async.cuh"
#include "lib/hopper.cuh"

DEVICE u64 arrive(u32 barrier, int count) {
    u64 state;
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1], %2;"
                 : "=l"(state)
                 : "r"(barrier), "r"(count)
                 : "memory");
    return state;
}

DEVICE u64 arrive_drop(u32 barrier) {
    u64 state;
    asm volatile("mbarrier.arrive_drop.shared::cta.b64 %0, [%1];"
                 : "=l"(state)
                 : "r"(barrier)
                 : "memory");
    return state;
}

DEVICE bool has_ended(u32 barrier, u64 state) {
    u32 ended;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2; "
                 "selp.u32 %0, 1, 0, p; }"
                 : "=r"(ended)
                 : "r"(barrier), "l"(state)
                 : "memory");
    return ended;
}

DEVICE u32 pending_count(u64 state) {
    u32 count;
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(state));
    return count;
}

extern "C" __global__ void __launch_bounds__(128) barriers(u32 *out_gmem) {
    __shared__ u64 barriers_smem[2];
    __shared__ u32 sum_smem;
    const u32 barrier = smem_address(barriers_smem), other = barrier + 8;
    const int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        mbarrier_init(barrier, 3);
        mbarrier_init(other, 128);
        sum_smem = 0;
        // A phase of three arrivals, tested by state tokens.
        const u64 first = arrive(barrier, 2);
        out_gmem[0] = pending_count(first); // 3: before this arrival
        out_gmem[1] = has_ended(barrier, first);
        const u64 last = arrive(barrier, 1);
        out_gmem[2] = pending_count(last); // 1
        out_gmem[3] = has_ended(barrier, first) && has_ended(barrier, last);
        out_gmem[4] = mbarrier_test_wait(barrier, 0) && !mbarrier_test_wait(barrier, 1);
        // One thread drops out: the next phase expects two arrivals.
        arrive_drop(barrier);
        arrive(barrier, 2);
        out_gmem[5] = pending_count(arrive(barrier, 2)); // 2
        out_gmem[6] = mbarrier_test_wait(barrier, 0) && !mbarrier_test_wait(barrier, 1);
        // Bytes that arrive before expect_tx, and expect_tx without an arrival.
        mbarrier_expect_bytes(barrier, 8);
        arrive(barrier, 2);
        out_gmem[7] = mbarrier_test_wait(barrier, 1);
        asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 8;"
                     :
                     : "r"(barrier)
                     : "memory");
        out_gmem[8] = mbarrier_test_wait(barrier, 1);
    }
    __syncthreads(); // the barriers are initialised
    // Each thread's addition is visible after a phase of all threads, ten times.
    for (int turn = 0; turn < 10; ++turn) {
        atomicAdd(&sum_smem, 1u);
        mbarrier_arrive(other);
        mbarrier_wait(other, turn & 1);
    }
    if (threadIdx.x == 0)
        out_gmem[9] = sum_smem;
    __syncthreads(); // all threads have read the sum
    // Warps 0 and 1 synchronise at one named barrier; 2 waits at another, where 3 only arrives.
    if (warp < 2)
        named_barrier_sync(1, 64);
    else if (warp == 2)
        named_barrier_sync(2, 64);
    else
        named_barrier_arrive(2, 64);
    if (elect_lane())
        atomicAdd(&sum_smem, 1u);
    cluster_arrive();
    cluster_wait();
    if (threadIdx.x == 0) {
        out_gmem[10] = sum_smem; // 1 for each warp
        out_gmem[11] = cluster_rank() == 0 && cluster_size() == 1 &&
                       map_to_block(barrier, 0) % 1024 == barrier % 1024;
    }
}
