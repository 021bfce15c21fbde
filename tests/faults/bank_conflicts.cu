// A column of a tile without padding: 32 lanes access one bank.
// run: 1 blocks of 32 threads, 0
// buffer: x 4096 output
extern "C" __global__ void faulty(float *x) {
    __shared__ float tile[32][32];
    int i = threadIdx.x;
    for (int j = 0; j < 32; j++)
        tile[j][i] = j;
    __syncthreads();
    for (int j = 0; j < 32; j++)
        x[32 * j + i] = tile[i][j]; // expect: bank-conflict
}
