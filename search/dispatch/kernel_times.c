#include "dispatch/kernel_times.h"

#include "base/memory.h"

#include <math.h>

static double time_us(const struct kernel_times *times, int case_index, int kernel) {
    return times->us[case_index * times->kernel_count + kernel];
}

bool kernel_times_fits(const struct kernel_times *times, int case_index, int kernel) {
    const double us = time_us(times, case_index, kernel);
    return isfinite(us) && us > 0;
}

int kernel_times_fastest(const struct kernel_times *times, int case_index) {
    int fastest = -1;
    for (int k = 0; k < times->kernel_count; k++)
        if (kernel_times_fits(times, case_index, k) &&
            (fastest < 0 || time_us(times, case_index, k) < time_us(times, case_index, fastest)))
            fastest = k;
    return fastest;
}

double kernel_times_ratio(const struct kernel_times *times, int case_index, int kernel) {
    if (!kernel_times_fits(times, case_index, kernel))
        return INFINITY;
    return time_us(times, case_index, kernel) /
           time_us(times, case_index, kernel_times_fastest(times, case_index));
}

struct kernel_times kernel_times_select(const struct kernel_times *times, const int *kernels,
                                        int kernel_count) {
    double *us = xmalloc((size_t)times->case_count * (size_t)kernel_count * sizeof *us);
    for (int c = 0; c < times->case_count; c++)
        for (int k = 0; k < kernel_count; k++)
            us[c * kernel_count + k] = time_us(times, c, kernels[k]);
    return (struct kernel_times){
        .kernel_count = kernel_count, .case_count = times->case_count, .us = us};
}
