/*
 * references: runs the template's reference and plain kernel on the inputs of a candidate, and
 * checks that they are fit to judge it. Private to evaluate/.
 *
 *     struct comparison plain;          // of the plain kernel's outputs with the reference's
 *     struct reference_runs *runs = reference_runs_new(one, &error);
 *     if (run_references(one, buffers, 0, runs, &error) == 0)
 *         check_references(one, buffers, 0, 1, &plain, &error);
 *     reference_runs_free(runs);
 */
#ifndef EVOTILE_EVALUATE_REFERENCES_H
#define EVOTILE_EVALUATE_REFERENCES_H

#include "evaluate/verify.h"

/* A launch plan and the buffers that it uses. Of the reference and the plain kernel, the buffers
   are the outputs, computed from the candidate's own inputs. Where the launches write another dtype
   (written), they write into `written`, and the buffers get what it converts to. */
struct planned_buffers {
    struct launch_plan plan;
    struct buffers buffers;
    uint64_t written[TENSORS_MAX]; /* 0: the buffer itself */
};

void planned_buffers_release(struct planned_buffers *run);

/* Of one case. */
struct reference_runs {
    struct planned_buffers reference, plain;
};

/* Plans both kernels of a case; NULL on an error. The caller frees them, which releases the outputs
   of the last run. */
struct reference_runs *reference_runs_new(const struct verify_case *one, struct error *error);
void reference_runs_free(struct reference_runs *runs);

/* Allocates the outputs of one of them, whose kernels `module` has, does what comes before its
   call, and writes its launches on the inputs of a set. */
int reference_sequence(const struct verify_case *one, const struct buffers *buffers, int set,
                       struct device_module *module, struct planned_buffers *reference_run,
                       struct device_sequence *sequence, struct error *error);

/* Queues what follows those launches: conversions of what they wrote. */
int convert_written(const struct verify_case *one, struct planned_buffers *run,
                    struct error *error);

/* Runs both on the inputs of a set, into newly allocated outputs; once per reference_runs_new.
   Conversions are only queued (comparator_finish). */
int run_references(const struct verify_case *one, const struct buffers *buffers, int set,
                   struct reference_runs *runs, struct error *error);

/* Where the last run wrote the magnitudes of a candidate's output; 0: it has none. */
uint64_t reference_magnitudes(const struct reference_runs *runs,
                              const struct planned_tensor *output);

/* Buffers of the case's inputs alone, not filled yet; NULL on an error. The caller frees them. */
struct planned_buffers *reference_inputs_new(const struct verify_case *one,
                                             const struct reference_runs *runs,
                                             struct error *error);
void reference_inputs_free(struct planned_buffers *inputs);
/* Runs both on new inputs from a seed, of a stress recipe unless it is NULL. NULL on an error; else
   the caller frees the runs and the inputs. */
struct reference_runs *reference_runs_on_seed(const struct verify_case *one,
                                              const struct stress *stress, uint64_t seed,
                                              struct planned_buffers **inputs, struct error *error);

/* Checks output `t` of both kernels on a set; `plain` compares them. Returns 0; 1 if the input is a
   derived stress recipe that the plain kernel cannot compute, which says nothing about a candidate;
   -1 with an error of the template if
   the plain kernel is not finite where the reference is, or outside the output's own tolerance, or
   a magnitude is too small, and on ordinary random inputs also if the reference is not finite or
   the plain kernel's error is beyond what its types explain: it would give every candidate a
   licence. */
int check_references(const struct verify_case *one, const struct buffers *buffers, int set, int t,
                     const struct comparison *plain, struct error *error);

#endif
