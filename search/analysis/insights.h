/*
 * insights: what limits a genome, as far as its run knows, and what its solution advises. A
 * proposer gets it with a question, and the log of a run shows it of each solution.
 *
 *     cJSON *object = cJSON_CreateObject();
 *     int status = insights_add(object, subject, error);
 *
 * Adds to a JSON object
 *
 *     "findings"   [{"case": 0, "name": "waves", "value": 0.5, "text": "..."}] (bottleneck.h): of
 * the trial's figures; of a trial that `evotile profile` profiled, those of the profile "advice"
 * ["raise KV_SPLITS: why"], the solution's insights that hold "measures"   {"registers": 32}, of a
 * profile; left out without one
 */
#ifndef EVOTILE_ANALYSIS_INSIGHTS_H
#define EVOTILE_ANALYSIS_INSIGHTS_H

#include "store/store.h"
#include "template/template.h"

#include <cjson/cJSON.h>

struct insights_subject {
    struct store *store;
    const struct template *template;  /* loaded for the device */
    const struct device_info *device; /* the run's */
    const struct genome *genome;
    const struct store_trial *trial; /* of that genome; its verdict is ok */
};

/* -1 with `error` if a stored profile is damaged, or the genome's launches cannot be planned. */
int insights_add(cJSON *to, const struct insights_subject *subject, struct error *error);

/* Memory accesses that cost more than necessary, which the emulated device found when a solution
   was judged (answer_costs): of a proposal in what it was judged with; of a solution that the run
   started with (`judged` is NULL) in the store. An array, which the caller frees; NULL with
   `error`.
 */
cJSON *insights_costs(struct store *store, const char *solution, const char *judged,
                      struct error *error);
/* The name under which the store has those of a solution that the run started with. */
enum { COSTS_META_SIZE = NAME_SIZE + 16 };
void insights_costs_name(const char *solution, char name[COSTS_META_SIZE]);

#endif
