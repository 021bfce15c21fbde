#include "pool/profile_keep.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/strbuf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEEP_LIMIT_S = 300 };

static const char extension[] = ".ncu-rep";

/* The name as ncu takes it: % starts a macro. The caller frees it. */
static char *escape_macros(const char *path) {
    struct strbuf text = {0};
    for (; *path != '\0'; path++)
        strbuf_print(&text, *path == '%' ? "%%%%" : "%c", *path);
    return text.bytes;
}

/* What ncu's log says went wrong; empty if it says nothing. */
static void read_problem(const char *log_path, char problem[TOOL_PROBLEM_SIZE]) {
    struct error ignored;
    struct profile *profile = xcalloc(1, sizeof *profile);
    char *log = path_read_file(log_path, 64 << 20, NULL, &ignored);
    profile_read_problem(log != NULL ? log : "", profile);
    if (profile->problem[0] != '\0')
        snprintf(problem, TOOL_PROBLEM_SIZE, "%s", profile->problem);
    free(log);
    free(profile);
}

static int run_tool(const struct profile_settings *settings, const struct trial_request *request,
                    const char *part, const char *log_path, char problem[TOOL_PROBLEM_SIZE],
                    struct error *error) {
    struct trial_request profiled = *request;
    char *kernels = profile_kernel_filter(settings);
    char *escaped = escape_macros(part);
    const char *const arguments[] = {
        "--set",      "full",   "--cache-control",     "none",     "--clock-control", "none",
        "--export",   escaped,  "--print-kernel-base", "function", "--kernel-name",   kernels,
        "--log-file", log_path, "--force-overwrite",   NULL};
    const double limit_s = settings->run.limit_s > 0 ? settings->run.limit_s : KEEP_LIMIT_S;
    profiled.profiled = true;
    log_info("ncu: all sections, at most %.0f s", limit_s);
    const int status =
        tool_runner_run(&settings->run, arguments, limit_s, &profiled, problem, error);
    free(kernels);
    free(escaped);
    return status;
}

/* Gives the report its name, if it is whole. */
static int take_report(int ran, const char *part, const char *path, const char *log_path,
                       char problem[TOOL_PROBLEM_SIZE], struct error *error) {
    struct stat written;
    read_problem(log_path, problem); /* ncu's own message says more than the worker's */
    const bool is_whole = stat(part, &written) == 0 && written.st_size > 0;
    if (problem[0] == '\0' && !is_whole)
        snprintf(problem, TOOL_PROBLEM_SIZE, "it wrote no report");
    if (ran != 0 || problem[0] != '\0') {
        unlink(part);
        return 0;
    }
    return rename(part, path) == 0
               ? 0
               : error_set(error, "cannot write %.400s: %s", path, strerror(errno));
}

int profile_keep(const struct profile_settings *settings, const struct trial_request *request,
                 const char *path, char problem[TOOL_PROBLEM_SIZE], struct error *error) {
    char part[PATH_SIZE], log_path[PATH_SIZE];
    const size_t length = strlen(path) - strlen(extension);
    if (strlen(path) <= strlen(extension) || strcmp(path + length, extension) != 0)
        BUG("%s is no name of a report", path);
    problem[0] = '\0';
    if ((size_t)snprintf(part, sizeof part, "%.*s.part%s", (int)length, path, extension) >=
        sizeof part)
        return error_input(error, "the name of the report is too long: %.80s...", path);
    if (tool_runner_new_report(log_path, "profile", error) < 0)
        return -1;
    int status = run_tool(settings, request, part, log_path, problem, error);
    if (status >= 0)
        status = take_report(status, part, path, log_path, problem, error);
    unlink(log_path);
    return status;
}
