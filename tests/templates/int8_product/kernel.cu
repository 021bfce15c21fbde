// c = a b^T of bytes, a row of b for each column of c.

__device__ int dot(const signed char *a, const signed char *b, int K) {
    int sum = 0, k = FAULT == FAULT_OFF_BY_ONE ? 1 : 0;
    if (WORDS && K % 4 == 0 && k == 0)
        for (; k < K; k += 4)
            sum = __dp4a(*(const int *)(a + k), *(const int *)(b + k), sum);
    for (; k < K; ++k)
        sum += a[k] * b[k];
    return sum;
}

extern "C" __global__ void int8_product(const signed char *a, const signed char *b, int *c, int M, int N, int K) {
    const int groups = (N + COLUMNS - 1) / COLUMNS, i = blockIdx.x * THREADS + threadIdx.x;
    const int row = i / groups, first = i % groups * COLUMNS;
    if (row >= M)
        return;
    for (int column = first; column < first + COLUMNS && column < N; ++column)
        c[(long long)row * N + column] = dot(a + (long long)row * K, b + (long long)column * K, K);
}
