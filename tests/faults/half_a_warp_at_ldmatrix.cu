// Only the first half of the warp reaches ldmatrix.
// run: 1 blocks of 32 threads, 0
// buffer: x 128 output
extern "C" __global__ void faulty(unsigned *x) {
    __shared__ alignas(16) unsigned tile[32];
    int i = threadIdx.x;
    tile[i] = i;
    __syncthreads();
    unsigned from = (unsigned)__cvta_generic_to_shared(tile) + i % 8 * 16, r;
    if (i < 16) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(from)); // expect: lanes-disagree
        x[i] = r;
    }
}
