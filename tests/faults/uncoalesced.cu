// Adjacent lanes load words that are a row apart.
// run: 1 blocks of 32 threads, 0
// buffer: in 4096 input
// buffer: x 128 output
extern "C" __global__ void faulty(const float *in, float *x) {
    x[threadIdx.x] = in[32 * threadIdx.x]; // expect: uncoalesced
}
