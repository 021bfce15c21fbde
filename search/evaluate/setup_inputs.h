/*
 * setup_inputs: what setup makes of inputs, for a baseline. Lengths and page tables decide how much
 * work a call is, so that both sides of a duel need the same ones.
 *
 *     cJSON *sets;
 *     if (setup_inputs(&one, seed, 4, &sets, &error) < 0) return -1;
 *     cJSON_Delete(sets);
 */
#ifndef EVOTILE_EVALUATE_SETUP_INPUTS_H
#define EVOTILE_EVALUATE_SETUP_INPUTS_H

#include "evaluate/verify.h"

#include <cjson/cJSON.h>

enum { SETUP_INPUT_ELEMENTS = 1 << 16 };

/* An array of an object for each set: the integer inputs that setup writes, by name, as arrays of
   all elements in the order of memory; those of more than SETUP_INPUT_ELEMENTS are left out. Set s
   is that of a measurement: filled with seed + s. NULL: there are none. The caller deletes it. */
int setup_inputs(const struct verify_case *one, uint64_t seed, int sets, cJSON **found,
                 struct error *error);

#endif
