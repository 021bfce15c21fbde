// The index of a local array exceeds it by one in the last thread.
// run: 1 blocks of 32 threads, 0
// buffer: in 128 input
// buffer: out 128 output
extern "C" __global__ void faulty(const int *in, int *out) {
    int a[8];
    for (int i = 0; i < 8; i++)
        a[(i + in[i]) % 8] = i;
    out[threadIdx.x] = a[in[threadIdx.x] + (threadIdx.x == 31 ? 8 : 7)]; // expect: out-of-bounds
}
