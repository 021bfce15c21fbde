// Hopper primitives (sm_90a): mbarrier, TMA, named barriers, wgmma, clusters, and here setmaxnreg and elect.sync.
// A warpgroup is four consecutive warps, the first of them a multiple of four.
#ifndef EVOTILE_LIB_HOPPER
#define EVOTILE_LIB_HOPPER

#include "lib/cluster.cuh"
#include "lib/mbarrier.cuh"
#include "lib/named_barrier.cuh"
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

#endif
