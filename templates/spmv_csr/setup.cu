// A sparse matrix whose row lengths vary strongly, as those of graphs do: a row's share of the
// elements is 0 in one of four rows, else in proportion to 1 / u for a random u. Columns of a row
// ascend. All sums are of integers, and every product of doubles is rounded alone, so that each
// device draws the same matrix.

constexpr int threads = 1024;

// 0, or 1 to 65536; half of the rows have at most 1.
__device__ long long row_weight(unsigned draw) {
    return draw % 4 == 0 ? 0 : 65536 / ((draw >> 16) + 1);
}

extern "C" __global__ void draw_rows(const unsigned *draws, int *row_start, int ROWS,
                                     int NONZEROS) {
    __shared__ long long before[threads + 1];
    const int t = threadIdx.x, share = (ROWS + threads - 1) / threads;
    const int first = min(t * share, ROWS), end = min(first + share, ROWS);
    long long own = 0;
    for (int row = first; row < end; ++row)
        own += row_weight(draws[row]);
    before[t + 1] = own;
    __syncthreads();
    if (t == 0) {
        before[0] = 0;
        for (int i = 1; i <= threads; ++i)
            before[i] += before[i - 1];
    }
    __syncthreads();
    const long long total = before[threads];
    long long sum = before[t];
    for (int row = first; row < end; ++row) { // without a weight, the last row has all elements
        row_start[row] =
            total == 0 ? 0 : (int)(__dmul_rn((double)sum, (double)NONZEROS) / (double)total);
        sum += row_weight(draws[row]);
    }
    if (t == 0)
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
