// Which steps of which tiles the blocks of a launch take by templates/lib/split_tiles.cuh: a thread
// plays a block.
#include "lib/split_tiles.cuh"

template <bool stream_k, int splits>
DEVICE void count_parts(u32 *steps_gmem, u32 *parts_gmem, u32 *sharers_gmem, u32 *places_gmem,
                        int tiles, int steps, int blocks) {
    tile_parts<stream_k, splits> own(tiles, steps, threadIdx.x, blocks);
    tile_part part;
    while (own.take(part)) {
        for (int step = part.first; step < part.end; ++step)
            atomicAdd(steps_gmem + part.tile * steps + step, 1u);
        atomicAdd(parts_gmem + part.tile, 1u);
        atomicMax(sharers_gmem + part.tile, static_cast<u32>(part.sharers));
        if (part.sharers > 1)
            atomicAdd(places_gmem + part.place(part.own), 1u);
    }
}

#define PARTS(NAME, STREAM_K, SPLITS)                                                              \
    extern "C" __global__ void NAME(u32 *steps_gmem, u32 *parts_gmem, u32 *sharers_gmem,           \
                                    u32 *places_gmem, int tiles, int steps, int blocks) {          \
        count_parts<STREAM_K, SPLITS>(steps_gmem, parts_gmem, sharers_gmem, places_gmem, tiles,    \
                                      steps, blocks);                                              \
    }
PARTS(whole_tiles, false, 1)
PARTS(three_splits, false, 3)
PARTS(streamed, true, 1)
