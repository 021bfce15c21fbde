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

#endif
