// Tiles whose sums have `steps` steps each, divided over the blocks of a launch, and the sums of
// tiles that several blocks share. Two schedules:
//   splits    every tile is `splits` parts of equally many steps; the blocks take parts in turn,
//             neighbouring blocks those of one tile
//   stream_k  whole tiles for all but the last one to two rounds; the steps of the tiles that are
//             left stand in a row and are divided equally, whatever tile they belong to
// A thread's float sums are added in the order of the steps, so that every call gives the same
// bits.
#ifndef EVOTILE_LIB_SPLIT_TILES
#define EVOTILE_LIB_SPLIT_TILES

#include "lib/integer.cuh"
#include "lib/types.cuh"

// Steps [first, end) of a tile's sum, perhaps none. It is the `own`-th of `sharers` parts, whose
// places in the workspace are place(0), place(1) and so on.
struct tile_part {
    int tile, first, end, sharers, own;
    int place_of_first, place_of_others; // of the first part; of the others, in steps of `stride`
    int stride;

    DEVICE int place(int part) const {
        return part == 0 ? place_of_first : place_of_others + part * stride;
    }

    // Where `blocks` blocks have a tile each and divide its steps alike: the part of the one with
    // this rank.
    DEVICE tile_part of_rank(int rank, int blocks) const {
        return {tile * blocks + rank,
                first,
                end,
                sharers,
                own,
                place_of_first * blocks + rank,
                place_of_others * blocks + rank,
                stride * blocks};
    }
};

// The parts of this block, one after another. The workspace has a place for each part of `splits`,
// two for each block of stream_k.
template <bool stream_k, int splits> struct tile_parts {
    int tiles, steps; // of the launch; of each tile
    int block, blocks;
    int next;      // splits: part; stream_k: whole tile
    int step, end; // stream_k: of the block's share of the steps of the tiles that are left

    DEVICE tile_parts(int tiles, int steps, int block, int blocks)
        : tiles(tiles), steps(steps), block(block), blocks(blocks), next(block), step(0), end(0) {
        if constexpr (stream_k)
            if (block < sharing_blocks()) {
                step = share_of(block);
                end = share_of(block + 1);
            }
    }

    DEVICE int whole_tiles() const {
        return max(tiles / blocks - 1, 0) * blocks;
    }
    DEVICE int shared_steps() const {
        return (tiles - whole_tiles()) * steps;
    }
    DEVICE int sharing_blocks() const { // so that each of them has a step
        return min(blocks, shared_steps());
    }
    DEVICE int share_of(int of) const {
        return static_cast<int>(multiply_wide(of, shared_steps()) / sharing_blocks());
    }
    // The block that has this step: the last one whose share begins at it or before.
    DEVICE int block_of(int of) const {
        return static_cast<int>((multiply_wide(of + 1, sharing_blocks()) - 1) / shared_steps());
    }

    // Whether there is another part, which `part` becomes.
    DEVICE bool take(tile_part &part) {
        if constexpr (!stream_k) {
            if (next >= tiles * splits)
                return false;
            const int tile = next / splits, own = next % splits;
            part = {tile,
                    own * steps / splits,
                    (own + 1) * steps / splits,
                    splits,
                    own,
                    tile * splits,
                    tile * splits,
                    1};
            next += blocks;
            return true;
        } else {
            if (next < whole_tiles()) {
                part = {next, 0, steps, 1, 0, 0, 0, 0};
                next += blocks;
                return true;
            }
            if (step >= end)
                return false;
            const int of_shared = step / steps, start = of_shared * steps;
            const int first_block = block_of(start), last_block = block_of(start + steps - 1);
            // A share's first part may begin inside a tile, and its last one end inside another.
            part = {whole_tiles() + of_shared, step - start,
                    min(end - start, steps),   last_block - first_block + 1,
                    block - first_block,       2 * first_block + 1,
                    2 * first_block,           2};
            step = start + part.end;
            return true;
        }
    }
};

// Called by threads of a block that share the barrier `sync`. `threads` of them have sums of a part
// of a tile, with the same layout in each block: `has_sums`, and `thread` counts them. `last_smem`
// is a word in shared memory. The tile's counter in global memory is zero when the launch begins,
// parts_gmem is the workspace, registers / 4 * threads vectors a place. Returns true in the block
// that comes last, with the sums of all parts.
template <int threads, int registers, typename barrier>
DEVICE bool add_parts(float (&sums)[registers], const tile_part &part, float4 *parts_gmem,
                      u32 *counter_gmem, u32 *last_smem, int thread, bool has_sums,
                      const barrier &sync) {
    constexpr int vectors = registers / 4;
    static_assert(registers % 4 == 0, "sums are stored in vectors of four");
    const auto place_gmem = [&](int of) {
        return parts_gmem + static_cast<i64>(part.place(of)) * (vectors * threads) + thread;
    };
    if (has_sums)
#pragma unroll
        for (int i = 0; i < vectors; ++i)
            place_gmem(part.own)[i * threads] =
                make_float4(sums[4 * i], sums[4 * i + 1], sums[4 * i + 2], sums[4 * i + 3]);
    __threadfence(); // this thread's sums are visible before the part is counted,
    sync();          // and those of the other threads
    if (has_sums && thread == 0)
        *last_smem = atomicAdd(counter_gmem, 1u) == static_cast<u32>(part.sharers) - 1;
    sync();
    if (!*last_smem)
        return false;
    __threadfence(); // no later read is moved before the count
    if (!has_sums)
        return true;
#pragma unroll
    for (int i = 0; i < registers; ++i)
        sums[i] = 0;
    for (int of = 0; of < part.sharers; ++of) {
        const float4 *from_gmem = place_gmem(of);
#pragma unroll
        for (int i = 0; i < vectors; ++i) {
            const float4 added = from_gmem[i * threads];
            sums[4 * i] += added.x;
            sums[4 * i + 1] += added.y;
            sums[4 * i + 2] += added.z;
            sums[4 * i + 3] += added.w;
        }
    }
    return true;
}

#endif
