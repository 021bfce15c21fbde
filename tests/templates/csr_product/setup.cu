// A sparse matrix from a number of elements for each row and a column for each: rows of the compressed format, whose
// columns are in no order.

extern "C" __global__ void csr_starts(const int *lengths, int *row_start, int ROWS) {
    int start = 0;
    for (int row = 0; row < ROWS; ++row) {
        row_start[row] = start;
        start += lengths[row];
    }
    row_start[ROWS] = start;
}

extern "C" __global__ void csr_columns(const int *picks, const int *row_start, int *columns, int PER_ROW) {
    const int start = row_start[blockIdx.x], length = row_start[blockIdx.x + 1] - start;
    for (int i = threadIdx.x; i < length; i += blockDim.x)
        columns[start + i] = picks[blockIdx.x * PER_ROW + i];
}
