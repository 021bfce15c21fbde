// The last block sums what the others wrote, but no thread executed a fence before the ticket.
// run: 4 blocks of 32 threads, 0
// buffer: parts 16 empty
// buffer: tickets 4 output
// buffer: x 4 output
extern "C" __global__ void faulty(volatile float *parts_, unsigned *tickets, float *x) {
    float *parts = (float *)parts_;
    if (threadIdx.x)
        return;
    parts[blockIdx.x] = 1;
    if (atomicAdd(tickets, 1) != 3)
        return;
    float sum = 0;
    for (int i = 0; i < 4; i++)
        sum += parts[i]; // expect: race-between-blocks
    *x = sum;
}
