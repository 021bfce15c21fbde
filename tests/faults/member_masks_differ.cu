// Two halves of a warp pass different member masks to one shuffle.
// run: 1 blocks of 32 threads, 0
// buffer: x 128 output
extern "C" __global__ void faulty(int *x) {
    int i = threadIdx.x;
    unsigned mask = i < 16 ? 0x0000ffff : 0xffffffff;
    x[i] = __shfl_sync(mask, i, 0); // expect: lanes-disagree
}
