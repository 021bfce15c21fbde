/*
 * evaluator: the second half of a trial: loads built candidates on a device, verifies and times
 * them. One evaluator per device worker process.
 *
 *     struct evaluator *evaluator = evaluator_new(&settings, device, compiler, &error);
 *     int status = evaluator_run(evaluator, &request, images, &result, &error);
 *     evaluator_free(evaluator);
 *
 * Nothing is timed before it was correct on every case. Inputs are fresh random numbers for each
 * trial; outputs and workspaces are poisoned before every run; input checksums and red zones are
 * checked after it.
 *
 * On devices that do not trap every stray write, the evaluator runs a self-test after each trial:
 * if its own kernels no longer give their first answer, the trial's verdict is crashed.
 */
#ifndef EVOTILE_EVALUATE_EVALUATOR_H
#define EVOTILE_EVALUATE_EVALUATOR_H

#include "evaluate/compile.h"

struct evaluator;

/* The evaluator uses the compiler for templates and for the reference; all three arguments must
   outlive it. */
struct evaluator *evaluator_new(const struct evaluation_settings *settings, struct device *device,
                                struct compiler *compiler, struct error *error);
/* The same on the device of another evaluator, which must outlive it. If both judge solutions of
   one problem for the same cases, it uses the other one's kernels that fill, compute references and
   compare, and what that one found of the references: a new solution is judged at once. */
struct evaluator *evaluator_new_beside(struct evaluator *other,
                                       const struct evaluation_settings *settings,
                                       struct compiler *compiler, struct error *error);
void evaluator_free(struct evaluator *evaluator);
/* Whether its own kernels still give their first answer: the device is there, and what failed is
   the candidate's. */
bool evaluator_is_sound(struct evaluator *evaluator);

/* Frees what the evaluator keeps for duels against kernels of other settings; call it before such
   settings are released. */
void evaluator_close_other(struct evaluator *evaluator);

/* The machine code of the last duel's opponent, which is kept for the next duel: whether it is that
   genome's, and setting it. The evaluator takes ownership of the images. */
bool evaluator_has_champion(const struct evaluator *evaluator, int goal,
                            const struct genome *genome);
void evaluator_set_champion(struct evaluator *evaluator, int goal, const struct genome *genome,
                            const struct device_image images[CASES_MAX]);

/* Warns if another process computes on the GPU. A worker that runs under a tool does not call
   it: the run's own worker uses the GPU as well, and nothing is timed. */
void evaluator_warn_if_gpu_shared(const struct evaluator *evaluator);

/* Evaluates one candidate; `images` come from compiler_build. Returns 0 with a complete result
   for any verdict; -1 when the device or the template failed, not the candidate. After a verdict
   of crashed or timeout on a real device the process must exit. */
int evaluator_run(struct evaluator *evaluator, const struct trial_request *request,
                  const struct device_image images[CASES_MAX], struct trial_result *result,
                  struct error *error);

#endif
