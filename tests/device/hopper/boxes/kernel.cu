// y = 2 x over ROWS x COLS halves: a block loads and stores a box of BOX_ROWS x 64 by TMA.
#include "lib/cp_async.cuh"
#include "lib/half.cuh"
#include "lib/hopper.cuh"

constexpr int bytes = BOX_ROWS * 128;

extern "C" __global__ void double_boxes(const __grid_constant__ tensor_map x_map,
                                        const __grid_constant__ tensor_map y_map,
                                        const __grid_constant__ tensor_map) {
    extern __shared__ __align__(1024) char box_smem[];
    __shared__ u64 barrier_smem;
    const u32 box = smem_address(box_smem), barrier = smem_address(&barrier_smem);
    const int column = blockIdx.x * 64, row = blockIdx.y * BOX_ROWS;
    if (threadIdx.x == 0) {
        mbarrier_init(barrier, 1);
        fence_mbarrier_init();
        mbarrier_arrive_expect_bytes(barrier, bytes);
        tma_load(box, x_map, barrier, column, row);
    }
    __syncthreads(); // the barrier is initialised
    mbarrier_wait(barrier, 0);
    u32 *pairs_smem = reinterpret_cast<u32 *>(box_smem); // in any order
    for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x)
        pairs_smem[i] = multiply_half2(pairs_smem[i], 0x40004000);
    fence_proxy_async();
    __syncthreads(); // all pairs are doubled
    if (threadIdx.x == 0) {
        tma_store(y_map, box, column, row);
        bulk_commit();
        bulk_wait_read<0>();
    }
}
