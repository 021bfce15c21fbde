// Adds to partial sums that were never cleared.
// run: 1 blocks of 32 threads, 0
// buffer: parts 128 empty
// buffer: x 128 output
extern "C" __global__ void faulty(float *parts, float *x) {
    int i = threadIdx.x;
    parts[i] += 1; // expect: unwritten
    x[i] = parts[i];
}
