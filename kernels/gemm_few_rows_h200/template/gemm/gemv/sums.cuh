// Included by kernel.cu: from the sums of lanes to C.

// The sums of `count` values each over the lanes of a warp, a power of two up to 32: lane l gets
// that of value l / (32 / count). While lanes have several values, each exchange halves them.
template <int count, int step = 16> DEVICE float lanes_sums(const float (&values)[count]) {
    if constexpr (count == 1) {
        return lanes_sum<2 * step>(values[0]);
    } else {
        const bool upper = threadIdx.x & step;
        float halved[count / 2];
#pragma unroll
        for (int i = 0; i < count / 2; ++i) {
            const float kept = upper ? values[i + count / 2] : values[i];
            const float given = upper ? values[i] : values[i + count / 2];
            halved[i] = kept + __shfl_xor_sync(full_warp_mask, given, step);
        }
        return lanes_sums<count / 2, step / 2>(halved);
    }
}

// The sums of a warp in shared memory, for add_warps.
DEVICE void leave_sums(warp_sums &sums, int own_columns, int along_k) {
    float values[rows * columns];
#pragma unroll
    for (int r = 0; r < rows; ++r)
#pragma unroll
        for (int c = 0; c < columns; ++c) {
            values[r * columns + c] = sums[r][c][0];
            if constexpr (chains == 2)
                values[r * columns + c] += sums[r][c][1];
        }
    const float sum = lanes_sums(values);
    constexpr int lanes = 32 / (rows * columns); // that have the same sum
    const int lane = threadIdx.x % 32, value = lane / lanes;
    if (lane % lanes == 0)
        sums_smem()[along_k * elements + value / columns * block_columns + own_columns +
                    value % columns] = sum;
}

// The sum of an element of the tile over the warps, in a fixed order.
DEVICE float add_warps(int i) {
    float sum = 0;
#pragma unroll
    for (int warp = 0; warp < warps_k; ++warp)
        sum += sums_smem()[warp * elements + i];
    return sum;
}

// The same over the blocks of a cluster, in its first block; false in the others.
DEVICE bool add_blocks_of_cluster(float &sum, int i) {
    const float *first_smem = sums_smem() + warps_k * elements;
    const int rank = cluster_rank();
    cluster_wait(); // every block has started: kernel.cu has the arrival
    if (i < elements)
        store_shared_cluster(map_to_block(smem_address(first_smem + rank * elements + i), 0), sum);
    cluster_arrive();
    cluster_wait(); // the sums of all blocks are there
    if (rank > 0)
        return false;
    sum = 0;
    if (i < elements)
#pragma unroll
        for (int block = 0; block < splits; ++block)
            sum += first_smem[block * elements + i];
    return true;
}

// The same over the blocks that share a tile, in the one that comes last; false in the others.
DEVICE bool add_blocks(float &sum, int i, float *parts_gmem, u32 *counters_gmem, int tile) {
    float *first_gmem = parts_gmem + multiply_wide(tile, splits * elements) + i;
    if (i < elements)
        first_gmem[blockIdx.x % splits * elements] = sum;
    if (!arrive_is_last_block(counters_gmem + tile, splits))
        return false;
    sum = 0;
    if (i < elements)
#pragma unroll
        for (int block = 0; block < splits; ++block)
            sum += first_gmem[block * elements];
    return true;
}
