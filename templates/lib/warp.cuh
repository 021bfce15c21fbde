// Reductions over the lanes of a warp. `width` is a power of two: lanes are reduced in aligned
// groups of that many, and every lane of a group gets the group's result.
#ifndef EVOTILE_LIB_WARP
#define EVOTILE_LIB_WARP

#include "lib/types.cuh"

template <int width> DEVICE float lanes_max(float value) {
#pragma unroll
    for (int step = width / 2; step > 0; step /= 2)
        value = fmaxf(value, __shfl_xor_sync(full_warp, value, step));
    return value;
}

template <int width> DEVICE float lanes_sum(float value) {
#pragma unroll
    for (int step = width / 2; step > 0; step /= 2)
        value += __shfl_xor_sync(full_warp, value, step);
    return value;
}

#endif
