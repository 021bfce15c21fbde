// A warp stores after bar.arrive, which does not wait, what the other warp still reads.
// run: 1 blocks of 64 threads, 0
// buffer: out 128 output
extern "C" __global__ void faulty(unsigned *out) {
    __shared__ unsigned smem[32];
    const unsigned t = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        smem[t] = t;
        asm volatile("bar.arrive 1, 64;" : : : "memory");
        smem[t] = 0;
    } else {
        asm volatile("bar.sync 1, 64;" : : : "memory");
        out[t] = smem[31 - t]; // expect: race-in-block
    }
}
