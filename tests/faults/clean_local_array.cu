// Correct: an array in local memory that is filled, also by a wide store, before it is read.
// run: 1 blocks of 32 threads, 0
// buffer: in 128 input
// buffer: x 128 output
struct pair {
    int value;
    char small;
};
extern "C" __global__ void faulty(const int *in, int *x) {
    pair values[8];
    int i = threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < 8; k++)
        values[(k + in[i]) % 8] = pair{k, (char)k};
    pair copy = values[(in[i] + i) % 8];
    x[i] = copy.value + copy.small;
}
