// Stream-K: the tiles of all work stand in a row and are divided into equal shares, one a block,
// whatever belongs together; a block's share may begin and end inside a unit of work. Here the work
// is `count` groups, of which only the kernel knows how many tiles each has. Every warp finds out
// for itself, without a barrier. Sums of tiles must be below 2^31.
#ifndef EVOTILE_LIB_STREAM_K
#define EVOTILE_LIB_STREAM_K

#include "lib/types.cuh"

// The sum of the values of this lane and of those before it.
DEVICE int lanes_prefix_sum(int value) {
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        const int before = __shfl_up_sync(full_warp_mask, value, distance);
        value += threadIdx.x % 32 >= distance ? before : 0;
    }
    return value;
}

// The tiles of all groups; `tiles(i)` gives those of group i.
template <typename tiles_of> DEVICE int sum_tiles(int count, const tiles_of &tiles) {
    int own = 0;
    for (int i = threadIdx.x % 32; i < count; i += 32)
        own += tiles(i);
    return __shfl_sync(full_warp_mask, lanes_prefix_sum(own), 31);
}

// The group of the tile at `position`, which becomes the position within it. There must be one.
template <typename tiles_of>
DEVICE int find_group(int count, const tiles_of &tiles, int &position) {
    for (int first = 0;; first += 32) {
        const int group = first + threadIdx.x % 32;
        const int own = group < count ? tiles(group) : 0;
        const int end = lanes_prefix_sum(own);
        const u32 later = __ballot_sync(full_warp_mask, end > position);
        const int lane = later ? __ffs(later) - 1 : 31;
        const int passed = __shfl_sync(full_warp_mask, later ? end - own : end, lane);
        position -= passed;
        if (later)
            return first + lane;
    }
}

#endif
