// A sparse matrix from a number of elements for each row and a column for each: rows of the compressed format, whose
// columns are in no order. The kernels are C++ templates, one of them in a namespace.

template <class index>
__global__ void csr_starts(const index *lengths, index *row_start, int ROWS) {
    index start = 0;
    for (int row = 0; row < ROWS; ++row) {
        row_start[row] = start;
        start += lengths[row];
    }
    row_start[ROWS] = start;
}

namespace pattern {

template <class index, int threads>
__global__ void columns(const index *picks, const index *row_start, index *columns, int PER_ROW) {
    const int start = row_start[blockIdx.x], length = row_start[blockIdx.x + 1] - start;
    for (int i = threadIdx.x; i < length; i += threads)
        columns[start + i] = picks[blockIdx.x * PER_ROW + i];
}

} // namespace pattern
