/*
 * cover: the fewest kernels that are fast enough everywhere. A kernel *serves* a case if its time
 * is within a fraction of the least one there; a cover has a kernel that serves each case that any
 * kernel fits.
 *
 *     struct cover cover;
 *     cover_find(&times, 0.03, &cover);                  // within 3 %
 *     double within = cover_find_at_most(&times, 0.03, 12, &cover);
 *
 * Greedy first: the kernel that serves most of the cases that are left. Then branch and bound looks
 * for fewer, up to a number of steps; `exact` says that it ended, and no cover is smaller. It is
 * the problem of a minimum hitting set (Karp 1972); branches are the kernels that serve the case
 * that fewest kernels serve, and cases without a common kernel bound it from below.
 */
#ifndef EVOTILE_DISPATCH_COVER_H
#define EVOTILE_DISPATCH_COVER_H

#include "dispatch/kernel_times.h"

struct cover {
    int count;                         /* 0: no kernel fits any case */
    int kernels[DISPATCH_KERNELS_MAX]; /* ascending */
    bool exact;                        /* no cover has fewer */
    int unserved;                      /* cases that no kernel fits */
};

void cover_find(const struct kernel_times *times, double within, struct cover *cover);

/* The same with at most `most` kernels, 1 or more: where more are needed, the fraction grows as far
   as that takes. Kernels that fit different cases may need more whatever the fraction: then the
   cover has so many. Returns the fraction. */
double cover_find_at_most(const struct kernel_times *times, double within, int most,
                          struct cover *cover);

#endif
