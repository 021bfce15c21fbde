/*
 * grid: runs the clusters of a validated launch, sequentially or on several host threads. Counts
 * and the reported fault do not depend on the number of threads.
 */
#ifndef EVOTILE_PTX_GRID_H
#define EVOTILE_PTX_GRID_H

#include "ptx/execute.h"

/* Returns 0, or -1 with `fault` filled. `counts` and `fault` must be zero on entry. */
int grid_run(const struct ptx_launch *launch, struct ptx_counts *counts, struct ptx_fault *fault);

#endif
