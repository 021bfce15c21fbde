/* profile_results: the profile of a trial, stored with its run (run_artifacts.h).
 *
 * `evotile profile` writes it. Of its contents, the measures that the template's hints read
 * (hints.h) are read back. It is no event of the run: a search uses it from its next resume on.
 *
 *     struct measures measures = evolution_measures(&outcome.resources);
 *     profile_set_measures(kernels, count, &measures);
 *     profile_results_add(object, &measures);
 *     int status = profile_results_write("results/demo", trial, object, &error);  // in `profile`
 *     int found = profile_results_read(store, trial, &measures, &error);          // in a resume
 */
#ifndef EVOTILE_RUN_PROFILE_RESULTS_H
#define EVOTILE_RUN_PROFILE_RESULTS_H

#include "run/run_artifacts.h"
#include "space/hints.h"

/* Adds "measures" to the object: the known values under their names in hints. */
void profile_results_add(cJSON *object, const struct measures *measures);

/* Stores the object, which must have the name of its "device". Frees `object`. */
int profile_results_write(const char *run_dir, int64_t trial, cJSON *object, struct error *error);

/* The stored object. Returns 1 with a document to be released; 0 if the trial was not profiled, or
   on another device than the run's; -1 if it is damaged. */
int profile_results_open(struct store *store, int64_t trial, struct json_document *document,
                         struct error *error);

/* Its measures; the same values. */
int profile_results_read(struct store *store, int64_t trial, struct measures *measures,
                         struct error *error);

#endif
