// A barrier is missing behind instructions that the emulated device lacks: one that is executed, one that is not, and
// one whose operand is a constant expression.
// run: 1 blocks of 64 threads, 0
// skips unsupported
// buffer: x 256 output
extern "C" __global__ void faulty(int *x) {
    __shared__ int smem[64];
    int i = threadIdx.x;
    if (i > 64)
        asm volatile("vabsdiff.u32.u32.u32 %0, %0, %0;" : "+r"(i));
    asm volatile("vadd.u32.u32.u32 %0, %0, %1;" : "+r"(i) : "r"(x[i])); // expect: unknown-opcode
    asm volatile("add.s32 %0, %0, (1 + 2) * 0;" : "+r"(i)); // expect: unknown-opcode
    smem[i] = i;
    x[i] = smem[63 - i]; // expect: race-in-block
}
