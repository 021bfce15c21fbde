// Scales its input in place.
// run: 1 blocks of 32 threads, 0
// buffer: x 128 input
extern "C" __global__ void faulty(float *x) {
    x[threadIdx.x] *= 2; // expect: wrote-input
}
