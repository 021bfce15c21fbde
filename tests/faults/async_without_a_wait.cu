// Data of cp.async is read before its wait.
// run: 1 blocks of 32 threads, 0
// buffer: in 512 input
// buffer: x 128 output
extern "C" __global__ void faulty(const float *in, float *x) {
    __shared__ alignas(16) float smem[128];
    int i = threadIdx.x;
    unsigned to = (unsigned)__cvta_generic_to_shared(smem + 4 * i);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + 4 * i) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    __syncthreads();
    x[i] = smem[i]; // expect: before-wait
    asm volatile("cp.async.wait_all;" ::: "memory");
}
