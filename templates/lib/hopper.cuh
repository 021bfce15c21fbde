// Hopper primitives (sm_90a): mbarrier, TMA, wgmma, clusters, and here setmaxnreg, elect.sync and
// named barriers. A warpgroup is four consecutive warps, the first of them a multiple of four.
#ifndef EVOTILE_LIB_HOPPER
#define EVOTILE_LIB_HOPPER

#include "lib/cluster.cuh"
#include "lib/mbarrier.cuh"
#include "lib/pdl.cuh"
#include "lib/tma.cuh"
#include "lib/types.cuh"
#include "lib/wgmma.cuh"

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

// ---- named barriers: 1 to 15 (0 is __syncthreads), for `threads` threads that arrive or wait, a
// multiple of 32 ----
// that arrive and wait, a multiple of 32 ----

DEVICE void named_barrier_sync(int number, int threads) {
    asm volatile("bar.sync %0, %1;" : : "r"(number), "r"(threads) : "memory");
}

DEVICE void named_barrier_arrive(int number, int threads) {
    asm volatile("bar.arrive %0, %1;" : : "r"(number), "r"(threads) : "memory");
}

#endif
