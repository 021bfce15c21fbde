/* run_options: the options of run, resume, evolve and record that set a key of the run's config.
 *
 *     struct run_options options = RUN_OPTIONS_NONE;
 *     options.trials = 100;                                  // --trials 100
 *     cJSON *changes = run_options_changes(&options, &error);
 *     if (changes == NULL)
 *         return error_report(&error);
 *     struct config *config = run_options_read_config("demo.json", NULL, changes, &error);
 *     cJSON_Delete(changes);
 */
#ifndef EVOTILE_CLI_RUN_OPTIONS_H
#define EVOTILE_CLI_RUN_OPTIONS_H

#include "config/change.h"

#include <math.h>

/* A member that has the value of RUN_OPTIONS_NONE was not given. */
struct run_options {
    int64_t trials, patience, seed, max_temperature_c, proposals, tune, ahead;
    double seconds, target_us, target_ratio, timeout_s;
    const char *strategy, *learn_from, *device, *proposer, *evolves_by;
    bool keep_profiles, nice;
};

#define RUN_OPTIONS_NONE                                                                           \
    { .seed = -1, .target_us = NAN, .target_ratio = NAN, .tune = -1 }

/* Returns the changes of the config that the options ask for (change.h); the caller frees them.
   NULL with `error` filled if a value is out of range. */
cJSON *run_options_changes(const struct run_options *options, struct error *error);

/* The folder of a new run of the config: results/NAME, or the first unused name of results/NAME-2,
   results/NAME-3 ... (run.c) */
int run_default_dir(const char *config_path, char run_dir[PATH_SIZE], struct error *error);

/* Reads a config as config_load does, and makes the changes. */
struct config *run_options_read_config(const char *path, const char *templates,
                                       const cJSON *changes, struct error *error);

#endif
