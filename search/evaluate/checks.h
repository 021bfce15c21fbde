/*
 * checks: what a champion passed, as one line:
 *
 *     cases (1 of 1), hard inputs (1 case), ..., race checker (5 of 5 cases); 61 inputs of
 *     seed 123; NVIDIA H200; warm and cold graphs 7, sustained
 *
 * A measure is listed only if its gate ran and passed; the words in parentheses are the gate's own.
 */
#ifndef EVOTILE_EVALUATE_CHECKS_H
#define EVOTILE_EVALUATE_CHECKS_H

#include "evaluate/trial.h"

/* Sets `outcome.checks` from the result's gates. It becomes empty if the verdict is not ok or the
   final checks did not run. `inputs` were verified, drawn from `seed`. */
void checks_record(struct trial_result *result, int inputs, uint64_t seed,
                   const struct device_info *device, enum regime regime);

#endif
