// Every warp stores its own sum to the same word.
// run: 1 blocks of 64 threads, 0
// buffer: x 256 output
extern "C" __global__ void faulty(float *x) {
    __shared__ float total;
    int i = threadIdx.x;
    if (i % 32 == 0)
        total = i; // expect: race-in-block
    __syncthreads();
    x[i] = total;
}
