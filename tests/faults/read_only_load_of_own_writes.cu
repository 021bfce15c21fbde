// What a thread wrote is loaded through the read-only path, which need not see it.
// run: 1 blocks of 64 threads, 0
// buffer: work 256 empty
// buffer: x 256 output
extern "C" __global__ void faulty(int *work, int *x) {
    int i = threadIdx.x;
    work[i] = i;
    __syncthreads();
    x[i] = __ldg(&work[63 - i]); // expect: misuse
}
