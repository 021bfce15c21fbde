// The launch gives one byte less dynamic shared memory than the block uses.
// run: 1 blocks of 32 threads, 127
// buffer: out 128 output
extern __shared__ unsigned smem[];
extern "C" __global__ void faulty(unsigned *out) {
    smem[threadIdx.x] = threadIdx.x; // expect: out-of-bounds
    __syncwarp();
    out[threadIdx.x] = smem[31 - threadIdx.x];
}
