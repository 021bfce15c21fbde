// Reductions over the lanes of a warp. `width` is a power of two: lanes are reduced in aligned
// groups of that many, and every lane of a group gets the group's result.
#ifndef EVOTILE_LIB_WARP
#define EVOTILE_LIB_WARP

#include "lib/types.cuh"

template <int width> DEVICE float lanes_max(float value) {
#pragma unroll
    for (int step = width / 2; step > 0; step /= 2)
        value = fmaxf(value, __shfl_xor_sync(full_warp_mask, value, step));
    return value;
}

template <int width> DEVICE float lanes_sum(float value) {
#pragma unroll
    for (int step = width / 2; step > 0; step /= 2)
        value += __shfl_xor_sync(full_warp_mask, value, step);
    return value;
}

// Transposes a 4x4 matrix held by four neighbouring lanes: lane t's `words` are row t. (Uses
// selects, because registers cannot be indexed dynamically.)
DEVICE void lanes_transpose(u32 (&words)[4]) {
    const bool odd = threadIdx.x & 1, upper = threadIdx.x & 2;
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
        const u32 received = __shfl_xor_sync(full_warp_mask, odd ? words[i] : words[i + 1], 1);
        words[i] = odd ? received : words[i];
        words[i + 1] = odd ? words[i + 1] : received;
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const u32 received = __shfl_xor_sync(full_warp_mask, upper ? words[i] : words[i + 2], 2);
        words[i] = upper ? received : words[i];
        words[i + 2] = upper ? words[i + 2] : received;
    }
}

#endif
