// Warp 0 initialises an mbarrier, and warp 1 arrives without a barrier between the two.
// run: 1 blocks of 64 threads, 0
// buffer: out 256 output
extern "C" __global__ void faulty(float *out) {
    __shared__ unsigned long long barrier;
    const unsigned bar = (unsigned)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" : : "r"(bar) : "memory");
    if (threadIdx.x == 32)
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" : : "r"(bar) : "memory"); // expect: race-in-block
    __syncthreads();
    out[threadIdx.x] = 1;
}
