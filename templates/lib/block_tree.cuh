// Sums over the threads of a block, for references: any type, no other file, and no speed. `threads`
// is a power of two.
#ifndef EVOTILE_LIB_BLOCK_TREE
#define EVOTILE_LIB_BLOCK_TREE

// The sum of a value of each thread of the block, which all of them get.
template <int threads, typename number> __device__ number block_tree_sum(number value) {
    __shared__ number values[threads];
    const int t = threadIdx.x;
    __syncthreads(); // an earlier sum has been read
    values[t] = value;
    for (int half = threads / 2; half > 0; half /= 2) {
        __syncthreads(); // every thread has written
        if (t < half)
            values[t] += values[t + half];
    }
    __syncthreads(); // the sum is written
    return values[0];
}

#endif
