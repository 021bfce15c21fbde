// A block publishes the generic address of its shared memory, and the next block reads through it.
// run: 2 blocks of 32 threads, 0
// buffer: out 256 output
// buffer: slot 8 output
extern "C" __global__ void faulty(unsigned *out, unsigned **slot) {
    __shared__ unsigned smem[32];
    smem[threadIdx.x] = threadIdx.x + 1;
    __syncwarp();
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *slot = smem;
    if (blockIdx.x == 1)
        out[threadIdx.x] = **(unsigned *volatile *)slot; // expect: race-between-blocks
}
