/* The cross entropy of rows in double precision on the CPU, and the magnitudes of its terms. */
#include <math.h>
#include <stdint.h>
#include <string.h>

static double logit(const void *logits, int64_t n, int64_t is_float) {
    uint32_t word;
    float value;

    if (is_float)
        return ((const float *)logits)[n];
    word = (uint32_t)((const uint16_t *)logits)[n] << 16;
    memcpy(&value, &word, sizeof value);
    return value;
}

/* dimensions: ROWS, VOCABULARY, F32. tensors: logits and labels as stored, the loss as doubles,
   then its magnitude. */
void cross_entropy_reference(const int64_t *dimensions, void *const *tensors) {
    int64_t rows = dimensions[0], vocabulary = dimensions[1], is_float = dimensions[2];
    const int64_t *labels = tensors[1];
    double *loss = tensors[2], *magnitude = tensors[3];

    for (int64_t row = 0; row < rows; ++row) {
        int64_t start = row * vocabulary;
        double largest = -INFINITY, sum = 0, of_label;

        loss[row] = magnitude[row] = 0;
        if (labels[row] < 0)
            continue;
        of_label = logit(tensors[0], start + labels[row], is_float);
        for (int64_t c = 0; c < vocabulary; ++c)
            largest = fmax(largest, logit(tensors[0], start + c, is_float));
        for (int64_t c = 0; c < vocabulary; ++c)
            sum += exp(logit(tensors[0], start + c, is_float) - largest);
        loss[row] = log(sum) + largest - of_label;
        magnitude[row] = log(sum) + fabs(largest) + fabs(of_label);
    }
}
