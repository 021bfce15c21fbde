/* The convolution in double precision on the CPU. */
#include <stdint.h>

/* dimensions: H, W, R. tensors: image and taps as stored, out as a double. */
void constant_filter_reference(const int64_t *dimensions, void *const *tensors) {
    const float *image = tensors[0], *taps = tensors[1];
    double *out = tensors[2];
    int64_t height = dimensions[0], width = dimensions[1], r = dimensions[2], side = 2 * r + 1;

    for (int64_t y = 0; y < height; ++y)
        for (int64_t x = 0; x < width; ++x) {
            double sum = 0;

            for (int64_t i = 0; i < side * side; ++i) {
                int64_t from_y = y + i / side - r, from_x = x + i % side - r;

                if (from_y >= 0 && from_y < height && from_x >= 0 && from_x < width)
                    sum += (double)taps[i] * image[from_y * width + from_x];
            }
            out[y * width + x] = sum;
        }
}
