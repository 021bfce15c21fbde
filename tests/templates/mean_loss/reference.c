/* The mean cross entropy in double precision on the CPU, and the mean of its terms' magnitudes. */
#include <math.h>
#include <stdint.h>

/* dimensions: SAMPLES, CLASSES. tensors: logits and labels as stored, the loss as a double, then
   its magnitude. */
void mean_loss_reference(const int64_t *dimensions, void *const *tensors) {
    const float *logits = tensors[0];
    const uint32_t *labels = tensors[1];
    double *loss = tensors[2], *loss_magnitude = tensors[3];
    int64_t samples = dimensions[0], classes = dimensions[1];

    *loss = *loss_magnitude = 0;
    for (int64_t i = 0; i < samples; ++i) {
        const float *row = logits + i * classes;
        double largest = row[0], sum = 0, of_label = row[labels[i] % (uint64_t)classes];

        for (int64_t c = 1; c < classes; ++c)
            largest = fmax(largest, (double)row[c]);
        for (int64_t c = 0; c < classes; ++c)
            sum += exp(row[c] - largest);
        *loss += (log(sum) + largest - of_label) / (double)samples;
        *loss_magnitude += (log(sum) + fabs(largest) + fabs(of_label)) / (double)samples;
    }
}
