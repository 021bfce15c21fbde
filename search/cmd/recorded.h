/*
 * recorded: kernels that can be built again, read from where they were recorded: one trial of a
 * run, or every case of a frozen kernel. For replay and duel.
 *
 *     struct recorded *recorded = recorded_open("results/demo", 1, 0, &error);
 *     for (int i = 0; i < recorded->count; i++) ... recorded->records[i] ...
 *     recorded_close(recorded);
 */
#ifndef EVOTILE_CMD_RECORDED_H
#define EVOTILE_CMD_RECORDED_H

#include "base/path.h"
#include "config/config.h"
#include "outcome/key.h"
#include "trial/trial.h"

/* A trial of a run, or one case of a frozen kernel. */
struct record {
    char name[CASE_NAME_SIZE + 32]; /* of what it is about */
    struct trial_request request;   /* its genome stays empty: recorded_genome */
    struct key key;
    double score_us;
};

struct recorded {
    const char *from;            /* RUN or KERNEL_DIR */
    char *device;                /* what it was measured on; NULL: not said */
    struct config *config;       /* a worker's; each case of a frozen kernel is a goal of its own */
    char config_path[PATH_SIZE]; /* a file that workers read */
    char template_folder[PATH_SIZE];
    char scratch[PATH_SIZE]; /* a temporary folder of a frozen kernel's, or empty */
    int count;
    struct record records[CASES_MAX];
};

/* `rank` (from 1) and `goal` choose among a run's. NULL with an error. `from` is kept. */
struct recorded *recorded_open(const char *from, int64_t rank, int64_t goal, struct error *error);
void recorded_close(struct recorded *recorded);

/* Fills the record's genome in, for a device. */
int recorded_genome(const struct recorded *recorded, struct record *record,
                    const struct device_info *device, struct error *error);

#endif
