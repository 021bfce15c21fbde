/*
 * case_times: the times of several kernels at many shapes, in one session on one device, or on
 * several of one model that share the shapes: a free one takes the next shape. Each shape is timed
 * with all kernels on one device, before that takes another; each kernel is verified at it, too, as
 * a candidate is: without a champion's final checks. Rounds alternate between the order of the
 * kernels and its reverse, so that a drift of the clocks over the rounds of a shape affects all
 * kernels alike; a kernel that was slower than the fastest by more than a fifth is timed no more
 * there. A time is the geometric mean of the medians of its rounds. So times of a shape compare;
 * those of two shapes may be of two GPUs.
 *
 *     struct device_list list;
 *     device_list_read(&list, "cuda:all", &error);
 *     struct case_times_request request = {.devices = &list, .kernel_count = 2};
 *     ...;                                       // its config, kernels and shapes
 *     double *us;
 *     bool predicted;
 *     if (case_times_measure(&request, &us, &predicted, &error) < 0)
 *         ...;
 *     struct kernel_times times = {request.kernel_count, request.shape_count, us};
 *     free(us);
 *
 * A device that predicts gives predictions. A time is NAN where the genome is not valid for the
 * shape, or its trial failed, which a warning names. Where genes change how much a call computes,
 * it is divided by that.
 */
#ifndef EVOTILE_SESSION_CASE_TIMES_H
#define EVOTILE_SESSION_CASE_TIMES_H

#include "config/config.h"
#include "evaluate/trial.h"

enum { CASE_TIMES_ROUNDS = 2 };

struct timed_kernel {
    int solution;       /* of the config's; 0 if the template has one */
    const char *genome; /* canonical text */
};

struct case_times_request {
    const struct config *config;       /* whose template, limits and timing hold */
    const struct device_list *devices; /* of one model, as device_list_describe checks */
    int rounds;                        /* 0: CASE_TIMES_ROUNDS, of predictions 1 */
    uint64_t seed;                     /* of the inputs */
    int kernel_count;
    const struct timed_kernel *kernels;
    int shape_count;
    const struct shape *shapes;
    /* NULL, or fills sources and cubins of the request for a kernel at a shape. Returns 1; 0 if
       the kernel does not serve it, whatever its genome; or -1 with `error`. */
    int (*prepare)(void *context, int kernel, int shape, struct trial_request *request,
                   struct error *error);
    /* NULL, or called with each trial, of any verdict. */
    void (*measured)(void *context, int kernel, int shape, const struct trial_result *result);
    void *context;
};

/* Sets `us`, [shape][kernel], which the caller frees after success. The first error of a device
   ends all. `prepare` and `measured` are called one at a time, of the devices' shapes in turns. */
int case_times_measure(const struct case_times_request *request, double **us, bool *predicted,
                       struct error *error);

#endif
