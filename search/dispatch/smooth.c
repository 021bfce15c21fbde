#include "dispatch/smooth.h"

#include "base/memory.h"
#include "dispatch/forest.h"

#include <stdlib.h>
#include <string.h>

struct rows {
    int kernel_count, input_count, count;
    double *us;
    int64_t *values;
};

static void add_row(struct rows *rows, const int64_t *values, const double *us) {
    const size_t kernels = (size_t)rows->kernel_count, inputs = (size_t)rows->input_count;
    memcpy(rows->us + (size_t)rows->count * kernels, us, kernels * sizeof *us);
    memcpy(rows->values + (size_t)rows->count * inputs, values, inputs * sizeof *values);
    rows->count++;
}

struct kernel_times smooth_times(const struct smoothing *smoothing, int64_t **values) {
    const struct kernel_times *times = &smoothing->times;
    const size_t room =
        SMOOTH_WEIGHT * ((size_t)times->case_count + 1) + (size_t)smoothing->further_count;
    struct rows rows = {
        .kernel_count = times->kernel_count,
        .input_count = smoothing->inputs->count,
        .us = xmalloc(room * (size_t)times->kernel_count * sizeof *rows.us),
        .values = xmalloc((room * (size_t)smoothing->inputs->count + 1) * sizeof *rows.values)};
    struct forest *forest =
        forest_fit(smoothing->inputs, smoothing->values, times, smoothing->seed);
    for (int c = 0; c < times->case_count && forest != NULL; c++)
        if (kernel_times_fastest(times, c) >= 0)
            for (int i = 0; i < (smoothing->searched[c] ? SMOOTH_WEIGHT : 1); i++)
                add_row(&rows, smoothing->values + c * rows.input_count,
                        times->us + c * rows.kernel_count);
    for (int f = 0; f < smoothing->further_count && forest != NULL; f++) {
        double ratios[DISPATCH_KERNELS_MAX];
        const int64_t *further = smoothing->further + f * rows.input_count;
        forest_predict(forest, further, ratios);
        add_row(&rows, further, ratios);
    }
    forest_free(forest);
    *values = rows.values;
    return (struct kernel_times){rows.kernel_count, rows.count, rows.us};
}
