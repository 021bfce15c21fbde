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
#ifndef EVOTILE_CMD_DIAGNOSIS_H
#define EVOTILE_CMD_DIAGNOSIS_H

#include "genome/space.h"
#include "trial/profile.h"

enum { FINDINGS_MAX = 48, FINDING_SIZE = 256 };

struct finding {
    char name[40]; /* for programs: "multiprocessors_busy" */
    double value;
    char text[FINDING_SIZE]; /* one line, with the number */
};

struct diagnosis {
    int count;
    struct finding findings[FINDINGS_MAX];
};

/* The figures of one case of a trial. */
struct known_case {
    const struct device_info *device;
    const struct resources *resources; /* of the launch with the most shared memory */
    int threads;                       /* per block of that launch */
    const struct case_outcome *timed;
    int64_t operations, bytes; /* per call: arithmetic, and least memory traffic */
};

/* The waves of the case's largest launch: its blocks over the blocks that are resident at a time.
   NaN if none can be. */
double diagnosis_waves(const struct known_case *known);

/* Both append to the report; findings beyond FINDINGS_MAX are dropped. */
void diagnose_known(const struct known_case *known, struct diagnosis *diagnosis);
/* `kernels`: those of one call. */
void diagnose_counted(const struct known_case *known, const struct profiled_kernel *kernels,
                      int count, struct diagnosis *diagnosis);

enum { ADVICE_SIZE = 1024 };

/* Prints a hint of the space as advice: "raise KV_SPLITS or lower BLOCK_M: why". */
void diagnosis_advice(const struct space *space, int rule, char text[ADVICE_SIZE]);

#endif
