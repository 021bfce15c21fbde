// A block reads what another one wrote in the same launch: the order of blocks is undefined.
// run: 3 blocks of 32 threads, 0
// buffer: work 384 output
// buffer: x 384 output
extern "C" __global__ void faulty(float *work, float *x) {
    int i = blockIdx.x * 32 + threadIdx.x;
    work[i] = i;
    x[i] = work[(i + 64) % 96]; // expect: race-between-blocks
}
