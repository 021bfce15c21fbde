// Lanes call a shuffle with a member mask that does not include them.
// run: 1 blocks of 32 threads, 0
// buffer: x 128 output
extern "C" __global__ void faulty(int *x) {
    int i = threadIdx.x;
    x[i] = __shfl_sync(0xffff, i, 0); // expect: lanes-disagree
}
