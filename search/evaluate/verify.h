/*
 * verify: checks that a candidate computes one case correctly on one input, and that it touches
 * nothing else. correctness.c and final_checks.c decide which cases and inputs are checked.
 *
 *     struct verify_input input = {.seed = seed, .twice = true};
 *     struct verify_result found;
 *     if (verify_input(&one, &input, &found, &error) == 1)
 *         log_info("%s: %s", verdict_name(found.failure.verdict), found.failure.reason);
 *
 * If the device supports it, inputs are read-only while the candidate runs: always on the emulated
 * device, in flush memory on a GPU. Only this catches a candidate that uses an input as scratch
 * space and restores it.
 *
 * The order of the steps makes a wild write harmless: inputs are checksummed before the candidate
 * runs and again after; then the red zones of every allocation are checked; only then do the
 * reference and the plain kernel compute, from the unchanged inputs, into memory that held nothing
 * of this input. No data that the candidate is compared with exists while it runs. A wild write on
 * a GPU could still reach evotile's own kernels: a self-test after each trial computes a hash that
 * must equal the one from before the first trial (verify_self_test).
 */
#ifndef EVOTILE_EVALUATE_VERIFY_H
#define EVOTILE_EVALUATE_VERIFY_H

#include "evaluate/buffers.h"
#include "evaluate/error_bound.h"

struct diagnostics;
struct sampled_blocks;
struct reference_program;

struct verify_case {
    struct device *device;
    struct comparator *comparator;
    struct device_module *reference;   /* the template's reference kernels */
    struct device_module *plain;       /* the template's plain kernels */
    struct reference_program *program; /* NULL: the reference is kernels */
    const struct template *template;   /* loaded for the cases that case_index refers to */
    const struct genome *genome;
    int case_index;
    struct device_module *module;    /* the candidate's variant */
    double deadline_s;               /* of one call */
    struct sampled_blocks *sampled;  /* NULL: references are always computed in full */
    int goal;                        /* whose case it is, if `sampled` is not NULL */
    bool in_full;                    /* compute them in full this time */
    struct diagnostics *diagnostics; /* gets the first wrong elements; NULL: they are not listed */
};

enum poisoned {
    POISONED_WRITTEN, /* outputs and workspaces */
    POISONED_OUTPUTS, /* outputs alone, for tools that find reads of uninitialised memory: a
                         workspace's are the candidate's. compute-sanitizer 13.0 misses what
                         the copy engine stores, and reports the comparison's reads of it unless
                         outputs have been written before. */
    POISONED_NOTHING
};

struct verify_input {
    uint64_t seed;
    const struct stress *stress; /* NULL: random numbers */
    bool twice; /* run again on random bits for poison: outputs must agree bit for bit or,
                   if the template uses float atomics, be correct again. Then
                   run on new inputs in the same buffers, over the old outputs:
                   this fails kernels that cache results by address and kernels
                   that work only on poison */
    enum placement placement; /* of the candidate's tensors */
    bool carried_over;        /* with `twice`: then run after changes of a part of the inputs,
                                 outputs and workspaces (carry_over.h), two times */
    enum poisoned poisoned;   /* what is poisoned before a run */
};

/* How a candidate failed. */
struct failure {
    enum verdict verdict; /* VERDICT_OK: it did not */
    char reason[REASON_SIZE];
};

/* The largest errors over the outputs, and their bounds. */
struct verify_result {
    struct failure failure;
    struct errors errors, bound;
    double excess;         /* the largest quotient of an element's error and what a tolerance of the
                              template allows it; 0: no output has one */
    bool inputs_read_only; /* the inputs were mapped read-only while the candidate ran */
    double call_us;        /* of the quickest call, as the host saw it: the GPU took no longer */
};

/* Fills inputs, runs the candidate, and compares. Returns 0 if it passes, 1 if it fails, -1 when
   the device or the template failed. */
int verify_input(const struct verify_case *one, const struct verify_input *input,
                 struct verify_result *found, struct error *error);

/* Judges the candidate's output `name` by its comparison with the reference, the plain kernel's and
   the bound, or by `tolerance` if it is given. Returns whether it fails. */
bool verify_judge(const char *name, const struct comparison *plain,
                  const struct comparison *candidate, const struct errors *bound,
                  const struct tolerance *tolerance, struct failure *failure);

/* Returns whether a stress recipe applies to the genome in this case: it stays within the
   genome's declared input range. */
bool verify_applies_to(const struct launch_plan *plan, const struct template *template,
                       const struct stress *stress);

/* Computes a hash that depends on everything that verification uses: filling, reference, plain
   kernel, comparison and checksum. It is constant for a case, unless a candidate overwrote
   evotile's own kernels or their constants. `one` needs no module; its genome must be the same
   each time. */
int verify_self_test(const struct verify_case *one, uint64_t *self_test_hash, struct error *error);

enum { ALL_SETS = -1 };

/* Returns the set that the seed picks, which the candidate cannot know. */
int verify_pick_set(const struct buffers *buffers, uint64_t seed);

/* Verifies after timing: checks the red zones and the inputs of every set, and compares the outputs
   of `set` with the reference; ALL_SETS: of all or, if references are expensive, of one that the
   seed picks. Returns as verify_input. */
int verify_timed(const struct verify_case *one, struct buffers *buffers, uint64_t seed, int set,
                 struct failure *failure, struct error *error);

/* Puts before the reason of a failure that is the result's that it shows kept results. */
void failure_explain_kept(struct failure *failure);

#endif
