/*
 * grid: runs the clusters of a launch that was found to be right, one after the other or on several
 * threads. What is counted and which fault is told do not depend on how many.
 */
#ifndef EVOTILE_DEVICE_PTX_GRID_H
#define EVOTILE_DEVICE_PTX_GRID_H

#include "device/ptx/execute.h"

/* 0, or -1 with `fault` filled; both are zeros before. */
int grid_run(const struct ptx_launch *launch, struct ptx_counts *counts, struct ptx_fault *fault);

#endif
