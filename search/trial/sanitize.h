/*
 * sanitize: a candidate under NVIDIA's compute-sanitizer: what red zones, poison and a bitwise
 * repeat cannot see. Each of its four tools runs a worker of ours, in which the candidate goes
 * through the template's small cases once, without timing.
 *
 *     if (sanitize_find(tool_path, &error) < 0) ...          // not installed: says how to get it
 *     struct sanitizing how = {tool_path, program, config_path, template_folder, "cuda:0", 0};
 *     if (sanitize_run(&how, &request, findings, &error) == 0)
 *         for (int t = 0; t < SANITIZER_COUNT; t++) ... findings[t].count
 *
 * It blocks for some seconds a tool, and says on stderr which. A tool that does not end within its
 * limit is killed and did not run, whatever it had found or not.
 */
#ifndef EVOTILE_TRIAL_SANITIZE_H
#define EVOTILE_TRIAL_SANITIZE_H

#include "base/path.h"
#include "trial/trial.h"

enum sanitizer {
    SANITIZER_MEMCHECK,  /* addresses out of bounds or misaligned */
    SANITIZER_RACECHECK, /* hazards in shared memory */
    SANITIZER_SYNCCHECK, /* barriers that not every thread reaches */
    SANITIZER_INITCHECK, /* reads of global memory that nobody wrote */
    SANITIZER_COUNT
};

const char *sanitizer_name(enum sanitizer sanitizer);

struct findings {
    bool ran; /* else `first` says why not */
    int count;
    char first[256]; /* the first finding, in the tool's words */
    double seconds;
};

struct sanitizing {
    const char *tool;                                             /* sanitize_find's */
    const char *program, *config_path, *template_folder, *device; /* as of a pool */
    double limit_s;                                               /* of a tool; 0: 60 */
};

/* Where compute-sanitizer is: on PATH, or in the CUDA Toolkit. That it is not there is an error,
   whose text has the remedy. */
int sanitize_find(char path[PATH_SIZE], struct error *error);

/* One element of `findings` a tool. The request's sources stay the caller's. -1: no worker could be
   started. */
int sanitize_run(const struct sanitizing *how, const struct trial_request *request,
                 struct findings findings[SANITIZER_COUNT], struct error *error);

/* What a tool's report comes to. */
void sanitize_read(const char *report, struct findings *findings);

#endif
