// Barriers of a part of a block: 1 to 15 (0 is __syncthreads), for `threads` threads that arrive or
// wait, a multiple of 32.
#ifndef EVOTILE_LIB_NAMED_BARRIER
#define EVOTILE_LIB_NAMED_BARRIER

#include "lib/types.cuh"

DEVICE void named_barrier_sync(int number, int threads) {
    asm volatile("bar.sync %0, %1;" : : "r"(number), "r"(threads) : "memory");
}

DEVICE void named_barrier_arrive(int number, int threads) {
    asm volatile("bar.arrive %0, %1;" : : "r"(number), "r"(threads) : "memory");
}

#endif
