// Sums of rows: each thread adds every THREADS-th element to one of SUMS sums, then the block adds up the threads'.

#if !defined(THREADS) || !defined(SUMS)
#error "a gene of row_sums is not defined: see genes in template.json"
#endif

__shared__ float smem[2][THREADS];

extern "C" __global__ void row_sums(const float *x, float *sum, float *squares, int COLS) {
    const float *row = x + (long long)blockIdx.x * COLS;
    float own_sum[SUMS] = {}, own_squares[SUMS] = {};
    int turn = 0;
    for (int column = threadIdx.x; column < COLS; column += THREADS) {
        for (int i = 0; i < SUMS; ++i) // a constant index keeps the sums in registers
            if (i == turn) {
                own_sum[i] += row[column];
                own_squares[i] += row[column] * row[column];
            }
        turn = turn + 1 < SUMS ? turn + 1 : 0;
    }
    for (int i = 1; i < SUMS; ++i) {
        own_sum[0] += own_sum[i];
        own_squares[0] += own_squares[i];
    }
    smem[0][threadIdx.x] = own_sum[0];
    smem[1][threadIdx.x] = own_squares[0];
    __syncthreads(); // every thread's sums are stored
    for (int distance = THREADS / 2; distance > 0; distance /= 2) {
        if (threadIdx.x < distance)
            for (int which = 0; which < 2; ++which)
                smem[which][threadIdx.x] += smem[which][threadIdx.x + distance];
        __syncthreads(); // this round's sums are stored
    }
    if (threadIdx.x == 0) {
        sum[blockIdx.x] = smem[0][0];
        squares[blockIdx.x] = smem[1][0];
    }
}
