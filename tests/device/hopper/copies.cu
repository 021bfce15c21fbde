// TMA alone: the shared memory layout of a loaded box, a stored box, bulk copies of bytes.
#include "lib/cp_async.cuh"
#include "lib/hopper.cuh"

constexpr int words_max = 8192;

struct position {
    int x0, x1, x2, x3;
};

DEVICE void load(u32 target, const tensor_map &map, u32 barrier, int rank, position at) {
    if (rank == 2)
        tma_load(target, map, barrier, at.x0, at.x1);
    else if (rank == 3)
        tma_load_hinted(l2_evict_last(), target, map, barrier, at.x0, at.x1, at.x2);
    else
        tma_load(target, map, barrier, at.x0, at.x1, at.x2, at.x3);
}

DEVICE void store(const tensor_map &map, u32 source, int rank, position at) {
    if (rank == 2)
        tma_store(map, source, at.x0, at.x1);
    else if (rank == 3)
        tma_store(map, source, at.x0, at.x1, at.x2);
    else
        tma_store(map, source, at.x0, at.x1, at.x2, at.x3);
}

extern "C" __global__ void load_box(const __grid_constant__ tensor_map map, u32 *out_gmem, int rank,
                                    int x0, int x1, int x2, int x3, int bytes) {
    __shared__ alignas(1024) u32 box_smem[words_max];
    __shared__ u64 barrier_smem;
    const u32 barrier = smem_address(&barrier_smem);
    if (threadIdx.x == 0) {
        prefetch_tensor_map(map);
        mbarrier_init(barrier, 1);
        fence_mbarrier_init();
        mbarrier_arrive_expect_bytes(barrier, bytes);
        load(smem_address(box_smem), map, barrier, rank, {x0, x1, x2, x3});
    }
    __syncthreads(); // the barrier is initialised
    mbarrier_wait(barrier, 0);
    for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x)
        out_gmem[i] = box_smem[i];
}

extern "C" __global__ void store_box(const __grid_constant__ tensor_map map, const u32 *in_gmem,
                                     int rank, int x0, int x1, int x2, int x3, int bytes) {
    __shared__ alignas(1024) u32 box_smem[words_max];
    for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x)
        box_smem[i] = in_gmem[i];
    fence_proxy_async();
    __syncthreads(); // the box is complete
    if (threadIdx.x == 0) {
        store(map, smem_address(box_smem), rank, {x0, x1, x2, x3});
        bulk_commit();
        bulk_wait_read<0>();
    }
    __syncthreads(); // the box has been read
    for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x)
        box_smem[i] = 0;
}

extern "C" __global__ void move_bytes(const char *in_gmem, char *out_gmem, int bytes) {
    __shared__ alignas(16) u32 run_smem[words_max];
    __shared__ u64 barrier_smem;
    const u32 run = smem_address(run_smem), barrier = smem_address(&barrier_smem);
    if (threadIdx.x == 0) {
        mbarrier_init(barrier, 1);
        fence_mbarrier_init();
        mbarrier_arrive_expect_bytes(barrier, bytes);
        bulk_load(run, in_gmem, bytes, barrier);
    }
    __syncthreads(); // the barrier is initialised
    mbarrier_wait(barrier, 0);
    for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x)
        run_smem[i] += 1;
    fence_proxy_async();
    __syncthreads(); // all sums are complete
    if (threadIdx.x == 0) {
        bulk_store(out_gmem, run, bytes);
        bulk_commit();
        bulk_wait<0>();
    }
}
