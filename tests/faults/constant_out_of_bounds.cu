// A load behind the end of a constant array.
// run: 1 blocks of 32 threads, 0
// buffer: in 128 input
// buffer: out 128 output
__constant__ int table[16];
extern "C" __global__ void faulty(const int *in, int *out) {
    out[threadIdx.x] = table[in[0] + 16 + threadIdx.x % 2]; // expect: out-of-bounds
}
