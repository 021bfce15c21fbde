// A shuffle within segments of eight lanes, in which the upper half of the warp does not take part, reads across.
// run: 1 blocks of 32 threads, 0
// buffer: out 128 output
extern "C" __global__ void faulty(unsigned *out) {
    unsigned value = threadIdx.x;
    if (threadIdx.x < 20)
        value = __shfl_xor_sync(0x000fffff, value, 4, 8); // expect: inactive-lane
    out[threadIdx.x] = value;
}
