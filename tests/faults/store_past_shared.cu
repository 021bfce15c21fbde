// Shared memory was sized without the padding that the index uses.
// run: 1 blocks of 64 threads, 256
// buffer: x 256 output
extern "C" __global__ void faulty(float *x) {
    extern __shared__ float smem[];
    int i = threadIdx.x;
    smem[i + i / 32] = i; // expect: out-of-bounds
    __syncthreads();
    x[i] = smem[i];
}
