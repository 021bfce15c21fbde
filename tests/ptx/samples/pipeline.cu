// Copies with cuda::pipeline in two stages, and with a cuda::barrier: a running sum over tiles.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
constexpr int tile = 128, stages = 2;
extern "C" __global__ void pipeline(const float *in, float *out, float *last, int tiles) {
    __shared__ float smem[stages][tile], tail_smem[tile];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    __shared__ cuda::barrier<cuda::thread_scope_block> arrived;
    const cg::thread_block block = cg::this_thread_block();
    const int t = threadIdx.x;
    if (t == 0)
        init(&arrived, tile);
    block.sync();
    cuda::memcpy_async(&tail_smem[t], in + (tiles - 1) * tile + t, sizeof(float), arrived);
    auto pipe = cuda::make_pipeline(block, &state);
    float sum = 0;
    for (int fetched = 0, i = 0; i < tiles; i++) {
        for (; fetched < tiles && fetched < i + stages; fetched++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, smem[fetched % stages], in + fetched * tile, sizeof(float) * tile,
                               pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += smem[i % stages][t] - smem[i % stages][tile - 1 - t] / 2; // copied by another thread
        pipe.consumer_release();
    }
    out[t] = sum;
    arrived.arrive_and_wait();
    last[t] = tail_smem[tile - 1 - t];
}
