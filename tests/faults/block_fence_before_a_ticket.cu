// The last block sums what the others wrote, but their fence reaches only threads of the same block.
// run: 4 blocks of 32 threads, 0
// buffer: parts 16 empty
// buffer: tickets 4 output
// buffer: x 4 output
extern "C" __global__ void faulty(float *parts, unsigned *tickets, float *x) {
    if (threadIdx.x)
        return;
    parts[blockIdx.x] = 1;
    __threadfence_block();
    if (atomicAdd(tickets, 1) != 3)
        return;
    float sum = 0;
    for (int i = 0; i < 4; i++)
        sum += parts[i]; // expect: race-between-blocks
    *x = sum;
}
