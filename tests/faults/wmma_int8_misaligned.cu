// wmma on bytes with a stride that is not a multiple of 8, the size of a lane's fragment.
// run: 1 blocks of 32 threads, 0
// buffer: x 512 input
// buffer: y 256 output
extern "C" __global__ void faulty(const signed char *x, int *y) {
    int a, b;
    asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.global.s8 {%0, %1}, [%2], 20;" : "=r"(a), "=r"(b) : "l"(x + 8)); // expect: misaligned
    y[threadIdx.x] = a;
    y[threadIdx.x + 32] = b;
}
