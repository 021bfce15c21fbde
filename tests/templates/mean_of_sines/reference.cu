// (1 - cos x) / x without cancellation: in double the reference, in float the plain kernel.

template <typename Real> __global__ void mean_in(const float *x, Real *y, int count) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= count)
        return;
    const Real half = (Real)x[i] / 2, sine = sin(half);
    y[i] = half == 0 ? 0 : sine * sine / half;
}
