/* C = epilogue(A B) in double precision on the CPU, an element at a time. */
#include <math.h>
#include <stdint.h>
#include <string.h>

static double from_half(uint16_t bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double magnitude = exponent == 31  ? (fraction ? NAN : INFINITY)
                       : exponent == 0 ? ldexp(fraction, -24)
                                       : ldexp(fraction + 1024, exponent - 25);
    return bits >> 15 ? -magnitude : magnitude;
}

static double from_bfloat(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float value;

    memcpy(&value, &wide, sizeof value);
    return value;
}

static double element(const void *tensor, int64_t n, int64_t is_bfloat) {
    uint16_t bits = ((const uint16_t *)tensor)[n];

    return is_bfloat ? from_bfloat(bits) : from_half(bits);
}

static double sigmoid(double x) {
    return 1 / (1 + exp(-x));
}

/* dimensions: M, N, K, BATCH, TRANS_A, TRANS_B, BF16, EPILOGUE. tensors: a, b, bias and residual as
   stored, c as doubles. GELU by tanh is z sigmoid(2 sqrt(2 / pi) (z + 0.044715 z^3)). */
void gemm_reference(const int64_t *dimensions, void *const *tensors) {
    int64_t m = dimensions[0], n = dimensions[1], k = dimensions[2], batches = dimensions[3];
    int64_t trans_a = dimensions[4], trans_b = dimensions[5], is_bfloat = dimensions[6];
    int64_t epilogue = dimensions[7];
    double *c = tensors[4];

    for (int64_t batch = 0; batch < batches; ++batch)
        for (int64_t row = 0; row < m; ++row)
            for (int64_t column = 0; column < n; ++column, ++c) {
                double sum = 0;

                for (int64_t i = 0; i < k; ++i)
                    sum +=
                        element(tensors[0], batch * m * k + (trans_a ? i * m + row : row * k + i),
                                is_bfloat) *
                        element(tensors[1],
                                batch * k * n + (trans_b ? column * k + i : i * n + column),
                                is_bfloat);
                if (epilogue >= 1 && epilogue <= 3)
                    sum += element(tensors[2], column, is_bfloat);
                if (epilogue == 2)
                    sum *= sigmoid(1.5957691216057308 * (sum + 0.044715 * sum * sum * sum));
                if (epilogue == 3)
                    sum *= sigmoid(sum);
                if (epilogue == 4)
                    sum += element(tensors[3], (batch * m + row) * n + column, is_bfloat);
                *c = sum;
            }
}
