// The tile is overwritten while slower warps may still read the previous one.
// run: 1 blocks of 64 threads, 0
// buffer: in 1024 input
// buffer: x 256 output
extern "C" __global__ void faulty(const float *in, float *x) {
    __shared__ float tile[64];
    int i = threadIdx.x;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < 4; k++) {
        tile[i] = in[64 * k + i] + k; // expect: race-in-block
        __syncthreads();
        sum += tile[(i + 32) % 64];
    }
    x[i] = sum;
}
