/*
 * recorded_answers: recorded inputs and outputs of a template in place of random inputs and a
 * reference. Private to evaluate/.
 *
 *     if (recorded_answers_fill(&buffers, 0, seed, &error) == 0)
 *         ...; // the candidate runs
 *     recorded_answers_run(one, &buffers, 0, &run, &error); // run.buffers has the recorded outputs
 */
#ifndef EVOTILE_EVALUATE_RECORDED_ANSWERS_H
#define EVOTILE_EVALUATE_RECORDED_ANSWERS_H

#include "evaluate/references.h"

/* Writes the inputs that the seed picks among those recorded for the case. */
int recorded_answers_fill(struct buffers *buffers, int set, uint64_t seed, struct error *error);

/* Writes the outputs that were recorded with the inputs of a filled set. */
int recorded_answers_run(const struct verify_case *one, const struct buffers *buffers, int set,
                         const struct planned_buffers *run, struct error *error);

#endif
