// Softmax of rows: one thread a row, three passes.
extern "C" __global__ void softmax_reference(const float *x, real *y, int ROWS, int COLS) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= ROWS)
        return;
    const float *from = x + (long long)row * COLS;
    real *to = y + (long long)row * COLS;
    real largest = from[0], sum = 0;
    for (int column = 1; column < COLS; ++column)
        largest = from[column] > largest ? (real)from[column] : largest;
    for (int column = 0; column < COLS; ++column)
        sum += exp(from[column] - largest);
    for (int column = 0; column < COLS; ++column)
        to[column] = exp(from[column] - largest) / sum;
}
