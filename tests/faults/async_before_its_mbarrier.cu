// An mbarrier tracks the copy, and one thread does not wait for it.
// run: 1 blocks of 64 threads, 0
// buffer: in 256 input
// buffer: out 256 output
extern "C" __global__ void faulty(const float *in, float *out) {
    __shared__ float smem[64];
    __shared__ unsigned long long barrier;
    const unsigned t = threadIdx.x;
    const unsigned bar = (unsigned)__cvta_generic_to_shared(&barrier);
    const unsigned to = (unsigned)__cvta_generic_to_shared(&smem[t]);
    if (t == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 64;" : : "r"(bar) : "memory");
    __syncthreads();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" : : "r"(to), "l"(in + t) : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" : : "r"(bar) : "memory");
    if (t != 40)
        asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra again; }"
                     :
                     : "r"(bar)
                     : "memory");
    out[t] = smem[63 - t]; // expect: before-wait
}
