// A match whose member mask leaves out lanes that call it.
// run: 1 blocks of 32 threads, 0
// buffer: out 128 output
extern "C" __global__ void faulty(unsigned *out) {
    out[threadIdx.x] = __match_any_sync(0x0000ffff, threadIdx.x / 4); // expect: lanes-disagree
}
