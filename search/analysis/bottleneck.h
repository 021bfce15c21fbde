/* bottleneck: explains in words what limits a kernel's speed, each finding with its number.
 *
 * Findings come from the figures of every trial (blocks, resources, operations, bytes), and from a
 * profiler's counters if there are any. They are the same for every kernel; what to change is the
 * advice of the template's hints (hints.h).
 *
 *     struct bottleneck_report report = {0};
 *     bottleneck_from_trial(&known, &report);
 *     bottleneck_from_profile(&known, kernels, count, &report);
 *     for (int f = 0; f < report.count; f++)
 *         puts(report.findings[f].text);
 */
#ifndef EVOTILE_ANALYSIS_BOTTLENECK_H
#define EVOTILE_ANALYSIS_BOTTLENECK_H

#include "pool/profile.h"
#include "space/space.h"

enum { FINDINGS_MAX = 48, FINDING_SIZE = 256 };

struct bottleneck_finding {
    char name[40]; /* for programs: "multiprocessors_busy" */
    double value;
    char text[FINDING_SIZE]; /* one line, with the number */
};

struct bottleneck_report {
    int count;
    struct bottleneck_finding findings[FINDINGS_MAX];
};

/* The figures of one case of a trial. */
struct bottleneck_case {
    const struct device_info *device;
    const struct resources *resources; /* of the launch with the most shared memory */
    int threads;                       /* per block of that launch */
    const struct case_outcome *timed;
    int64_t operations, bytes; /* per call: arithmetic, and least memory traffic */
};

/* The waves of the case's largest launch: its blocks over the blocks that are resident at a time.
   NaN if none can be. */
double bottleneck_waves(const struct bottleneck_case *known);

/* Both append to the report; findings beyond FINDINGS_MAX are dropped. */
void bottleneck_from_trial(const struct bottleneck_case *known, struct bottleneck_report *report);
/* `kernels`: those of one call. */
void bottleneck_from_profile(const struct bottleneck_case *known,
                             const struct profiled_kernel *kernels, int count,
                             struct bottleneck_report *report);

enum { ADVICE_SIZE = 1024 };

/* Prints a hint of the space as advice: "raise KV_SPLITS or lower BLOCK_M: why". */
void bottleneck_advice(const struct space *space, int hint, char text[ADVICE_SIZE]);

#endif
