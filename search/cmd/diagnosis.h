/*
 * diagnosis: what the figures of a kernel come to, in plain words, each with its number: from what
 * we know of every trial (blocks, resources, operations, bytes), and from what a profiler counted,
 * where one did. It knows no kernel: what to do about it is what the template advises
 * (genome/rules.h).
 *
 *     struct diagnosis diagnosis = {0};
 *     diagnose_known(&known, &diagnosis);
 *     diagnose_counted(&known, kernels, count, &diagnosis);
 *     for (int f = 0; f < diagnosis.count; f++)
 *         puts(diagnosis.findings[f].text);
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

/* What is known of one case. */
struct known_case {
    const struct device_info *device;
    const struct resources *resources; /* of the launch with the most shared memory */
    int threads;                       /* a block of that launch */
    const struct case_outcome *timed;
    int64_t operations, bytes; /* of a call */
};

/* How many times the device's multiprocessors are filled by the case's largest launch. */
double diagnosis_waves(const struct known_case *known);

void diagnose_known(const struct known_case *known, struct diagnosis *diagnosis);
/* `kernels` are those of one call. */
void diagnose_counted(const struct known_case *known, const struct profiled_kernel *kernels,
                      int count, struct diagnosis *diagnosis);

enum { ADVICE_SIZE = 1024 };

/* "raise KV_SPLITS or lower BLOCK_M: why": what a rule of the space comes to. */
void diagnosis_advice(const struct space *space, int rule, char text[ADVICE_SIZE]);

#endif
