// The same in double precision, a thread for each row.

extern "C" __global__ void weighted_pick_reference(const float *x, const int *order, const float *weights,
                                         const unsigned char *codes, const float *table, const int *offsets,
                                         const signed char *signs, const int *bounds, double *y, int ROWS, int COLS,
                                         int SHIFT, float GAIN) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= ROWS)
        return;
    const long long from = (long long)order[row] * COLS;
    double sum = 0;
    for (int i = 0; i < COLS; ++i)
        sum += (double)weights[from + i] * x[from + (i + (long long)SHIFT) % COLS];
    const int code = offsets[codes[row]];
    y[row] = GAIN * sum + (double)signs[code] * table[code] + bounds[row] * (double)0.125;
}
