// The mean cross entropy in double precision, and the mean of its terms' magnitudes: of a sample |log of the sum|,
// |largest logit| and |logit of the label|.

extern "C" __global__ void mean_loss_reference(const float *logits, const unsigned *labels, double *loss,
                                               double *loss_magnitude, int SAMPLES, int CLASSES) {
    __shared__ double sums[256], magnitudes[256];
    const int t = threadIdx.x;
    double own = 0.0, own_magnitude = 0.0;
    for (int i = t; i < SAMPLES; i += 256) {
        const float *row = logits + (long long)i * CLASSES;
        double largest = row[0], sum = 0.0, of_label = row[labels[i] % CLASSES];
        for (int c = 1; c < CLASSES; ++c)
            largest = fmax(largest, (double)row[c]);
        for (int c = 0; c < CLASSES; ++c)
            sum += exp(row[c] - largest);
        own += log(sum) + largest - of_label;
        own_magnitude += log(sum) + fabs(largest) + fabs(of_label);
    }
    sums[t] = own;
    magnitudes[t] = own_magnitude;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) {
            sums[t] += sums[t + half];
            magnitudes[t] += magnitudes[t + half];
        }
    }
    if (t == 0) {
        *loss = sums[0] / SAMPLES;
        *loss_magnitude = magnitudes[0] / SAMPLES;
    }
}
