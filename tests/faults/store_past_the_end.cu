// The last thread of the last block stores one element past the end.
// run: 2 blocks of 64 threads, 0
// buffer: x 508 output
extern "C" __global__ void faulty(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = i; // expect: out-of-bounds
}
