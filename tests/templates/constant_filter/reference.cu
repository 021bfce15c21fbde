// The convolution in double precision. It takes the taps as an argument.

extern "C" __global__ void convolve_reference(const float *image, const float *taps, double *out, int H, int W, int R) {
    const int x = blockIdx.x * 128 + threadIdx.x, y = blockIdx.y, side = 2 * R + 1;
    double sum = 0.0;
    if (x >= W)
        return;
    for (int i = 0; i < side * side; ++i) {
        const int from_y = y + i / side - R, from_x = x + i % side - R;
        if (from_y >= 0 && from_y < H && from_x >= 0 && from_x < W)
            sum += (double)taps[i] * image[(long long)from_y * W + from_x];
    }
    out[(long long)y * W + x] = sum;
}
