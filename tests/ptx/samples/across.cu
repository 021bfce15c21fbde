// Asynchronous communication between the blocks of a cluster, and reductions to global memory: stores, reductions and
// copies tracked by mbarriers, bulk reductions, and a tensor map modified by the kernel.
#include <cooperative_groups.h>
#include <cuda/ptx>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
constexpr unsigned blocks = 4, threads = 128, bytes = 4 * threads;

static __device__ void await(uint64_t *barrier) {
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, barrier, 0))
        ;
}

// in, halo, bins, rows: of each block; total, odd: shared by all.
extern "C" __global__ void __cluster_dims__(blocks, 1, 1)
    across(const int *in, int *halo, unsigned *bins, int *rows, unsigned *total, __half *odd) {
    __shared__ alignas(16) int halo_smem[threads];
    __shared__ alignas(16) unsigned bins_smem[32];
    __shared__ alignas(128) unsigned row_smem[threads], got_smem[threads], sum_smem[threads];
    __shared__ alignas(128) __half odd_smem[threads];
    __shared__ int most;
    __shared__ uint64_t stored, copied;
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned t = threadIdx.x, rank = cluster.block_rank(), at = blockIdx.x * threads + t;
    const unsigned next = (rank + 1) % blocks, far = (rank + 2) % blocks;
    const int value = in[at];
    row_smem[t] = unsigned(value);
    sum_smem[t] = t;
    odd_smem[t] = __half(value & 1);
    if (t < 32)
        bins_smem[t] = 0;
    if (t == 0) {
        most = -1000000;
        ptx::mbarrier_init(&stored, 1);
        ptx::mbarrier_init(&copied, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    ptx::fence_proxy_async();
    cluster.sync();
    if (t == 0) {
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared, &stored, 3 * bytes);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared, &copied, 2 * bytes);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared, cluster.map_shared_rank(got_smem, next), row_smem,
                           bytes, cluster.map_shared_rank(&copied, next));
        ptx::cp_reduce_async_bulk(ptx::space_cluster, ptx::space_shared, ptx::op_add,
                                  cluster.map_shared_rank(sum_smem, far), row_smem, bytes,
                                  cluster.map_shared_rank(&copied, far));
    }
    uint64_t *const next_stored = cluster.map_shared_rank(&stored, next);
    ptx::st_async(cluster.map_shared_rank(&halo_smem[t], next), value, next_stored);
    ptx::red_async(ptx::op_add, cluster.map_shared_rank(&bins_smem[value & 31], next), 1u, next_stored);
    ptx::red_async(ptx::op_max, cluster.map_shared_rank(&most, far), value, cluster.map_shared_rank(&stored, far));
    await(&stored);
    halo[at] = halo_smem[threads - 1 - t];
    if (t < 32)
        bins[blockIdx.x * 32 + t] = bins_smem[t];
    await(&copied);
    rows[at] = int(got_smem[threads - 1 - t]) + most;
    cluster.sync(); // what other blocks sent from here has been read
    row_smem[t] = sum_smem[t] + got_smem[t];
    ptx::fence_proxy_async();
    __syncthreads();
    if (t == 0) {
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, total, row_smem, bytes);
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, odd, odd_smem, bytes / 2);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
    }
}

struct alignas(64) map_bytes {
    uint4 words[8];
};

// Adds a box of 8 rows of 16 at row 8, column 8 of a matrix of 13 rows of 20 with stride 24; `map` initially
// describes only the box.
extern "C" __global__ void tensor_sums(const __grid_constant__ map_bytes map, unsigned *to, map_bytes *maps) {
    __shared__ alignas(128) map_bytes own;
    __shared__ alignas(128) unsigned box[128];
    const unsigned t = threadIdx.x;
    const int at[2] = {8, 8};
    map_bytes *const mine = maps + blockIdx.x;
    if (t < 8)
        own.words[t] = map.words[t];
    for (unsigned i = t; i < 128; i += 32)
        box[i] = i * (blockIdx.x + 1);
    __syncwarp();
    if (t == 0) {
        ptx::tensormap_replace_global_address(ptx::space_shared, &own, uint64_t(to));
        ptx::tensormap_replace_global_dim(ptx::space_shared, &own, ptx::n32_t<0>{}, 20u);
        ptx::tensormap_replace_global_dim(ptx::space_shared, &own, ptx::n32_t<1>{}, 13u);
        ptx::tensormap_replace_global_stride(ptx::space_shared, &own, ptx::n32_t<0>{}, uint64_t(24 * 4));
    }
    __syncwarp();
    ptx::tensormap_cp_fenceproxy(ptx::sem_release, ptx::scope_gpu, mine, &own, ptx::n32_t<128>{});
    ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_gpu, mine, ptx::n32_t<128>{});
    ptx::fence_proxy_async();
    __syncwarp();
    if (t == 0) {
        ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, mine, at, box);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
    }
}
