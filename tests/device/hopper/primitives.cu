// Uses every primitive of templates/lib/hopper.cuh at least once, except wgmma (products.cu has all
// its forms): the test is that they compile.
#include "lib/cp_async.cuh"
#include "lib/hopper.cuh"

extern "C" __global__ void __launch_bounds__(256, 1)
    others(const __grid_constant__ tensor_map map, char *bytes_gmem, u32 *out_gmem, int x) {
    __shared__ alignas(1024) char tile_smem[4096];
    __shared__ u64 barriers_smem[2];
    const u32 tile = smem_address(tile_smem), barrier = smem_address(barriers_smem);
    if (threadIdx.x == 0) {
        prefetch_tensor_map(map);
        mbarrier_init(barrier, 1);
        mbarrier_init(barrier + 8, 128);
        fence_mbarrier_init();
    }
    __syncthreads();
    if (threadIdx.x < 128)
        setmaxnreg_inc<240>();
    else
        setmaxnreg_dec<24>();
    if (elect_lane()) {
        mbarrier_arrive_expect_bytes(barrier, 100);
        mbarrier_expect_bytes(barrier, 4);
        tma_load(tile, map, barrier, x, 1);
        tma_load(tile, map, barrier, x, 1, 2);
        tma_load(tile, map, barrier, x, 1, 2, 3);
        tma_load_hinted(l2_evict_last(), tile, map, barrier, x, 1);
        tma_load_hinted(l2_evict_first(), tile, map, barrier, x, 1, 2);
        tma_load_hinted(l2_evict_first(), tile, map, barrier, x, 1, 2, 3);
        tma_load_multicast(1, tile, map, barrier, x, 1, 2);
        bulk_load(tile, bytes_gmem, 64, barrier);
        fence_proxy_async();
        tma_store(map, tile, x, 1);
        tma_store(map, tile, x, 1, 2);
        tma_store(map, tile, x, 1, 2, 3);
        bulk_store(bytes_gmem, tile, 64);
        bulk_commit();
        bulk_wait<1>();
        bulk_wait_read<0>();
    }
    mbarrier_arrive(barrier + 8);
    mbarrier_arrive_cluster(map_to_block(barrier + 8, 0));
    mbarrier_arrive_block(map_to_block(barrier + 8, 0));
    mbarrier_wait(barrier, 0);
    if (mbarrier_test_wait(barrier, 1))
        x++;
    named_barrier_sync(1, 128);
    named_barrier_arrive(2 + x, 256);
    griddepcontrol_wait();
    griddepcontrol_launch_dependents();
    cluster_arrive();
    cluster_wait();
    cluster_arrive_relaxed();
    cluster_wait();
    out_gmem[threadIdx.x] =
        cluster_rank() + cluster_size() + x +
        descriptor_advance(matrix_descriptor(tile, 16, 1024, swizzle::by_128), 32);
}
