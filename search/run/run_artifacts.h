/* run_artifacts: results that verbs store with a run after its search, as named JSON objects.
 *
 * They are kept in the meta table of run.db, so runs of any age accept them, and readers do not
 * block a writer.
 *
 *     "baseline"      the times of a baseline for each case (baseline_results.h)
 *     "baseline_duel:N"  a duel between trial N and the baseline (baseline_duel.h)
 *     "rivals:G"      duels between solutions of the same cases (rival_duels.h)
 *     "ablation:K"    the effect of each gene of goal K's champion (ablation.h)
 *     "profile:N"     the profiler's counters of trial N (profile_results.h)
 *     "predictions"   cross-validated predictions of trials (predictions.h)
 *
 * Writing a name replaces its previous object.
 *
 *     struct json_document document;
 *     if (run_artifact_read(store, "baseline", &document, &error) == 1)
 *         json_release(&document);
 *     int status = run_artifact_write(store, "baseline", object, &error);   // frees the object
 */
#ifndef EVOTILE_RUN_RUN_ARTIFACTS_H
#define EVOTILE_RUN_RUN_ARTIFACTS_H

#include "base/json.h"
#include "store/store.h"

/* Returns 1 with a document to be released; 0 if the run has no such object; -1 if it is not
   JSON. */
int run_artifact_read(struct store *store, const char *name, struct json_document *document,
                      struct error *error);

/* Writes in a transaction of its own: none may be open. The store must be open for writing. Frees
   `object`. */
int run_artifact_write(struct store *store, const char *name, cJSON *object, struct error *error);

/* The same for a run that is not open: opens its store for the write. */
int run_artifact_write_to(const char *run_dir, const char *name, cJSON *object,
                          struct error *error);

#endif
