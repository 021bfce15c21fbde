// One time step of the wave equation. The problem says what `real` is. `now` holds what was before
// `before`, and gets what comes after it; in the first step both are empty.
extern "C" __global__ void wave_reference(const float *start, const float *before_start,
                                          real *before, real *now, int H, int W, int first,
                                          float courant) {
    const int x = blockIdx.x * 128 + threadIdx.x, y = blockIdx.y;
    const long long n = (long long)y * W + x;
    if (x >= W)
        return;
    auto u = [=](long long i) -> real { return first ? real(start[i]) : before[i]; };
    const real older = first ? real(before_start[n]) : now[n];
    if (y == 0 || y == H - 1 || x == 0 || x == W - 1)
        now[n] = u(n);
    else
        now[n] = 2 * u(n) - older +
                 real(courant) * (u(n - W) + u(n + W) + u(n - 1) + u(n + 1) - 4 * u(n));
    if (first)
        before[n] = start[n];
}
