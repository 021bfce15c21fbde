// A row stride of 33 floats misaligns 16-byte loads in the second row.
// run: 1 blocks of 32 threads, 0
// buffer: x 4224 input
// buffer: out 512 output
extern "C" __global__ void faulty(const float *x, float4 *out) {
    int row = threadIdx.x / 8, column = threadIdx.x % 8;
    out[threadIdx.x] = *(const float4 *)(x + 33 * row + 4 * column); // expect: misaligned
}
