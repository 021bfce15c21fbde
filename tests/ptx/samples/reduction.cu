// The sum of a vector: a grid-stride loop, warp shuffles, one atomic per block.
extern "C" __global__ void reduction(const float *in, float *sum, int n) {
    __shared__ float warps[32];
    float own = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        own += in[i];
    for (int k = 16; k > 0; k /= 2)
        own += __shfl_down_sync(~0u, own, k);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x < 32) {
        own = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0;
        for (int k = 16; k > 0; k /= 2)
            own += __shfl_down_sync(~0u, own, k);
        if (threadIdx.x == 0)
            atomicAdd(sum, own);
    }
}
