// Correct: each half of the warp shuffles within its own member mask.
// run: 1 blocks of 32 threads, 0
// buffer: x 128 output
extern "C" __global__ void faulty(int *x) {
    int i = threadIdx.x, sum = i;
    unsigned members = i < 16 ? 0xffff : 0xffff0000;
    for (int k = 8; k; k /= 2)
        sum += __shfl_xor_sync(members, sum, k);
    sum += __shfl_down_sync(members, sum, 4, 8) + __shfl_up_sync(members, sum, 1, 16);
    x[i] = sum;
}
