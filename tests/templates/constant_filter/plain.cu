// The convolution in float. It declares the variable that holds the taps, as large as they may be.

__constant__ float filter[17 * 17];

extern "C" __global__ void convolve_plain(const float *image, float *out, int H, int W, int R) {
    const int x = blockIdx.x * 128 + threadIdx.x, y = blockIdx.y, side = 2 * R + 1;
    float sum = 0.0f;
    if (x >= W)
        return;
    for (int i = 0; i < side * side; ++i) {
        const int from_y = y + i / side - R, from_x = x + i % side - R;
        if (from_y >= 0 && from_y < H && from_x >= 0 && from_x < W)
            sum += filter[i] * image[(long long)from_y * W + from_x];
    }
    out[(long long)y * W + x] = sum;
}
