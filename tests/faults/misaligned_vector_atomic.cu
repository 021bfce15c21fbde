// A vector atomic of 16 bytes at an address that is a multiple of 8 only.
// run: 1 blocks of 32 threads, 0
// buffer: x 1024 output
extern "C" __global__ void faulty(float *x) {
    float *at = x + 4 * threadIdx.x + (threadIdx.x == 9 ? 2 : 0);
    asm volatile("red.global.add.v4.f32 [%0], {%1, %1, %1, %1};" : : "l"(at), "f"(1.0f) : "memory"); // expect: misaligned
}
