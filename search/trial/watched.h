/*
 * watched: one candidate in a worker of ours that runs under a tool which watches it:
 * compute-sanitizer, Nsight Compute. The tool writes its report where its own arguments say; the
 * worker talks to us as any does (trial/wire.h). The request says what is run: small cases, or,
 * `profiled`, the goal's own.
 *
 *     const char *const tool[] = {"/usr/bin/tool", "--log-file", report, NULL};
 *     struct watched_worker worker = {tool, program, config_path, template_folder, "cuda:0", 60};
 *     int status = watched_run(&worker, &request, problem, &error);
 *     if (status == 0) ... read the report ...
 *
 * It blocks for as long as that takes, the limit at most.
 */
#ifndef EVOTILE_TRIAL_WATCHED_H
#define EVOTILE_TRIAL_WATCHED_H

#include "trial/trial.h"

enum { WATCHED_PROBLEM_SIZE = 256 };

struct watched_worker {
    const char *const *tool; /* its path and arguments, at most 32, ended by NULL; ours follow */
    const char *program, *config_path, *template_folder, *device; /* as of a pool */
    double limit_s;
};

/* 0: tool and worker have ended; 1: not within the limit, and were killed. `problem` says then, or
   where the candidate failed, what it was; else it is empty. -1: nothing could be started. The
   request's texts stay the caller's. */
int watched_run(const struct watched_worker *worker, const struct trial_request *request,
                char problem[WATCHED_PROBLEM_SIZE], struct error *error);

#endif
