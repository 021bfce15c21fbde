// Rows of a table by labels, a block each, in double precision; an i64 output stays i64.

extern "C" __global__ void gather_rows_reference(const float *table, const long long *labels, const unsigned char *mask,
                                       double *y, long long *keys, double *skipped, int N, int ROWS,
                                       int COLS) {
    const int n = blockIdx.x;
    const unsigned long long label = labels[n];
    for (int i = threadIdx.x; i < COLS; i += blockDim.x)
        y[(long long)n * COLS + i] = mask[n] ? table[label % ROWS * COLS + i] : 0.0f;
    if (threadIdx.x == 0) {
        keys[n] = label ^ n;
        skipped[n] = !mask[n];
    }
}
