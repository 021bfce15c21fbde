// Two stages are in flight, and the wait allows both to stay pending.
// run: 1 blocks of 32 threads, 0
// buffer: in 1024 input
// buffer: x 128 output
extern "C" __global__ void faulty(const float *in, float *x) {
    __shared__ alignas(16) float smem[2][128];
    int i = threadIdx.x;
    for (int stage = 0; stage < 2; stage++) {
        unsigned to = (unsigned)__cvta_generic_to_shared(&smem[stage][4 * i]);
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + 128 * stage + 4 * i)
                     : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    asm volatile("cp.async.wait_group 2;" ::: "memory");
    __syncthreads();
    x[i] = smem[0][i]; // expect: before-wait
    asm volatile("cp.async.wait_all;" ::: "memory");
}
