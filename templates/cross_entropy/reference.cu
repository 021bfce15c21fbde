// The cross entropy of rows, and the sum of the absolute values of its terms: a block has a row, in
// two passes. In double precision, and in float for the plain kernel.

#include "lib/block_tree.cuh"
#include "lib/widen.cuh"

constexpr int threads = 128;

DEVICE float logit(const void *logits, i64 n, int is_float) {
    return is_float ? static_cast<const float *>(logits)[n]
                    : widen(static_cast<const bf16 *>(logits)[n]);
}

template <typename real>
DEVICE void row_loss(const void *logits, const i64 *labels, real *loss, real *magnitude,
                     int VOCABULARY, int is_float) {
    const i64 row = blockIdx.x, start = row * VOCABULARY, label = labels[row];
    float largest = minus_infinity;
    real sum = 0;
    for (int c = threadIdx.x; c < VOCABULARY; c += threads)
        largest = fmaxf(largest, logit(logits, start + c, is_float));
    largest = block_tree_max<threads>(largest);
    for (int c = threadIdx.x; c < VOCABULARY; c += threads)
        sum += exp(real(logit(logits, start + c, is_float)) - largest);
    sum = block_tree_sum<threads>(sum);
    if (threadIdx.x != 0)
        return;
    const real of_label = label < 0 ? real(0) : real(logit(logits, start + label, is_float));
    *loss = label < 0 ? real(0) : log(sum) + (real(largest) - of_label);
    *magnitude = label < 0 ? real(0) : log(sum) + fabs(real(largest)) + fabs(of_label);
}

template <typename real>
__global__ void cross_entropy_reference(const void *logits, const i64 *labels, real *loss,
                                        real *loss_magnitude, int VOCABULARY, int is_float) {
    row_loss<real>(logits, labels, loss + blockIdx.x, loss_magnitude + blockIdx.x, VOCABULARY,
                   is_float);
}

extern "C" __global__ void cross_entropy_plain(const void *logits, const i64 *labels, float *loss,
                                               int VOCABULARY, int is_float) {
    float magnitude;
    row_loss<float>(logits, labels, loss + blockIdx.x, &magnitude, VOCABULARY, is_float);
}
