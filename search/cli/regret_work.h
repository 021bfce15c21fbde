/*
 * regret_work: what `evotile regret` reads and measures. Private to the files of that verb.
 *
 *     struct regret_request asked = {.folder = "kernels/night", .shapes = "100", .seed = 2};
 *     struct regret_work *work = calloc(1, sizeof *work);
 *     work->request = &asked;
 *     int status = regret_measure_times(work, &error);    // work->us, [shape][kernel]
 *     regret_release(work);
 */
#ifndef EVOTILE_CLI_REGRET_WORK_H
#define EVOTILE_CLI_REGRET_WORK_H

#include "cli/export_dispatch.h"
#include "run/replay_targets.h"
#include "session/case_times.h"

struct regret_request {
    const char *folder, *shapes, *against, *devices;
    int64_t seed, rounds;
    bool json;
};

/* The export's variants come first, then the run's champions. */
enum { TIMED_MAX = CASES_MAX + DISPATCH_KERNELS_MAX };

struct regret_work {
    const struct regret_request *request;
    struct replay_targets targets; /* of the export */
    struct manifest manifest;
    struct replay_target variants[CASES_MAX];
    bool has_run;
    struct export_run run;
    const struct config *config; /* the run's, else that of the export */
    const char *device_text;     /* --device, or what stands for it */
    struct device_list devices;
    char device_name[DEVICE_LIST_NAME_SIZE];
    int kernel_count;
    struct timed_kernel kernels[TIMED_MAX];
    struct shape of_run[TIMED_MAX]; /* of a champion its case */
    char texts[DISPATCH_KERNELS_MAX][GENOME_TEXT_SIZE];
    int shape_count;
    struct shape *shapes;
    double *us;         /* [shape][kernel] */
    double *operations; /* of a call: [shape][variant] */
    bool *admits;       /* the variant supports the shape: [shape][variant] */
    bool predicted;
    int failures; /* trials of the export's variants that failed */
};

/* Reads the export and the run, the kernels and the shapes, and times them. */
int regret_measure_times(struct regret_work *work, struct error *error);
/* Frees the work, too. */
void regret_release(struct regret_work *work);

#endif
