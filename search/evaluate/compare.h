/*
 * compare: fills inputs, compares outputs and computes checksums with evotile's own kernels on the
 * device (evaluate/compare.cu).
 *
 *     struct comparator *comparator = comparator_new(device, nvrtc, &error);
 *     comparator_fill(comparator, address, &tensor, &fill, seed, pattern, &error);
 *     comparator_checksum(comparator, &(struct span){address, tensor.bytes}, 1, &checksum, &error);
 *     const struct compared compared = {.output = address, .tensor = &tensor};
 *     comparator_compare(comparator, &compared, 1, &comparison, &error);
 *     comparator_free(comparator);
 *
 * Waiting for the device costs more than a small kernel, so fills are only queued: they are
 * complete when comparator_finish, or the next call that returns a number, has returned.
 *
 * Errors are the device's, not the candidate's: the device is lost.
 */
#ifndef EVOTILE_EVALUATE_COMPARE_H
#define EVOTILE_EVALUATE_COMPARE_H

#include "device/device.h"
#include "device/nvrtc.h"
#include "template/template.h"

struct comparator;

/* Errors are relative to the reference's L2 norm, but at least to that of a tensor (or row) of
   the dtype's smallest normal numbers, so that rows with a zero reference are compared
   absolutely. */
struct comparison {
    struct errors errors;
    int64_t elements;   /* that were compared */
    int64_t not_finite; /* elements that are NaN or infinite where the reference is not, or
                           finite where it is not */
    int64_t reference_not_finite; /* elements of the reference that are NaN or infinite */
    int64_t not_zero;             /* nonzero elements of the output */
    int64_t false_zeros;   /* zeros where neither the plain kernel's output nor the reference is; a
                              reference below the dtype's smallest normal number counts as one */
    double systematic;     /* the share of the reference in the error: sum(error * reference) /
                              sum(reference^2) */
    double effective_rows; /* rows, as many as if all had the same norm: sum(norm^2)^2 /
                              sum(norm^4) */
    double reference_l2;   /* of the whole reference tensor */
    double largest_reference; /* its largest absolute element */
    /* With a tolerance (template.h), else 0: */
    struct errors limits; /* of an output that is off by its limit everywhere */
    int64_t outside;      /* elements that are off by more than their limit */
    double worst_excess;  /* the largest quotient of an element's error and its limit */
    int64_t
        small_magnitudes; /* elements of the reference that exceed their magnitude: it is wrong */
};

struct comparator *comparator_new(struct device *device, struct nvrtc *nvrtc, struct error *error);
void comparator_free(struct comparator *comparator);

/* Compiles the kernels of the template's setup, which fills of inputs then run; for one template
   only. */
int comparator_load_setup(struct comparator *comparator, struct nvrtc *nvrtc,
                          const struct template *template, struct error *error);
struct device_module *comparator_setup(const struct comparator *comparator); /* NULL: none */

/* Fills a tensor as fill.h describes `fill`, a function of the seeds; integers become
   hashes, of all their bits, and a bool one of 0 and 1. `pattern` is the seed that all tensors of
   one input share. */
int comparator_fill(struct comparator *comparator, uint64_t address,
                    const struct planned_tensor *tensor, const struct tensor_fill *fill,
                    uint64_t seed, uint64_t pattern, struct error *error);

/* What outputs and workspaces hold before a run. Every word differs from its neighbours and from
   those of another seed, so that a kernel cannot know it and take it for zero. */
enum poison {
    POISON_NAN,    /* NaN in every floating dtype: an unwritten element shows */
    POISON_RANDOM, /* random bits: half of the words uniform, the others of uniform magnitude */
};

/* Queues filling a tensor's bytes by a function of the seed. */
int comparator_poison(struct comparator *comparator, uint64_t address,
                      const struct planned_tensor *tensor, enum poison poison, uint64_t seed,
                      struct error *error);

/* Queues the conversion of so many elements: to the nearest number of a floating dtype; to integers
   from numbers that are whole. */
int comparator_convert(struct comparator *comparator, uint64_t from, enum dtype from_dtype,
                       uint64_t to, enum dtype to_dtype, int64_t elements, struct error *error);

/* Completes everything that is queued. */
int comparator_finish(struct comparator *comparator, struct error *error);

/* An output and what it is compared with: addresses of a reference of the same shape, which is fp64
   or, for an i64 output, i64; and of the plain kernel's output, which may be 0. */
struct compared {
    uint64_t output;
    const struct planned_tensor *tensor;
    uint64_t reference, plain;
    uint64_t unwritten;  /* not 0: elements of the reference with these bits are left out */
    uint64_t magnitudes; /* doubles, if tensor->tolerance needs them */
};
enum { COMPARED_MAX = 2 * TENSORS_MAX };

/* Compares at most COMPARED_MAX outputs, and waits once for all. */
int comparator_compare(struct comparator *comparator, const struct compared *compared, int count,
                       struct comparison *comparisons, struct error *error);

/* Begins a launch of one of compare.cu's kernels in `blocks` blocks, without arguments. */
struct device_launch comparator_launch(const struct comparator *comparator, const char *kernel,
                                       int64_t blocks);

struct span {
    uint64_t address;
    int64_t bytes;
};

/* One hash of the bytes of all spans. */
int comparator_checksum(struct comparator *comparator, const struct span *spans, int count,
                        uint64_t *checksum, struct error *error);

/* Appends an argument of one of evotile's own kernels. */
void launch_add_argument(struct device_launch *launch, const void *bytes, int size);

#endif
