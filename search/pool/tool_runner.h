/*
 * tool_runner: runs one candidate in a worker process under a tool: compute-sanitizer or Nsight
 * Compute. The tool writes its report where its own arguments say; the worker is a pool worker
 * (pool/worker_main.h). The request decides what runs: small cases, or, with
 * `profiled`, the goal's own cases.
 *
 *     const char *const arguments[] = {"--log-file", report, NULL};
 *     struct tool_settings settings = {"/usr/bin/tool", program, config_path,
 *                                      template_folder, "cuda:0", 0};
 *     int status = tool_runner_run(&settings, arguments, 60, &request, problem, &error);
 *     if (status == 0)
 *         log_info("the report is complete: %s", report);
 *
 * Blocks until tool and worker have ended, at most for the limit. SIGPIPE must be ignored.
 */
#ifndef EVOTILE_POOL_TOOL_RUNNER_H
#define EVOTILE_POOL_TOOL_RUNNER_H

#include "base/path.h"
#include "evaluate/trial.h"

enum { TOOL_PROBLEM_SIZE = 256 };

struct tool_settings {
    const char *tool;                                             /* its path */
    const char *program, *config_path, *template_folder, *device; /* as in local_pool_settings */
    double limit_s;                                               /* 0: the tool's default */
    const struct device_info *compile_for; /* not NULL: a compile worker, in its sandbox, makes the
                                              machine code for that device, and the worker under
                                              the tool, which is in none, compiles no candidate */
};

/* Returns 0 when tool and worker have ended; 1 when they exceeded the limit and were killed; -1
   when nothing could be started. `problem` says why after 1 or when the candidate failed; else
   it is empty. `arguments` are the tool's, at most 32, NULL-terminated; the worker's command line
   follows. The request's strings stay the caller's. */
int tool_runner_run(const struct tool_settings *settings, const char *const *arguments,
                    double limit_s, const struct trial_request *request,
                    char problem[TOOL_PROBLEM_SIZE], struct error *error);

/* Creates an empty file for a tool's report, in TMPDIR or /tmp; the caller unlinks it. */
int tool_runner_new_report(char path[PATH_SIZE], const char *purpose, struct error *error);

#endif
