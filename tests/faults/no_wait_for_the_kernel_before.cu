// A programmatically launched kernel reads the previous kernel's workspace without waiting for it.
// run: 2 blocks of 32 threads, 0
// before: parts
// buffer: work 256 empty
// buffer: x 256 output
extern "C" __global__ void parts(float *work, float *x) {
    work[blockIdx.x * 32 + threadIdx.x] = threadIdx.x;
}
extern "C" __global__ void faulty(float *work, float *x) {
    int i = blockIdx.x * 32 + threadIdx.x;
    x[i] = work[63 - i]; // expect: before-wait
    asm volatile("griddepcontrol.wait;" ::: "memory");
    x[i] = work[63 - i];
}
