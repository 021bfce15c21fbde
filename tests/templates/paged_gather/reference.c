/* The sum of the tokens of each sequence, which lie in pages, on the CPU. */
#include <stdint.h>

/* dimensions: SEQUENCES, PAGES, WIDTH. tensors: lengths, page_table and pool as stored, y as
 * doubles. */
void paged_gather_reference(const int64_t *dimensions, void *const *tensors) {
    const int32_t *lengths = tensors[0];
    const int32_t *page_table = tensors[1];
    const float *pool = tensors[2];
    double *y = tensors[3];
    const int64_t pages = dimensions[1], width = dimensions[2];

    for (int64_t s = 0; s < dimensions[0]; ++s)
        for (int64_t i = 0; i < width; ++i) {
            double sum = 0;
            for (int32_t token = 0; token < lengths[s]; ++token)
                sum +=
                    pool[((int64_t)page_table[s * pages + token / 8] * 8 + token % 8) * width + i];
            y[s * width + i] = sum;
        }
}
