// ldmatrix with rows that are 128 bytes apart: all eight are in the same banks.
// run: 1 blocks of 32 threads, 0
// buffer: x 128 output
extern "C" __global__ void faulty(unsigned *x) {
    __shared__ alignas(16) unsigned tile[8][32];
    int i = threadIdx.x;
    for (int j = 0; j < 8; j++)
        tile[j][i] = j;
    __syncthreads();
    unsigned from = (unsigned)__cvta_generic_to_shared(tile[i % 8]), r;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(from)); // expect: bank-conflict
    x[i] = r;
}
