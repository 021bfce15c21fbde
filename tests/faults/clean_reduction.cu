// Correct: shared memory, shuffles, barriers, and an atomic ticket with its fence.
// run: 4 blocks of 128 threads, 0
// buffer: in 2048 input
// buffer: parts 16 empty
// buffer: tickets 4 output
// buffer: x 4 output
extern "C" __global__ void faulty(const float *in, float *parts, unsigned *tickets, float *x) {
    __shared__ float sums[4];
    __shared__ bool last;
    int i = threadIdx.x;
    float sum = in[blockIdx.x * 128 + i];
    for (int k = 16; k; k /= 2)
        sum += __shfl_xor_sync(~0u, sum, k);
    if (i % 32 == 0)
        sums[i / 32] = sum;
    __syncthreads();
    if (i == 0) {
        parts[blockIdx.x] = sums[0] + sums[1] + sums[2] + sums[3];
        __threadfence();
        last = atomicAdd(tickets, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && i == 0) {
        __threadfence();
        *x = parts[0] + parts[1] + parts[2] + parts[3];
    }
}
