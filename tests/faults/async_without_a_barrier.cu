// Each thread waits for its own copies, then reads those of other threads without a barrier.
// run: 1 blocks of 64 threads, 0
// buffer: in 1024 input
// buffer: x 256 output
extern "C" __global__ void faulty(const float *in, float *x) {
    __shared__ alignas(16) float smem[256];
    int i = threadIdx.x;
    unsigned to = (unsigned)__cvta_generic_to_shared(smem + 4 * i);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + 4 * i) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    if (i >= 32)
        x[i] = smem[i]; // expect: race-in-block
}
