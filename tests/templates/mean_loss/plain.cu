// The mean cross entropy in float: a chain for each of 256 threads, then a tree.

extern "C" __global__ void mean_loss_plain(const float *logits, const unsigned *labels, float *loss, int SAMPLES,
                                           int CLASSES) {
    __shared__ float sums[256];
    const int t = threadIdx.x;
    float own = 0.0f;
    for (int i = t; i < SAMPLES; i += 256) {
        const float *row = logits + (long long)i * CLASSES;
        float largest = row[0], sum = 0.0f;
        for (int c = 1; c < CLASSES; ++c)
            largest = fmaxf(largest, row[c]);
        for (int c = 0; c < CLASSES; ++c)
            sum += expf(row[c] - largest);
        own += logf(sum) + (largest - row[labels[i] % CLASSES]);
    }
    sums[t] = own;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half)
            sums[t] += sums[t + half];
    }
    if (t == 0)
        *loss = sums[0] / SAMPLES;
}
