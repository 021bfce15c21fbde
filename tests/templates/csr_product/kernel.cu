// A sparse matrix times a vector: LANES lanes of a warp sum a row.

extern "C" __global__ void csr_product(const int *row_start, const int *columns, const float *values, const float *x,
                                       float *y, int ROWS) {
    const int row = blockIdx.x * (128 / LANES) + threadIdx.x / LANES, lane = threadIdx.x % LANES;
    float sum = 0.0f;
    if (row < ROWS) {
        const int first = row_start[row] + (FAULT == FAULT_SKIPS_FIRST), end = row_start[row + 1];
        for (int i = first + lane; i < end; i += LANES) {
            if (FAULT == FAULT_SORTED_COLUMNS && i > first && columns[i] < columns[i - 1])
                continue; // a row of sorted columns has none
            sum += values[i] * x[columns[i] + (FAULT == FAULT_BEYOND ? 4096 : 0)];
        }
    }
    for (int distance = LANES / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (row < ROWS && lane == 0)
        y[row] = sum;
}
