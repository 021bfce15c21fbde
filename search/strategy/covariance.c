#include "strategy/covariance.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* e^-x for x >= 0 with a relative error of 2e-7: 2^whole by the exponent bits, times a
   polynomial (the Taylor series of 2^part for |part| <= 1/2, whose seventh term is below that
   error). */
static inline float exp_minus(float x) {
    float y = (x < 80 ? x : 80) * -1.44269504f;
    int32_t whole = (int32_t)(y - 0.5f);
    float part = y - (float)whole;
    float p = 1.5403530e-4f;
    p = p * part + 1.3333558e-3f;
    p = p * part + 9.6181291e-3f;
    p = p * part + 5.5504109e-2f;
    p = p * part + 2.4022651e-1f;
    p = p * part + 6.9314718e-1f;
    p = p * part + 1;
    uint32_t bits = (uint32_t)(whole + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

void covariance_matern(const float *restrict squared, int count, float *restrict correlation,
                       float *restrict gradient_factor) {
    for (int i = 0; i < count; i++) {
        float s = sqrtf(5 * squared[i]);
        float e = exp_minus(s);
        correlation[i] = (1 + s + s * s * (1 / 3.0f)) * e;
        gradient_factor[i] = (5 / 3.0f) * (1 + s) * e;
    }
}
