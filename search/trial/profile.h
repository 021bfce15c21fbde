/*
 * profile: what NVIDIA's Nsight Compute (ncu) counts of a candidate's kernels: a small set of
 * metrics, which takes few passes. A worker of ours runs under it, in which each of the
 * goal's cases is called once; only the kernels that are named are profiled.
 *
 *     struct profile *profile = profile_new();
 *     struct profiling how = {.tool = tool, .kernels = names, .kernel_count = 2, ...};
 *     if (profile_find(tool, &error) == 0 && profile_run(&how, &request, profile, &error) == 0)
 *         for (int k = 0; k < profile->count; k++)
 *             ... profile->kernels[k].values[PROFILE_TENSOR_PIPE] ...
 *     profile_free(profile);
 *
 * Caches are left as they are from one of ncu's passes to the next, and clocks are not touched: so
 * the figures are of a warm call, as our own are, but of one that has its inputs in L2. How long a
 * call takes is measured elsewhere; a kernel's duration here is for comparing kernels of one call.
 */
#ifndef EVOTILE_TRIAL_PROFILE_H
#define EVOTILE_TRIAL_PROFILE_H

#include "base/path.h"
#include "trial/trial.h"

enum profile_metric {
    PROFILE_DURATION,       /* ns */
    PROFILE_SM,             /* %: throughput of what computes, of the busiest unit */
    PROFILE_MEMORY,         /* %: throughput of the memory system, of its busiest unit */
    PROFILE_DRAM,           /* %: of DRAM's throughput */
    PROFILE_DRAM_BYTES,     /* read and written */
    PROFILE_SM_ACTIVE,      /* %: of the time, a multiprocessor had a warp, as a mean over them */
    PROFILE_WARPS,          /* %: achieved occupancy, while a multiprocessor was active */
    PROFILE_TENSOR_PIPE,    /* %: of the time, the tensor pipe was busy */
    PROFILE_BANK_CONFLICTS, /* of shared memory: wavefronts too many */
    PROFILE_WAVEFRONTS,     /* of shared memory, all */
    PROFILE_L2_SECTORS,     /* of 32 bytes, that went through L2 */
    PROFILE_L2_HITS,        /* %: of them found there */
    PROFILE_METRIC_COUNT
};

/* Its name in what we print and store, with its unit. */
const char *profile_metric_name(enum profile_metric metric);

enum { PROFILED_MAX = 256 };

struct profiled_kernel {
    char name[64];
    char grid[32], block[32];            /* "(8, 4, 1)" */
    double values[PROFILE_METRIC_COUNT]; /* NaN where ncu has none */
};

struct profile {
    char problem[256]; /* why nothing, or not all, was counted; empty */
    double seconds;
    int count;
    struct profiled_kernel kernels[PROFILED_MAX]; /* in the order of their launches */
};

struct profile *profile_new(void); /* all zeros */
void profile_free(struct profile *profile);

struct profiling {
    const char *tool;                                             /* profile_find's */
    const char *program, *config_path, *template_folder, *device; /* as of a pool */
    const char *const *kernels; /* the names of those to profile */
    int kernel_count;
    double limit_s;     /* 0: 120 */
    const char *report; /* where ncu's own report is to stay; NULL: nowhere */
};

/* Where ncu is. That it is not there is an error, whose text has the remedy. */
int profile_find(char path[PATH_SIZE], struct error *error);

/* -1: nothing could be started. That ncu refuses, as it does without permission for the counters,
   is no error: `problem` has its words. */
int profile_run(const struct profiling *how, const struct trial_request *request,
                struct profile *profile, struct error *error);

/* What rules may read of all these kernels together (genome/rules.h): bytes, conflicts, wavefronts
   and sectors added up; of per cents the mean, each kernel for as long as it took. A figure that
   one of them has not is not put. */
void profile_measure(const struct profiled_kernel *kernels, int count, struct measures *measures);

/* What `ncu --csv` printed, into kernels and problem. Other lines may stand before and between. */
void profile_read(const char *report, struct profile *profile);

#endif
