/* single_trial: evaluates one candidate at a time in a device worker; for `try` and `replay`.
 *
 *     struct single_trial *trial = single_trial_new(config_path, template_folder, "auto", &error);
 *     int status = single_trial_run(trial, &request, &result, &error);    // releases the request
 *     single_trial_print_gates(&result);
 *     trial_result_release(&result);
 *     single_trial_free(trial);                                          // stops the worker
 */
#ifndef EVOTILE_SESSION_SINGLE_TRIAL_H
#define EVOTILE_SESSION_SINGLE_TRIAL_H

#include "pool/local_pool.h"

#include <cjson/cJSON.h>

struct single_trial;

/* Starts the worker. `device` is a single device, not a list. */
struct single_trial *single_trial_new(const char *config_path, const char *template_folder,
                                      const char *device, struct error *error);
/* Its two halves, for a caller that starts several at once: the first does not wait, and nothing
   but single_trial_free may come before the second. */
struct single_trial *single_trial_start(const char *config_path, const char *template_folder,
                                        const char *device, struct error *error);
int single_trial_finish_start(struct single_trial *single_trial, struct error *error);
void single_trial_free(struct single_trial *single_trial);

/* Starts one on each of the first `count` devices of a list, all at once, because a GPU takes
   seconds. Also after a failure the caller frees those that are there: `single_trials` holds NULL
   for the others. */
int single_trials_start(struct single_trial **single_trials, const char *config_path,
                        const char *template_folder, const struct device_list *devices, int count,
                        struct error *error);

const struct device_info *single_trial_device(const struct single_trial *single_trial);

/* A seed for inputs that no earlier trial used, made from the clock and the process id. */
uint64_t single_trial_fresh_seed(void);

/* Blocks until the result is there; the caller releases it. Releases the request. */
int single_trial_run(struct single_trial *single_trial, struct trial_request *request,
                     struct trial_result *result, struct error *error);

/* Its two halves, for a caller that has several. Blocks until one of those that have a trial has
   its result. `which` is its index; after an error that of the one that failed. */
void single_trial_submit(struct single_trial *single_trial, struct trial_request *request);
int single_trial_wait(struct single_trial *const *single_trials, int count, int *which,
                      struct trial_result *result, struct error *error);

/* The gates as text, one per line, on standard output; or as a JSON array of objects, which the
   caller owns. */
void single_trial_print_gates(const struct trial_result *result);
cJSON *single_trial_json_gates(const struct trial_result *result);

#endif
