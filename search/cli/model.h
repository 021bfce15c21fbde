/*
 * model: what the actions of `evotile model` share: measured trials, of runs or of recorded spaces,
 * with what each of them executes. Private to cli/.
 *
 *     struct model_trials *trials = xcalloc(1, sizeof *trials);
 *     trials->paths = paths; trials->sample = 300; ...
 *     if (model_trials_read(trials, count, &error) == 0)
 *         latency_us = trace_predicted_us(trials->all[0].trace, &trials->info);
 *     model_trials_free(trials);
 */
#ifndef EVOTILE_CLI_MODEL_H
#define EVOTILE_CLI_MODEL_H

#include "run/predictions.h"
#include "session/session.h"
#include "session/traces.h"

enum { RUNS_MAX = 64 };

/* A measured trial, or a row of a recorded space. */
struct measured_trial {
    int64_t trial; /* -1 for a row of a recorded space */
    int64_t row;   /* of the recorded space */
    int run;
    struct trace_request request;
    double score_us;
    const struct trace *trace; /* NULL if the kernel could not be traced */
    double predicted_us;
};

struct model_trials {
    int run_count;
    struct config *configs[RUNS_MAX];
    struct traces *traces[RUNS_MAX];
    char **paths;
    struct device_info info; /* of the device that all trials were measured on, from device_db */
    char device_name[128];   /* empty until the first run */
    struct template *templates[RUNS_MAX][GOALS_MAX];
    struct measured_trial *all;
    int count;
    int64_t row_count; /* of the recorded space that was read last */
    /* Given by the caller. */
    int64_t sample; /* random trials to use of each path; 0: all */
    int64_t folds, jobs, seed;
    bool with_predictions;   /* accepts a run that was not measured, but predicted */
    const char *config_path; /* of the recorded spaces */
};

/* The prefix of a path that names a recorded space. */
extern const char recorded_prefix[];

/* Reads and traces the trials of `count` paths. Those that could not be traced are left out. */
int model_trials_read(struct model_trials *trials, int count, struct error *error);
void model_trials_free(struct model_trials *trials);

const struct template *model_trials_template(struct model_trials *trials, int run, int goal,
                                             struct error *error);

/* How well `predicted_us` agrees with what was measured, a row for each run and goal. */
struct table *model_trials_accuracy(const struct model_trials *trials);

/* model_check.c: predicts all trials with the parameters in force, prints how well that agrees with
   what was measured, and writes a line of JSON for each trial to `out` (NULL: none). */
int model_check(struct model_trials *trials, const char *out, bool json, struct error *error);

#endif
