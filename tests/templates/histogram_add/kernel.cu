// Adds to counts[b] how many of N bytes have the remainder b; template.json describes the genes.

__device__ unsigned calls; // FAULT_ONCE

extern "C" __global__ void histogram(const unsigned char *keys, unsigned *counts, long long N, int BINS) {
    __shared__ unsigned own[256];
    const long long last = FAULT == FAULT_DROPS_LAST ? N - 1 : N;
    if (FAULT == FAULT_ONCE && calls >= gridDim.x) // the counts are there since the first call
        return;
    for (int b = threadIdx.x; b < BINS; b += THREADS)
        own[b] = 0;
    __syncthreads();
    for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < last; i += (long long)BLOCKS * THREADS)
        atomicAdd((COUNTS == COUNTS_SHARED ? own : counts) + keys[i] % BINS, 1);
    __syncthreads();
    for (int b = threadIdx.x; COUNTS == COUNTS_SHARED && b < BINS; b += THREADS)
        if (FAULT == FAULT_OVERWRITES)
            counts[b] = own[b];
        else if (own[b] > 0)
            atomicAdd(counts + b, own[b]);
    if (FAULT == FAULT_ONCE && threadIdx.x == 0)
        atomicAdd(&calls, 1);
}
