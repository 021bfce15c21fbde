// d = sum over tiles of a_tile * b_tile': the main loop of a Hopper kernel with a producer warpgroup
// and two consumers of 64 of the 128 rows each. FAULT injects one of the faults below.
#include "lib/cp_async.cuh"
#include "lib/hopper.cuh"

#ifndef FAULT
#define FAULT 0
#endif
constexpr int no_wait = 1, too_many_bytes = 2, too_few_bytes = 3, early_release = 4, no_init = 5,
              wrong_parity = 6, no_release = 7, no_tail_wait = 8;

constexpr int consumers = 2, threads = 128 * (consumers + 1), n = 64, depth = 64, stages = 2;
constexpr int a_bytes = 128 * depth * 2, b_bytes = n * depth * 2;
constexpr int stage_bytes = a_bytes + b_bytes;

DEVICE void produce(const tensor_map &a_map, const tensor_map &b_map, u32 tiles, u32 full,
                    u32 empty, int count) {
    for (int tile = 0; tile < count; ++tile) {
        const int stage = tile % stages, turn = tile / stages;
        const u32 a = tiles + stage * stage_bytes, b = a + a_bytes;
        mbarrier_wait(empty + 8 * stage, (turn & 1) ^ (FAULT == wrong_parity ? 0 : 1));
        mbarrier_arrive_expect_bytes(full + 8 * stage,
                                     stage_bytes + (FAULT == too_many_bytes  ? 16
                                                    : FAULT == too_few_bytes ? -16
                                                                             : 0));
        tma_load(a, a_map, full + 8 * stage, tile * depth, 0);
        tma_load(b, b_map, full + 8 * stage, tile * depth, 0);
    }
}

DEVICE void consume(u32 tiles, u32 full, u32 empty, int count, int consumer, float *d_gmem) {
    float d[n / 2];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    for (int tile = 0; tile < count; ++tile) {
        const int stage = tile % stages, turn = tile / stages;
        const u32 a = tiles + stage * stage_bytes + consumer * 64 * 128,
                  b = tiles + stage * stage_bytes + a_bytes;
        if (FAULT != no_wait && !(FAULT == no_tail_wait && tile == count - 1))
            mbarrier_wait(full + 8 * stage, turn & 1);
        wgmma_hold(d);
        wgmma_fence();
#pragma unroll
        for (int step = 0; step < depth / 16; ++step)
            wgmma<f16>(d, matrix_descriptor(a + 32 * step, 16, 1024, swizzle::by_128),
                       matrix_descriptor(b + 32 * step, 16, 1024, swizzle::by_128),
                       tile > 0 || step > 0);
        wgmma_commit();
        if (FAULT == early_release && threadIdx.x % 128 == 0)
            mbarrier_arrive(empty + 8 * stage);
        wgmma_wait<0>();
        wgmma_hold(d);
        if (FAULT != early_release && FAULT != no_release && threadIdx.x % 128 == 0)
            mbarrier_arrive(empty + 8 * stage);
    }
    named_barrier_sync(1 + consumer, 128);
#pragma unroll
    for (int i = 0; i < n / 2; ++i)
        d_gmem[(consumer * 64 + warp * 16 + lane / 4 + i / 2 % 2 * 8) * n + i / 4 * 8 +
               lane % 4 * 2 + i % 2] = d[i];
}

extern "C" __global__ void __launch_bounds__(threads, 1)
    pipeline(const __grid_constant__ tensor_map a_map, const __grid_constant__ tensor_map b_map,
             float *d_gmem, int count) {
    extern __shared__ __align__(1024) char tiles_smem[];
    __shared__ u64 barriers_smem[2 * stages];
    const u32 tiles = smem_address(tiles_smem), full = smem_address(barriers_smem),
              empty = full + 8 * stages;
    const int group = threadIdx.x / 128;
    if (threadIdx.x == 0 && FAULT != no_init) {
        for (int stage = 0; stage < stages; ++stage) {
            mbarrier_init(full + 8 * stage, 1);
            mbarrier_init(empty + 8 * stage, consumers);
        }
        fence_mbarrier_init();
    }
    __syncthreads(); // the barriers are initialised
    if (group == 0) {
        setmaxnreg_dec<40>();
        if (threadIdx.x < 32 && elect_lane())
            produce(a_map, b_map, tiles, full, empty, count);
    } else {
        setmaxnreg_inc<232>();
        consume(tiles, full, empty, count, group - 1, d_gmem);
    }
}
