// Rows of a table by labels: a block copies the rows of ITEMS labels.

extern "C" __global__ void gather_rows(const float *table, const long long *labels, const unsigned char *mask, float *y,
                                       long long *keys, unsigned char *skipped, int N, int ROWS, int COLS) {
    for (int n = blockIdx.x * ITEMS; n < N && n < (blockIdx.x + 1) * ITEMS; ++n) {
        const unsigned long long label = labels[n];
        const int row = (label + (FAULT == FAULT_NEXT_ROW)) % ROWS;
        const float *from = table + (long long)row * COLS;
        float *to = y + (long long)n * COLS;
        for (int i = threadIdx.x; i < COLS; i += UNROLL * THREADS) {
            float read[UNROLL];
            for (int u = 0; u < UNROLL; ++u)
                read[u] = mask[n] && i + u * THREADS < COLS ? from[i + u * THREADS] : 0.0f;
            for (int u = 0; u < UNROLL; ++u)
                if (i + u * THREADS < COLS)
                    to[i + u * THREADS] = read[u];
        }
        if (threadIdx.x == 0) {
            const long long key = label ^ n;
            keys[n] = FAULT == FAULT_ROUNDED_KEY ? (long long)(double)key : key;
            skipped[n] = mask[n] ? 0 : FAULT == FAULT_TRUE_IS_TWO ? 2 : 1;
        }
    }
}
