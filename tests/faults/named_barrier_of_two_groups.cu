// Two pairs of warps use one named barrier at once: any two of the four warps complete it.
// run: 1 blocks of 128 threads, 0
// buffer: x 512 output
extern "C" __global__ void faulty(int *x) {
    __shared__ int smem[128];
    int i = threadIdx.x;
    smem[i] = i;
    asm volatile("bar.sync 1, 64;" : : : "memory"); // expect: misuse
    x[i] = smem[i ^ 32];
}
