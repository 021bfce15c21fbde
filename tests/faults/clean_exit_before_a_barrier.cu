// Correct since sm_70: lanes of a warp exit before a barrier, which waits only for threads that have not exited.
// run: 2 blocks of 64 threads, 0
// buffer: x 480 output
// value: 120
extern "C" __global__ void faulty(float *x, int n) {
    __shared__ float smem[64];
    int t = blockIdx.x * 64 + threadIdx.x;
    if (t >= n)
        return;
    smem[threadIdx.x] = t;
    __syncthreads();
    x[t] = smem[threadIdx.x ^ 1];
    __syncthreads();
    if (t % 2)
        return;
    smem[threadIdx.x] = 2 * t;
    __syncthreads();
    x[t] += smem[threadIdx.x];
}
