// Counts of bytes: a histogram per block in shared memory, merged with atomics.
extern "C" __global__ void histogram(const unsigned *in, unsigned *bins, int words) {
    __shared__ unsigned own[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
        const unsigned word = in[i];
        for (int shift = 0; shift < 32; shift += 8)
            atomicAdd(&own[word >> shift & 255], 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (own[i])
            atomicAdd(&bins[i], own[i]);
}
