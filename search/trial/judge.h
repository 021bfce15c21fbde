/*
 * judge: making inputs, comparing outputs and summing bytes up, by kernels of our own on the device
 * (trial/judge.cu).
 *
 *     struct judge *judge = judge_new(device, nvrtc, &error);
 *     judge_fill(judge, address, DTYPE_F16, elements, seed, 1.0f, &error);
 *     judge_compare(judge, output, DTYPE_F16, reference, rows, row, &comparison, &error);
 *     judge_free(judge);
 *
 * Errors here are the device's, not the candidate's: the device is lost.
 */
#ifndef EVOTILE_TRIAL_JUDGE_H
#define EVOTILE_TRIAL_JUDGE_H

#include "device/device.h"
#include "device/nvrtc.h"
#include "template/template.h"

struct judge;

struct comparison {
    struct errors errors;
    int64_t not_finite;  /* elements that are NaN or infinite where the reference is not */
    int64_t not_zero;    /* elements of the output that are not 0 */
    double reference_l2; /* of the whole reference tensor */
};

struct judge *judge_new(struct device *device, struct nvrtc *nvrtc, struct error *error);
void judge_free(struct judge *judge);

/* Element i becomes scale * N(0, 1), a function of seed and i; integers become hashes. */
int judge_fill(struct judge *judge, uint64_t address, enum dtype dtype, int64_t elements,
               uint64_t seed, float scale, struct error *error);

/* The output against an fp64 reference of the same shape: `rows` rows of `row` elements. */
int judge_compare(struct judge *judge, uint64_t output, enum dtype dtype, uint64_t reference,
                  int64_t rows, int64_t row, struct comparison *comparison, struct error *error);

/* A hash of the bytes. */
int judge_checksum(struct judge *judge, uint64_t address, int64_t bytes, uint64_t *checksum,
                   struct error *error);

#endif
