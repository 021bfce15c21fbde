// C = A B; the problem says what `real` is. A thread sums 4 by 4 elements of a tile of 32 by 64,
// so that it needs an element of A or B for two products only.

constexpr int side = 4, row_threads = 16; // elements of a thread; threads along a row of the tile

extern "C" __global__ void gemm_reference(const float *a, const float *b, real *c, int M, int N,
                                          int K) {
    const int tiles_n = (N + 63) / 64;
    const int first_row = blockIdx.x / tiles_n * 32 + threadIdx.x / row_threads * side;
    const int first_column = blockIdx.x % tiles_n * 64 + threadIdx.x % row_threads;
    long long rows[side], columns[side]; // those beyond the edge repeat the last one
    real sums[side][side] = {};
    for (int i = 0; i < side; ++i) {
        rows[i] = min(first_row + i, M - 1);
        columns[i] = min(first_column + i * row_threads, N - 1);
    }
    for (int k = 0; k < K; ++k)
        for (int i = 0; i < side; ++i)
            for (int j = 0; j < side; ++j)
                sums[i][j] += real(a[rows[i] * K + k]) * real(b[k * (long long)N + columns[j]]);
    for (int i = 0; i < side; ++i)
        for (int j = 0; j < side; ++j)
            if (first_row + i < M && first_column + j * row_threads < N)
                c[rows[i] * N + columns[j]] = sums[i][j];
}
