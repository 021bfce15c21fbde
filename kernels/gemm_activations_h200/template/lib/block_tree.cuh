// Sums and maxima over the threads of a block, for references: any type, no other file, no speed.
// `threads` is a power of two.
#ifndef EVOTILE_LIB_BLOCK_TREE
#define EVOTILE_LIB_BLOCK_TREE

// `merge(a, b)` of a value of each thread of the block, which all of them get.
template <int threads, typename number, typename function>
__device__ number block_tree(number value, function merge) {
    __shared__ number values[threads];
    const int t = threadIdx.x;
    __syncthreads(); // an earlier result has been read
    values[t] = value;
    for (int half = threads / 2; half > 0; half /= 2) {
        __syncthreads(); // every thread has written
        if (t < half)
            values[t] = merge(values[t], values[t + half]);
    }
    __syncthreads(); // the result is written
    return values[0];
}

template <int threads, typename number> __device__ number block_tree_sum(number value) {
    return block_tree<threads>(value, [](number a, number b) { return a + b; });
}

template <int threads, typename number> __device__ number block_tree_max(number value) {
    return block_tree<threads>(value, [](number a, number b) { return a > b ? a : b; });
}

#endif
