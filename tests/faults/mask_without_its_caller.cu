// A lane that the mask does not name takes part in a shuffle.
// run: 1 blocks of 32 threads, 0
// buffer: x 128 output
extern "C" __global__ void faulty(int *x) {
    int i = threadIdx.x;
    x[i] = __shfl_sync(0xffff, i, 0); // expect: lanes-disagree
}
