/*
 * records: what was measured once and can be tried again: a trial of a run, or the cases of a
 * frozen kernel. For replay, sanitize and whoever else begins from one.
 *
 *     struct records records;
 *     if (records_read(&records, "results/demo", 1, 0, &error) == 0)
 *         for (int i = 0; i < records.count; i++)
 *             if (record_genome(&records, &records.items[i], info, &error) == 0) ...
 *     records_release(&records);          // also after a failure
 */
#ifndef EVOTILE_CMD_RECORDS_H
#define EVOTILE_CMD_RECORDS_H

#include "config/config.h"
#include "trial/trial.h"

struct record {
    char name[CASE_NAME_SIZE + 32]; /* of what it is about */
    struct trial_request request;   /* its genome is not filled: record_genome */
    struct key key;
    double score_us;
};

struct records {
    const char *from; /* the caller's */
    int64_t rank, goal;
    char *device; /* of the run; where there is no GPU, one like a kernel's; NULL: not known */
    struct config *config;
    char config_path[PATH_SIZE], template_folder[PATH_SIZE]; /* for workers */
    char scratch[PATH_SIZE]; /* a temporary folder of a frozen kernel's; empty for a run */
    int count;
    struct record items[CASES_MAX];
};

enum { RECORDS_ALL_GOALS = -1 };

/* `from` is a run's folder, where rank counts from 1 on the board of a goal (or of each that has
   one), or a kernel's. */
int records_read(struct records *records, const char *from, int64_t rank, int64_t goal,
                 struct error *error);
void records_release(struct records *records);

/* The one that --goal counts: of a run the one record that was read for it, of a frozen kernel the
   case's. NULL where there is none. */
struct record *records_choose(struct records *records, int64_t goal, struct error *error);

/* Fills the request's genome, by the template as it is for that device. */
int record_genome(const struct records *records, struct record *record,
                  const struct device_info *device, struct error *error);

/* What it is about: "B=2,H=8,S=512" or "all 12 cases". */
void record_cases(const struct records *records, const struct record *record,
                  char name[CASE_NAME_SIZE]);

#endif
