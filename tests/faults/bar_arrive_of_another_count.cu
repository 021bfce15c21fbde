// bar.arrive and bar.sync of one barrier give different numbers of threads.
// run: 1 blocks of 96 threads, 0
// buffer: out 384 output
extern "C" __global__ void faulty(unsigned *out) {
    if (threadIdx.x < 64)
        asm volatile("bar.arrive 1, 96;" : : : "memory");
    else
        asm volatile("bar.sync 1, 64;" : : : "memory"); // expect: misuse
    out[threadIdx.x] = threadIdx.x;
}
