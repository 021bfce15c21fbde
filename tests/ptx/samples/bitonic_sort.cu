// Sorts a block's keys in shared memory.
extern "C" __global__ void bitonic_sort(unsigned *keys) {
    extern __shared__ unsigned smem[];
    const unsigned i = threadIdx.x;
    unsigned *own = keys + blockIdx.x * blockDim.x;
    smem[i] = own[i];
    __syncthreads();
    for (unsigned size = 2; size <= blockDim.x; size *= 2)
        for (unsigned stride = size / 2; stride > 0; stride /= 2) {
            const unsigned other = i ^ stride;
            if (other > i) {
                const unsigned a = smem[i], b = smem[other];
                if ((a > b) == ((i & size) == 0)) {
                    smem[i] = b;
                    smem[other] = a;
                }
            }
            __syncthreads();
        }
    own[i] = smem[i];
}
