// Convolves the rows of an image with a filter in constant memory; pixels beyond the ends are zeros.
enum { RADIUS = 4 };
__constant__ float filter[2 * RADIUS + 1] = {0.05f, 0.09f, 0.12f, 0.15f, 0.18f, 0.15f, 0.12f, 0.09f, 0.05f};
extern "C" __global__ void convolution(const float *in, float *out, int width) {
    extern __shared__ float smem[];
    const int first = blockIdx.x * blockDim.x - RADIUS, row = blockIdx.y * width;
    for (int i = threadIdx.x; i < blockDim.x + 2 * RADIUS; i += blockDim.x) {
        const int x = first + i;
        smem[i] = x >= 0 && x < width ? in[row + x] : 0;
    }
    __syncthreads();
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
#pragma unroll
    for (int k = 0; k <= 2 * RADIUS; k++)
        sum += filter[k] * smem[threadIdx.x + k];
    if (x < width)
        out[row + x] = sum;
}
