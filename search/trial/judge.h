/*
 * judge: making inputs, comparing outputs and summing bytes up, by kernels of our own on the device
 * (trial/judge.cu).
 *
 *     struct judge *judge = judge_new(device, nvrtc, &error);
 *     judge_fill(judge, address, &tensor, &fill, seed, pattern, &error);
 *     judge_checksum(judge, &(struct span){address, tensor.bytes}, 1, &checksum, &error);
 *     judge_compare(judge, output, &tensor, reference, &comparison, &error);
 *     judge_free(judge);
 *
 * Waiting for the device costs more than a small kernel: fills are only issued, and done when the
 * next call here that returns a number has returned.
 *
 * Errors here are the device's, not the candidate's: the device is lost.
 */
#ifndef EVOTILE_TRIAL_JUDGE_H
#define EVOTILE_TRIAL_JUDGE_H

#include "device/device.h"
#include "device/nvrtc.h"
#include "template/template.h"

struct judge;

/* Errors are relative to the reference's L2, but at least to that of a tensor (or row) of the
   dtype's smallest normal numbers: so rows whose reference is zero are compared absolutely. */
struct comparison {
    struct errors errors;
    int64_t not_finite;       /* elements that are NaN or infinite and should not, or should and
                                 are not */
    int64_t not_zero;         /* elements of the output that are not 0 */
    double reference_l2;      /* of the whole reference tensor */
    double largest_reference; /* its largest absolute element */
};

struct judge *judge_new(struct device *device, struct nvrtc *nvrtc, struct error *error);
void judge_free(struct judge *judge);

/* Fills a tensor as template.h says of `fill`, a function of the seeds; integers become hashes.
   `pattern` is the seed of what tensors of one input have in common. */
int judge_fill(struct judge *judge, uint64_t address, const struct planned_tensor *tensor,
               const struct tensor_fill *fill, uint64_t seed, uint64_t pattern,
               struct error *error);

/* The output against an fp64 reference of the same shape. */
int judge_compare(struct judge *judge, uint64_t output, const struct planned_tensor *tensor,
                  uint64_t reference, struct comparison *comparison, struct error *error);

struct span {
    uint64_t address;
    int64_t bytes;
};

/* One hash of the bytes of all spans. */
int judge_checksum(struct judge *judge, const struct span *spans, int count, uint64_t *checksum,
                   struct error *error);

#endif
