// Inclusive sums of a block's elements, then of the blocks' totals by the last block.
extern "C" __global__ void scan(const int *in, int *out, int *totals, unsigned *tickets, int n) {
    extern __shared__ int smem[];
    __shared__ bool last;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    smem[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int k = 1; k < blockDim.x; k *= 2) {
        const int other = threadIdx.x >= k ? smem[threadIdx.x - k] : 0;
        __syncthreads();
        smem[threadIdx.x] += other;
        __syncthreads();
    }
    if (i < n)
        out[i] = smem[threadIdx.x];
    if (threadIdx.x == 0) {
        totals[blockIdx.x] = smem[blockDim.x - 1];
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(tickets, 1) == gridDim.x - 1;
    __syncthreads();
    if (!last)
        return;
    __threadfence();
    int before = 0;
    for (int b = 1; b < gridDim.x; b++) {
        before += totals[b - 1];
        const int j = b * blockDim.x + threadIdx.x;
        if (j < n)
            out[j] += before;
    }
}
