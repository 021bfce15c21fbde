// y = factor x; the macros of the descriptions are of no importance to it, but for the block.
#ifndef items
#define items 1
#endif
__global__ void scale(const float *x, float *y, int n, float factor) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = factor * x[i];
}
