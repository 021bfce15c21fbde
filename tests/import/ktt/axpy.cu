// y = a x + b, as KTT's examples are: a template, whose work is a macro.
template <typename T, typename Index>
__global__ void axpy(const T *x, const T *b, T *y, T a, Index n) {
    for (Index k = 0; k < WORK; k++) {
        const Index i = (blockIdx.x * WORK + k) * GROUP + threadIdx.x;
        if (i < n) y[i] = a * x[i] + b[i];
    }
}
