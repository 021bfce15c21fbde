/*
 * answer: a trial's result as a client of a server gets it. What is not known is null, never 0.
 *
 *     cJSON *answer = answer_new(&result, template);
 *     cJSON_Delete(answer);
 */
#ifndef EVOTILE_SOLUTIONS_ANSWER_H
#define EVOTILE_SOLUTIONS_ANSWER_H

#include "evaluate/trial.h"

#include <cjson/cJSON.h>

/* The caller owns it. `template` is of the candidate, loaded for the result's goal. */
cJSON *answer_new(const struct trial_result *result, const struct template *template);
/* Its "costs": memory accesses that take more passes or sectors than necessary, the most expensive
   first. The caller owns the array. */
cJSON *answer_costs(const struct diagnostics *diagnostics);
/* Adds the ratios of a duel with the baseline, or why there is none. */
void answer_add_baseline(cJSON *answer, const struct trial_result *result);
/* "counters" of a profile that did not start. The caller owns it. */
cJSON *answer_no_counters(const char *missing);
/* The answer to a candidate that did not come to a trial. */
cJSON *answer_refusal(const char *stage, const char *reason);

#endif
