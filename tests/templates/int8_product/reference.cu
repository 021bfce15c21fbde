// c = a b^T of bytes, in double precision, which is exact.

extern "C" __global__ void int8_product_reference(const signed char *a, const signed char *b, double *c, int M, int N,
                                                  int K) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M * N)
        return;
    double sum = 0;
    for (int k = 0; k < K; ++k)
        sum += a[i / N * K + k] * b[i % N * K + k];
    c[i] = sum;
}
