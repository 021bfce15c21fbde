// A named barrier expects two warps, and one arrives.
// run: 1 blocks of 64 threads, 0
// buffer: x 256 output
extern "C" __global__ void faulty(float *x) {
    int i = threadIdx.x;
    if (i < 32)
        asm volatile("bar.sync 1, 64;"); // expect: deadlock
    x[i] = i;
}
