/*
 * verify: is one case right on one input. The measures of a candidate's correctness that every run
 * of it goes through are here; correct.c says which cases and inputs are tried.
 *
 *     struct verify_input input = {.seed = seed, .twice = true};
 *     if (verify_input(&one, &input, &verdict, &found, reason, &error) < 0) return -1;
 *
 * Where the device can, inputs are read-only while the candidate runs: always on the emulated one,
 * in flush memory on a GPU. What uses an input as scratch space and puts it back is caught so
 * alone.
 *
 * The order is what makes a wild write harmless: inputs are summed up before the candidate runs and
 * after; the red zones of every allocation are looked at after it; and only then, from the inputs
 * that are still as they were, into memory that held nothing of this input, the reference and the
 * plain kernel compute what it is compared with. Nothing that it is compared with exists while it
 * runs. What does exist are our kernels, which a wild write could reach on a GPU: so they answer
 * the same question after each trial as before the first (verify_ourselves).
 */
#ifndef EVOTILE_TRIAL_VERIFY_H
#define EVOTILE_TRIAL_VERIFY_H

#include "trial/bound.h"
#include "trial/buffers.h"

struct verify_case {
    struct device *device;
    struct judge *judge;
    struct device_module *reference; /* the template's reference kernels */
    struct device_module *plain;     /* and its plain ones */
    const struct template *template; /* loaded for the cases that case_index counts */
    const struct genome *genome;
    int case_index;
    struct device_module *module; /* the candidate's variant */
    double deadline_s;            /* of one call */
};

struct verify_input {
    uint64_t seed;
    const struct stress *stress; /* NULL: random numbers */
    bool twice;                  /* once more on other poison: outputs must agree bit for bit, or,
                                    where the template has float atomics, be right again. Then on
                                    other inputs in the same place, over the outputs that lie there:
                                    what remembers results by address fails, and what works only
                                    where it finds poison */
    enum placement placement;    /* of the candidate's tensors */
    bool unpoisoned;             /* leaves outputs and workspaces as they come, for tools that watch
                                    who reads what nobody wrote */
};

/* The worst errors over the outputs, and the bounds they were held to. */
struct judgement {
    struct errors errors, bound;
    bool inputs_read_only; /* the candidate could not even have written to them for a while */
};

/* Fills inputs, runs the candidate, and compares. Returns 0 with a verdict (and its reason unless
   ok), -1 when the device or the template failed. */
int verify_input(const struct verify_case *one, const struct verify_input *input,
                 enum verdict *verdict, struct judgement *found, char reason[REASON_SIZE],
                 struct error *error);

/* Whether a recipe stays within what the genome must bear in this case. */
bool verify_bears(const struct plan *plan, const struct template *template,
                  const struct stress *stress);

/* One number that all we judge with has a part in: filling, reference, plain kernel, comparing and
   summing up. It never changes for a case; a candidate that wrote into our own kernels or their
   constants changes it. `one` needs no module; its genome is the same each time. */
int verify_ourselves(const struct verify_case *one, uint64_t *answer, struct error *error);

/* After timing: looks at the red zones and at the inputs of every set, compares outputs with the
   reference, and then runs once more on new inputs in the same buffers, over the outputs of the
   old ones, for a kernel that remembers results by address or looks for poison. Where references
   cost much, it compares one set, which a candidate cannot know, instead of all. Spoils the inputs.
 */
int verify_timed(const struct verify_case *one, struct buffers *buffers, uint64_t seed,
                 enum verdict *verdict, char reason[REASON_SIZE], struct error *error);

#endif
