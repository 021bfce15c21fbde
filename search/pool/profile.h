/*
 * profile: metrics of a candidate's kernels from NVIDIA's Nsight Compute (ncu): a small set that
 * needs few passes. A worker process runs under ncu and calls each of the goal's cases once; only
 * the named kernels are profiled.
 *
 *     static struct profile profile;
 *     char tool[PATH_SIZE];
 *     struct profile_settings settings = {.run = {tool, program, config_path, folder, "cuda:0", 0},
 *                                         .kernels = names, .kernel_count = 2};
 *     if (profile_find(tool, &error) == 0 &&
 *         profile_run(&settings, &request, &profile, &error) == 0)
 *         for (int k = 0; k < profile.count; k++)
 *             log_info("%g", profile.kernels[k].values[PROFILE_TENSOR_PIPE]);
 *
 * Caches are not flushed between ncu's passes, and clocks are not locked: the figures describe a
 * warm call, as evotile's timings do, but one with its inputs in L2. A call's latency is measured
 * elsewhere; a kernel's duration here is for comparing the kernels of one call.
 */
#ifndef EVOTILE_POOL_PROFILE_H
#define EVOTILE_POOL_PROFILE_H

#include "pool/tool_runner.h"

#include <cjson/cJSON.h>

enum profile_metric {
    PROFILE_DURATION,       /* ns */
    PROFILE_SM,             /* %: compute throughput, of the busiest unit */
    PROFILE_MEMORY,         /* %: memory throughput, of the busiest unit */
    PROFILE_DRAM,           /* %: of DRAM's throughput */
    PROFILE_DRAM_BYTES,     /* read and written */
    PROFILE_SM_ACTIVE,      /* %: of the time with a warp on a multiprocessor, mean over them */
    PROFILE_WARPS,          /* %: achieved occupancy, while a multiprocessor was active */
    PROFILE_TENSOR_PIPE,    /* %: of the time with the tensor pipe busy */
    PROFILE_BANK_CONFLICTS, /* of shared memory: excess wavefronts */
    PROFILE_WAVEFRONTS,     /* of shared memory, all */
    PROFILE_L2_SECTORS,     /* of 32 bytes, through L2 */
    PROFILE_L2_HITS,        /* %: of them found there */
    PROFILE_METRIC_COUNT
};

/* The metric's name, with its unit, as printed and stored. */
const char *profile_metric_name(enum profile_metric metric);

enum { PROFILED_MAX = 256 };

struct profiled_kernel {
    char name[64];
    char grid[32], block[32];            /* "(8, 4, 1)" */
    double values[PROFILE_METRIC_COUNT]; /* NaN if ncu reports none */
};

struct profile {
    char problem[256]; /* why nothing, or not everything, was counted; else empty */
    double seconds;
    int count;
    struct profiled_kernel kernels[PROFILED_MAX]; /* in the order of their launches */
};

struct profile_settings {
    struct tool_settings run;   /* its path is from profile_find; 120 s by default */
    const char *const *kernels; /* names of the kernels to profile */
    int kernel_count;
    const char *report; /* where to keep ncu's own report; NULL: not kept */
};

/* Finds ncu. If it is not installed, the error text has the remedy. */
int profile_find(char path[PATH_SIZE], struct error *error);

/* Returns -1 if nothing could be started. If ncu refuses to run, as it does without permission
   for the performance counters, that is no error: `problem` has its message. */
int profile_run(const struct profile_settings *settings, const struct trial_request *request,
                struct profile *profile, struct error *error);

/* An array of objects: "kernel", "grid", "block", and each metric by its name, null if ncu reports
   none. The caller owns it. */
cJSON *profile_kernels_json(const struct profiled_kernel *kernels, int count);

/* A metric of several kernels as one figure: durations, bytes, conflicts, wavefronts and sectors
   are summed; percentages are averaged, weighted by duration. NaN if one of them lacks it, or if
   there is no kernel. */
double profile_combined_metric(const struct profiled_kernel *kernels, int count,
                               enum profile_metric metric);

/* Sets the metrics that hints may read (space/hints.h), combined over all these kernels and
   rounded. A metric that one of the kernels lacks is not set. */
void profile_set_measures(const struct profiled_kernel *kernels, int count,
                          struct measures *measures);

/* Parses the output of `ncu --csv` into kernels and problem. Ignores other lines before and
   between. */
void profile_read(const char *report, struct profile *profile);
/* Sets the problem to the first error in what ncu logged, if there is one. */
void profile_read_problem(const char *log, struct profile *profile);

/* The value of ncu's --kernel-name for these kernels: "regex:^(first|second)$". The caller frees
   it. */
char *profile_kernel_filter(const struct profile_settings *settings);

#endif
