// Correct: __ldg of an input and of what the kernel before wrote.
// run: 2 blocks of 64 threads, 0
// buffer: in 512 input
// buffer: work 512 empty
// buffer: x 512 output
// before: before
extern "C" __global__ void before(const int *in, int *work, int *) {
    int i = blockIdx.x * 64 + threadIdx.x;
    work[i] = __ldg(&in[i]);
}
extern "C" __global__ void faulty(const int *in, int *work, int *x) {
    int i = blockIdx.x * 64 + threadIdx.x;
    asm volatile("griddepcontrol.wait;" : : : "memory");
    x[i] = __ldg(&in[127 - i]) + __ldg(&work[127 - i]);
}
