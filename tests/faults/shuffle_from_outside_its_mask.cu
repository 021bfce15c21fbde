// Half a warp shuffles by 16 lanes: it reads registers of lanes that are not in the member mask.
// run: 1 blocks of 32 threads, 0
// buffer: x 128 output
extern "C" __global__ void faulty(int *x) {
    int i = threadIdx.x;
    x[i] = i;
    if (i < 16)
        x[i] = __shfl_xor_sync(0xffff, i, 16); // expect: inactive-lane
}
