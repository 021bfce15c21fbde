// A loop fills all elements but the last of an array in local memory.
// run: 1 blocks of 32 threads, 0
// buffer: in 128 input
// buffer: x 128 output
extern "C" __global__ void faulty(const int *in, int *x) {
    int values[8], i = threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < 7; k++)
        values[(k + in[i]) % 8] = k;
    x[i] = values[(in[i] + 7) % 8]; // expect: unwritten
}
