/*
 * parallel: runs numbered tasks in several processes, which write their results to memory that they
 * share. Each process takes the next task when it is done with one.
 *
 *     struct parallel *parallel = parallel_new(100 * sizeof(double), &error);
 *     double *results = parallel_results(parallel);                 // zeros
 *     int status = parallel_run(parallel, jobs, 100, task, &context, &error);
 *     parallel_free(parallel);
 */
#ifndef EVOTILE_SIMULATE_PARALLEL_H
#define EVOTILE_SIMULATE_PARALLEL_H

#include "base/error.h"

#include <stddef.h>

struct parallel;

/* Does task `number`, from 0, in a child process; writes its own part of the results only. */
typedef int parallel_task(void *context, int number, struct error *error);

/* NULL with `error` if there is not so much memory. */
struct parallel *parallel_new(size_t result_bytes, struct error *error);
void parallel_free(struct parallel *parallel);

/* Aligned for any type. */
void *parallel_results(struct parallel *parallel);

/* Blocks until all tasks are done; once for each `parallel`. Fails with the error of the first task
   that fails, whose process does no other; or if a process dies. */
int parallel_run(struct parallel *parallel, int jobs, int count, parallel_task *task, void *context,
                 struct error *error);

#endif
