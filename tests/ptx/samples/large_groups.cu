// Tiles larger than a warp, labeled partitions, invoke_one, and copies.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
extern "C" __global__ void large_tiles(const int *in, int *sums, int *scans, int *facts) {
    __shared__ cg::block_tile_memory<256> memory;
    const auto block = cg::this_thread_block(memory);
    const auto pair = cg::tiled_partition<64>(block);
    const auto half = cg::tiled_partition<128>(block);
    const auto all = cg::tiled_partition<256>(block);
    const auto inner = cg::tiled_partition<64>(half);
    const unsigned i = block.thread_rank();
    const int x = in[i];
    // The two share scratch memory: no lane may store there before the other lanes have loaded.
    sums[i] = cg::reduce(pair, x, cg::plus<int>());
    pair.sync();
    sums[256 + i] = cg::reduce(half, x, cg::greater<int>());
    half.sync();
    sums[512 + i] = cg::reduce(all, x, [](int a, int b) { return a ^ b; });
    all.sync();
    scans[i] = cg::inclusive_scan(pair, x);
    pair.sync();
    scans[256 + i] = cg::exclusive_scan(half, x, cg::plus<int>());
    half.sync();
    facts[i] = pair.any(x == 7) + 4 * pair.meta_group_rank() + 16 * inner.meta_group_rank();
    pair.sync();
    facts[i] += 2 * half.all(x >= 0);
    half.sync();
    facts[i] += 1000 * pair.shfl(x, 40);
}
extern "C" __global__ void labels(const int *in, int *ranks, int *sums, int *facts) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const unsigned i = threadIdx.x;
    const int x = in[i];
    const auto alike = cg::labeled_partition(warp, x % 5);
    ranks[i] = alike.thread_rank() + 100 * alike.size();
    sums[i] = cg::reduce(alike, x, cg::plus<int>());
    alike.sync();
    const auto parts = cg::binary_partition(warp, x % 2 == 0);
    ranks[64 + i] = parts.thread_rank() + 100 * parts.size();
    sums[64 + i] = cg::inclusive_scan(parts, x);
    facts[i] = 0;
    if (x % 3 == 0) {
        const auto active = cg::coalesced_threads();
        facts[i] = active.shfl(x, active.size() - 1) + 1000 * active.shfl_down(x, 1) * (active.thread_rank() + 1 < active.size());
        const auto inner = cg::labeled_partition(active, x % 2);
        facts[64 + i] = cg::reduce(inner, x, cg::less<int>());
        cg::invoke_one(active, [&] { atomicAdd(&facts[128], (int)active.size()); });
    }
    facts[192 + i] = cg::invoke_one_broadcast(warp, [&] { return atomicAdd(&facts[129], 10); });
}
extern "C" __global__ void copies(const int4 *in, int4 *out) {
    __shared__ __align__(16) int4 near[96];
    const auto block = cg::this_thread_block();
    const unsigned i = block.thread_index().x;
    cg::memcpy_async(block, near, in, sizeof(int4) * 64);
    cg::memcpy_async(block, (int *)(near + 64), 64, (const int *)(in + 64), 128);
    cg::wait_prior<1>(block);
    out[i] = near[i];
    cg::wait(block);
    auto token = block.barrier_arrive();
    block.barrier_wait(static_cast<cg::thread_block::arrival_token &&>(token));
    if (i < 16)
        out[64 + i] = near[79 - i];
}
#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(4, 1, 1) clusters(const int *in, int *out, int *facts) {
    __shared__ int own[64];
    const auto cluster = cg::this_cluster();
    const unsigned i = threadIdx.x, rank = cluster.block_rank(), next = (rank + 1) % cluster.num_blocks();
    own[i] = in[64 * blockIdx.x + i];
    cluster.sync();
    const int *other = cluster.map_shared_rank(own, next);
    const int sum = other[63 - i] + 1000 * (int)cluster.query_shared_rank(other);
    auto token = cluster.barrier_arrive();
    out[64 * blockIdx.x + i] = sum;
    cluster.barrier_wait(static_cast<cg::cluster_group::arrival_token &&>(token));
    if (cluster.thread_rank() == cluster.num_threads() - 1)
        facts[blockIdx.x / 4] = cluster.num_threads() + cluster.dim_blocks().x + 10 * cluster.block_index().x;
}
#endif
