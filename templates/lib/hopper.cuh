// What Hopper (sm_90a) has beyond the chips before it: barriers in shared memory, the copy engine,
// products of a warpgroup, and here what is needed around them. A warpgroup is four warps in a row,
// the first of them a multiple of four.
#ifndef EVOTILE_LIB_HOPPER
#define EVOTILE_LIB_HOPPER

#include "lib/cluster.cuh"
#include "lib/mbarrier.cuh"
#include "lib/pdl.cuh"
#include "lib/tma.cuh"
#include "lib/types.cuh"
#include "lib/wgmma.cuh"

// All warps of a warpgroup together: from here on each thread has `count` registers (a multiple of
// 8, 24 to 256); more wait until others gave theirs back. Ignored by the compiler unless it knows
// what the kernel begins with: __launch_bounds__(threads, 1).
template <int count> DEVICE void setmaxnreg_inc() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(count));
}

template <int count> DEVICE void setmaxnreg_dec() {
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

DEVICE void named_barrier_sync(int number, int threads) {
    asm volatile("bar.sync %0, %1;" : : "r"(number), "r"(threads) : "memory");
}

DEVICE void named_barrier_arrive(int number, int threads) {
    asm volatile("bar.arrive %0, %1;" : : "r"(number), "r"(threads) : "memory");
}

#endif
