// The convolution; a thread sums one element. The problem says what `real` is.
extern "C" __global__ void convolution_reference(const float *image, const float *taps, real *out,
                                                 int H, int W, int R) {
    const int row_blocks = (W + 127) / 128, side = 2 * R + 1;
    const int x = blockIdx.x % row_blocks * 128 + threadIdx.x, y = blockIdx.x / row_blocks;
    if (x >= W)
        return;
    real sum = 0;
    for (int i = 0; i < side * side; ++i) {
        const int from_y = y + i / side - R, from_x = x + i % side - R;
        if (from_y >= 0 && from_y < H && from_x >= 0 && from_x < W)
            sum += real(taps[i]) * real(image[(long long)from_y * W + from_x]);
    }
    out[(long long)y * W + x] = sum;
}
