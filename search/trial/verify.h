/*
 * verify: is one case right on one input. The measures of a candidate's
 * correctness that every run of it goes through are here; bench.h says in which order cases are
 * tried.
 */
#ifndef EVOTILE_TRIAL_VERIFY_H
#define EVOTILE_TRIAL_VERIFY_H

#include "trial/buffers.h"

struct verify_case {
    struct device *device;
    struct judge *judge;
    struct device_module *reference; /* the template's reference kernels */
    const struct template *template; /* loaded for the cases that case_index counts */
    const struct genome *genome;
    int case_index;
    struct device_module *module; /* the candidate's variant */
    double deadline_s;            /* of one call */
};

/* Fills fresh inputs from the seed, runs the reference and the candidate and compares. `twice`:
   runs it once more on other poison, and the outputs must agree bit for bit. Returns 0 with a
   verdict (and its reason unless ok), -1 when the device or the template failed. */
int verify_input(const struct verify_case *one, uint64_t seed, bool twice, enum verdict *verdict,
                 struct errors *errors, char reason[REASON_SIZE], struct error *error);

/* After timing: set 0 of the buffers still holds what its last call wrote. Compares it with the
   reference, and looks at the red zones. */
int verify_timed(const struct verify_case *one, const struct buffers *buffers,
                 enum verdict *verdict, char reason[REASON_SIZE], struct error *error);

#endif
