// The buffer's size is not a multiple of the vector's: the last load reads one byte past the end.
// run: 1 blocks of 32 threads, 0
// buffer: bytes 127 input
// buffer: out 128 output
extern "C" __global__ void faulty(const char *bytes, int *out) {
    int i = threadIdx.x;
    int sum = 0;
    for (int j = 0; j < 4; j++)
        sum += bytes[4 * i + j]; // expect: out-of-bounds uncoalesced
    out[i] = sum;
}
