// The two sides of a branch have a barrier each.
// run: 1 blocks of 32 threads, 0
// buffer: x 128 output
extern "C" __global__ void faulty(float *x) {
    int i = threadIdx.x;
    if (i % 2) {
        asm volatile("bar.sync 0; // odd");
        x[i] = 1;
    } else {
        asm volatile("bar.sync 0; // even"); // expect: divergent-barrier
        x[i] = 2;
    }
}
