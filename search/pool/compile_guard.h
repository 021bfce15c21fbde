/*
 * compile_guard: what a worker answers when the compiler, which runs in its process, dies of a
 * candidate's source: beyond its CPU time (SIGXCPU), or without memory, when LLVM aborts. See
 * base/resource_budget.h.
 *
 *     compile_guard_install();                       // once, at the worker's start
 *     const struct resource_budget budget = resource_budget_default();
 *     compile_guard_prepare(1, &request, "compile", &budget); // before each trial
 *
 * A signal handler cannot make a message, so that the answers are made before the trial. The
 * handler sends one, with the verdict compile_failed, and ends the process: the pool takes the
 * result and starts another worker. Outside of compilations the signals do what they do otherwise.
 */
#ifndef EVOTILE_POOL_COMPILE_GUARD_H
#define EVOTILE_POOL_COMPILE_GUARD_H

#include "base/resource_budget.h"
#include "evaluate/trial.h"

/* Handles SIGXCPU, SIGABRT and SIGSEGV. */
void compile_guard_install(void);

/* True if the worker sent this as it died: it gets no other trial. */
bool compile_guard_ended_worker(const struct trial_result *result);

/* `to` is the file descriptor of the messages; `worker` is named in the result. */
void compile_guard_prepare(int to, const struct trial_request *request, const char *worker,
                           const struct resource_budget *budget);

#endif
