// C = epilogue(A B); the problem says what `real` is. A thread sums 4 by 4 elements of a tile of 32
// by 64, so that it needs an element of A or B for two products only.

constexpr int side = 4, row_threads = 16; // elements of a thread; threads along a row of the tile

template <typename element>
__global__ void gemm_reference(const element *a, const element *b, const element *bias,
                               const element *residual, real *c, int M, int N, int K, int trans_a,
                               int trans_b, int epilogue) {
    const int tiles_m = (M + 31) / 32, tiles_n = (N + 63) / 64;
    const int tile = blockIdx.x % (tiles_m * tiles_n);
    const long long batch = blockIdx.x / (tiles_m * tiles_n);
    const int first_row = tile / tiles_n * 32 + threadIdx.x / row_threads * side;
    const int first_column = tile % tiles_n * 64 + threadIdx.x % row_threads;
    const long long a_row = trans_a ? 1 : K, a_k = trans_a ? M : 1;
    const long long b_column = trans_b ? K : 1, b_k = trans_b ? 1 : N;
    long long rows[side], columns[side]; // those beyond the edge repeat the last one
    real sums[side][side] = {};
    a += batch * M * K;
    b += batch * K * N;
    for (int i = 0; i < side; ++i) {
        rows[i] = min(first_row + i, M - 1);
        columns[i] = min(first_column + i * row_threads, N - 1);
    }
    for (int k = 0; k < K; ++k)
        for (int i = 0; i < side; ++i)
            for (int j = 0; j < side; ++j)
                sums[i][j] +=
                    real(a[rows[i] * a_row + k * a_k]) * real(b[columns[j] * b_column + k * b_k]);
    for (int i = 0; i < side; ++i)
        for (int j = 0; j < side; ++j) {
            if (first_row + i >= M || first_column + j * row_threads >= N)
                continue;
            const long long n = (batch * M + rows[i]) * N + columns[j];
            real z = sums[i][j];
            if (epilogue == 4)
                z += real(residual[n]);
            else if (epilogue)
                z += real(bias[columns[j]]);
            if (epilogue == 2) // 0.79...: sqrt(2 / pi)
                z = z * (1 + tanh(real(0.79788456080286536) * (z + real(0.044715) * z * z * z))) /
                    2;
            else if (epilogue == 3)
                z = z / (1 + exp(-z));
            c[n] = z;
        }
}
