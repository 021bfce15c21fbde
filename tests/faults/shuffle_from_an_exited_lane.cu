// The upper lanes have exited when the others read their values.
// run: 1 blocks of 32 threads, 0
// buffer: x 128 output
// value: 20
extern "C" __global__ void faulty(int *x, int n) {
    int i = threadIdx.x;
    if (i >= n)
        return;
    for (int k = 16; k; k /= 2)
        i += __shfl_xor_sync(~0u, i, k); // expect: inactive-lane
    x[threadIdx.x] = i;
}
