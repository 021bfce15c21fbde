/*
 * kernel_times: the times of several kernels at several cases, from which a dispatcher is made.
 *
 *     const double us[] = {10, 12,                       // case 0: of kernel 0, of kernel 1
 *                          NAN, 7};                      // kernel 0 does not fit case 1
 *     struct kernel_times times = {.kernel_count = 2, .case_count = 2, .us = us};
 *     kernel_times_ratio(&times, 0, 1);                  // 1.2
 *
 * A time that is not finite and positive says that the kernel does not fit the case, or was not
 * valid there. The caller owns the numbers.
 */
#ifndef EVOTILE_DISPATCH_KERNEL_TIMES_H
#define EVOTILE_DISPATCH_KERNEL_TIMES_H

#include <stdbool.h>

enum { DISPATCH_KERNELS_MAX = 64 };

struct kernel_times {
    int kernel_count, case_count; /* at most DISPATCH_KERNELS_MAX kernels; any number of cases */
    const double *us;             /* [case][kernel], in microseconds */
};

bool kernel_times_fits(const struct kernel_times *times, int case_index, int kernel);
/* The kernel with the least time, of equal ones the first; -1: none fits. */
int kernel_times_fastest(const struct kernel_times *times, int case_index);
/* The kernel's time over the least one; INFINITY if it does not fit. */
double kernel_times_ratio(const struct kernel_times *times, int case_index, int kernel);

/* The same cases with some of the kernels, in the order given. The caller frees `us`. */
struct kernel_times kernel_times_select(const struct kernel_times *times, const int *kernels,
                                        int kernel_count);

#endif
