// A sparse matrix times a vector in float, a warp each row, in chains of at most 1024 additions.

extern "C" __global__ void spmv_plain(const int *row_start, const int *columns, const float *values,
                                      const float *x, float *y) {
    const int row = blockIdx.x, lane = threadIdx.x, end = row_start[row + 1];
    float sum = 0.0f;
    for (int first = row_start[row]; first < end; first += 32 * 1024) {
        float chain = 0.0f;
        for (int i = first + lane; i < min(end, first + 32 * 1024); i += 32)
            chain += values[i] * x[columns[i]];
        sum += chain;
    }
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (lane == 0)
        y[row] = sum;
}
