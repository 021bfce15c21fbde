// A sparse matrix whose row lengths vary strongly, as those of graphs do: a row's share of the
// elements is 0 in one of four rows, else in proportion to 1 / u for a random u, at most `most`.
// Columns of a row ascend. All sums are of integers, and every product of doubles is rounded alone,
// so that each device draws the same matrix.

constexpr int threads = 256; // rows of a block

// 0, or 1 to `most`; half of the rows have at most 1.
__device__ long long row_weight(unsigned draw, int most) {
    return draw % 4 == 0 ? 0 : min(65536 / ((draw >> 16) + 1), most);
}

// The sum of `own` over the block's threads before this one; *all: over all of them.
__device__ long long sum_before(long long own, long long *all) {
    __shared__ long long sums[threads];
    const int t = threadIdx.x;
    long long sum = own;
    for (int step = 1; step < threads; step *= 2) {
        sums[t] = sum;
        __syncthreads();
        sum += t >= step ? sums[t - step] : 0;
        __syncthreads();
    }
    sums[t] = sum;
    __syncthreads();
    *all = sums[threads - 1];
    return sum - own;
}

extern "C" __global__ void sum_weights(const unsigned *draws, long long *block_weights, int ROWS,
                                       int most) {
    const int row = blockIdx.x * threads + threadIdx.x;
    long long all;
    sum_before(row < ROWS ? row_weight(draws[row], most) : 0, &all);
    if (threadIdx.x == 0)
        block_weights[blockIdx.x] = all;
}

// One block: replaces the weight of each block of rows by that of the blocks before; the last is
// that of all.
extern "C" __global__ void add_weights(long long *block_weights, int blocks) {
    const int share = (blocks + threads - 1) / threads;
    const int first = min((int)threadIdx.x * share, blocks), end = min(first + share, blocks);
    long long own = 0, all;
    for (int b = first; b < end; ++b)
        own += block_weights[b];
    long long sum = sum_before(own, &all);
    for (int b = first; b < end; ++b) {
        const long long weight = block_weights[b];
        block_weights[b] = sum;
        sum += weight;
    }
    if (threadIdx.x == 0)
        block_weights[blocks] = all;
}

extern "C" __global__ void draw_rows(const unsigned *draws, const long long *block_weights,
                                     int *row_start, int ROWS, int NONZEROS, int most) {
    const int row = blockIdx.x * threads + threadIdx.x;
    const long long total = block_weights[gridDim.x];
    long long all;
    const long long sum = block_weights[blockIdx.x] +
                          sum_before(row < ROWS ? row_weight(draws[row], most) : 0, &all);
    if (row < ROWS) // without a weight, the last row has all elements
        row_start[row] =
            total == 0 ? 0 : (int)(__dmul_rn((double)sum, (double)NONZEROS) / (double)total);
    if (row == 0)
        row_start[ROWS] = NONZEROS;
}

// Element j of a row of `length` has a random one of the columns from j COLS / length to (j + 1)
// COLS / length.
extern "C" __global__ void draw_columns(const unsigned *places, const int *row_start, int *columns,
                                        int ROWS, int COLS, int NONZEROS) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= NONZEROS)
        return;
    int row = 0, beyond = ROWS; // row_start[row] <= i < row_start[beyond]
    while (beyond - row > 1) {
        const int middle = row + (beyond - row) / 2;
        if (row_start[middle] <= i)
            row = middle;
        else
            beyond = middle;
    }
    const int j = i - row_start[row], length = row_start[row + 1] - row_start[row];
    const double place = j + __dmul_rn((double)places[i], 1.0 / 4294967296.0);
    columns[i] = min((int)(__dmul_rn(place, (double)COLS) / (double)length), COLS - 1);
}
