// Correct: fences and atomics of block scope within a block, of device scope between blocks.
// run: 4 blocks of 64 threads, 0
// buffer: counts 16 output
// buffer: parts 16 empty
// buffer: tickets 4 output
// buffer: x 4 output
extern "C" __global__ void faulty(unsigned *counts, unsigned *parts, unsigned *tickets, unsigned *x) {
    atomicAdd_block(&counts[blockIdx.x], 1);
    __syncthreads();
    if (threadIdx.x)
        return;
    parts[blockIdx.x] = counts[blockIdx.x];
    __threadfence();
    if (atomicAdd(tickets, 1) != 3)
        return;
    __threadfence();
    *x = parts[0] + parts[1] + parts[2] + parts[3];
}
