// Reductions over the threads that share a row: lanes of a warp, warps of a block, or the blocks of
// a cluster. What is reduced is a struct of floats, such as row_sum. Every thread of a row gets the
// same bits: the result of a tree whose shape depends on nothing but the template's arguments.
#ifndef EVOTILE_LIB_ROW_REDUCE
#define EVOTILE_LIB_ROW_REDUCE

#include "lib/cluster.cuh"
#include "lib/smem.cuh"
#include "lib/types.cuh"

struct row_sum {
    static constexpr bool symmetric = true; // a.merge(b) and b.merge(a) give the same bits
    float value = 0.0f;                     // of no element

    DEVICE void merge(const row_sum &other) {
        value += other.value;
    }
};

// A partial result as words, as shuffles and stores to other blocks move it.
template <typename partial> struct partial_words { float values[sizeof(partial) / sizeof(float)]; };

// Merges the partial results of `width` neighbouring lanes; all of them get the result.
template <int width, typename partial> DEVICE partial merge_lanes(partial own) {
    using words = partial_words<partial>;
#pragma unroll
    for (int step = width / 2; step > 0; step /= 2) {
        words moved = __builtin_bit_cast(words, own);
#pragma unroll
        for (float &word : moved.values)
            word = __shfl_xor_sync(full_warp_mask, word, step);
        const partial other = __builtin_bit_cast(partial, moved);
        if constexpr (partial::symmetric) {
            own.merge(other);
        } else { // both lanes merge in one order, so that they get the same bits
            partial low = threadIdx.x & step ? other : own;
            low.merge(threadIdx.x & step ? own : other);
            own = low;
        }
    }
    return own;
}

// The shared memory of a block's reductions. A block has threads / row_threads rows; with `cluster`
// > 1 all its threads, and those of the cluster's other blocks, have one row.
template <typename partial, int threads, int row_threads, int cluster = 1> struct row_reduction {
    static constexpr int lanes = min_of(row_threads, 32);
    static constexpr int row_warps = max_of(row_threads / 32, 1);
    static constexpr int row_partials = cluster * row_warps;
    static_assert(threads % row_threads == 0, "a block has whole rows");
    static_assert(cluster == 1 || row_threads == threads, "all threads of a cluster have one row");

    // Two sets, in turns: who writes one has seen a barrier since all have read it.
    partial_words<partial> partials[2][cluster * threads / 32];

    // Called once by all threads, before the first reduction.
    DEVICE void begin() {
        if constexpr (cluster > 1)
            cluster_arrive(); // this block runs: others may write to its shared memory
    }

    // Reduces what all threads of each row have. Called by all threads of the block, or cluster;
    // `turn` counts the calls from 0.
    DEVICE partial reduce(partial own, int turn) {
        own = merge_lanes<lanes>(own);
        if constexpr (row_partials == 1)
            return own;
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        if constexpr (cluster > 1) {
            if (turn == 0)
                cluster_wait(); // for begin() of all blocks
            const u32 place = smem_address(&partials[turn % 2][cluster_rank() * row_warps + warp]);
            const partial_words<partial> words = __builtin_bit_cast(partial_words<partial>, own);
            constexpr int word_count = sizeof words / sizeof(float);
            if (lane < cluster)
#pragma unroll
                for (int word = 0; word < word_count; ++word)
                    store_shared_cluster(map_to_block(place, lane) + 4 * word, words.values[word]);
            cluster_arrive();
            cluster_wait(); // every warp of the cluster has written its partial result
        } else {
            if (lane == 0)
                partials[turn % 2][warp] = __builtin_bit_cast(partial_words<partial>, own);
            __syncthreads(); // every warp has written its partial result
        }
        const partial_words<partial> *row =
            partials[turn % 2] + (cluster > 1 ? 0 : warp / row_warps * row_warps);
        partial merged{};
#pragma unroll
        for (int i = 0; i < row_partials; i += 32) // every group of lanes has all of them
            merged.merge(__builtin_bit_cast(partial, row[(i + lane) % row_partials]));
        return merge_lanes<min_of(row_partials, 32)>(merged);
    }
};

#endif
