// c = a b^T of bytes, an element each thread.

extern "C" __global__ void int8_product_plain(const signed char *a, const signed char *b, int *c, int M, int N, int K) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M * N)
        return;
    int sum = 0;
    for (int k = 0; k < K; ++k)
        sum += a[i / N * K + k] * b[i % N * K + k];
    c[i] = sum;
}
