// Cooperative groups: asynchronous copies, tiles, coalesced and partitioned groups, reductions and scans.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
extern "C" __global__ void groups(const float *in, float *sum, unsigned *counts, float *scans) {
    __shared__ __align__(16) float smem[128];
    const cg::thread_block block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<32>(block);
    const auto small = cg::tiled_partition<4>(tile);
    const unsigned i = block.thread_rank();
    cg::memcpy_async(block, smem, in + blockIdx.x * 128, sizeof(float) * 128);
    cg::wait(block);
    const float total = cg::reduce(tile, smem[i], cg::plus<float>());
    if (tile.thread_rank() == 0)
        atomicAdd(sum, total);
    if (i % 3 == 0) {
        const cg::coalesced_group active = cg::coalesced_threads();
        if (active.thread_rank() == 0)
            atomicAdd(&counts[0], active.size());
    }
    const auto parts = cg::binary_partition(tile, i % 32 < 5);
    if (parts.thread_rank() == 0 && i % 32 < 5)
        atomicAdd(&counts[1], parts.size());
    if (cg::this_grid().thread_rank() == 0)
        counts[2] = (unsigned)cg::this_grid().size();
    scans[blockIdx.x * 128 + i] = cg::inclusive_scan(small, smem[i]) + 10 * small.shfl(smem[i], 2) +
                                  1000 * tile.meta_group_rank();
}
