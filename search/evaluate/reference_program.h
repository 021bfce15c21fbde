/*
 * reference_program: a reference that is a program, such as one in Python: it computes the outputs
 * of one set of inputs, which pass as .npy files in a folder of shared memory. Private to
 * evaluate/.
 *
 *     struct reference_program *program = reference_program_new(template, &error);
 *     if (program != NULL && reference_program_run(program, one, buffers, 0, &run, &error) == 0)
 *         ...; // run.buffers has the outputs
 *     reference_program_free(program);
 *
 * What it does wrong is an error of the template: it exits, has no answer in time, answers another
 * question, or one twice, or writes arrays of another shape or dtype. The last results are kept by
 * the inputs' contents.
 */
#ifndef EVOTILE_EVALUATE_REFERENCE_PROGRAM_H
#define EVOTILE_EVALUATE_REFERENCE_PROGRAM_H

#include "evaluate/references.h"

struct reference_program;

/* Starts the template's program; NULL on an error. The template must outlive it. */
struct reference_program *reference_program_new(const struct template *template,
                                                struct error *error);
void reference_program_free(struct reference_program *program);

/* Computes the outputs, and magnitudes, of a filled set of inputs into the run's buffers, which are
   allocated. */
int reference_program_run(struct reference_program *program, const struct verify_case *one,
                          const struct buffers *buffers, int set, const struct planned_buffers *run,
                          struct error *error);

#endif
