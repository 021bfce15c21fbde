// A few vectors times a matrix of scaled 4-bit integers, an element of y each thread. The formula
// is in problem.json.

template <typename element>
__global__ void gemv_reference(const element *x, const unsigned char *weights,
                               const element *scales_zeros, real *y, int N, int K, int GROUP) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y;
    if (n >= N)
        return;
    real sum = 0;
    for (int group = 0; group * GROUP < K; ++group) {
        const element *of_group = scales_zeros + ((long long)group * N + n) * 2;
        const real scale = of_group[0], zero = of_group[1];
        real of_integers = 0, of_x = 0;
        for (int k = group * GROUP; k < (group + 1) * GROUP && k < K; ++k) {
            const int byte = weights[((long long)n * K + k) / 2];
            const int integer = (k % 2 ? byte >> 4 : byte & 15) - 8;
            of_integers += (real)x[(long long)m * K + k] * (real)integer;
            of_x += (real)x[(long long)m * K + k];
        }
        sum += scale * of_integers + zero * of_x;
    }
    y[(long long)m * N + n] = sum;
}
