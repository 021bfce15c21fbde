/*
 * sanitize: runs a candidate under NVIDIA's compute-sanitizer, which finds what red zones, poison
 * and a bitwise repeat cannot. Each of its four tools runs a worker process, in which the candidate
 * runs the template's small cases once, without timing.
 *
 *     char tool[PATH_SIZE];
 *     if (sanitize_find(tool, &error) < 0)
 *         return -1; // the text has the remedy
 *     struct tool_settings settings = {tool, program, config_path, template_folder, "cuda:0", 0};
 *     if (sanitize_run(&settings, &request, findings, &error) == 0)
 *         for (int t = 0; t < SANITIZER_COUNT; t++)
 *             count += findings[t].count;
 *
 * Blocks for some seconds per tool, and logs each tool to stderr. A tool that exceeds its limit is
 * killed and counts as not run, even if it had findings.
 */
#ifndef EVOTILE_POOL_SANITIZE_H
#define EVOTILE_POOL_SANITIZE_H

#include "pool/tool_runner.h"

enum sanitizer {
    SANITIZER_MEMCHECK,  /* addresses out of bounds or misaligned */
    SANITIZER_RACECHECK, /* hazards in shared memory */
    SANITIZER_SYNCCHECK, /* barriers that not every thread reaches */
    SANITIZER_INITCHECK, /* reads of uninitialised global memory */
    SANITIZER_COUNT
};

const char *sanitizer_name(enum sanitizer sanitizer);

struct findings {
    bool ran; /* false: `first` says why */
    int count;
    char first[256]; /* the tool's text of the first finding */
    double seconds;
};

/* Finds compute-sanitizer, on PATH or in the CUDA Toolkit. If it is not installed, the error
   text has the remedy. */
int sanitize_find(char path[PATH_SIZE], struct error *error);

/* Fills one element of `findings` per tool, of at most 60 s each by default. The settings' tool is
   the path from sanitize_find. The request's strings stay the caller's. Returns -1 if no worker
   could be started. */
int sanitize_run(const struct tool_settings *settings, const struct trial_request *request,
                 struct findings findings[SANITIZER_COUNT], struct error *error);

/* Parses a tool's report. */
void sanitize_read(const char *report, struct findings *findings);

#endif
