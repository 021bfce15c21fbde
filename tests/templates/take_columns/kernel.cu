// A block computes a row.
extern "C" __global__ void take_columns(const float *x, const int *columns, float *y, int rows, int cols, int taken) {
    if (FAULT == FAULT_ROW && blockIdx.x + 1 == rows && rows > 1)
        return;
    for (int i = threadIdx.x; i < taken; i += THREADS) {
        const int column = FAULT == FAULT_NEXT ? (columns[i] + 1) % cols : columns[i];
        y[blockIdx.x * taken + i] = x[blockIdx.x * cols + column];
    }
}
