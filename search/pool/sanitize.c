#include "pool/sanitize.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/process.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TOOL_LIMIT_S = 60 };

static const char *const names[SANITIZER_COUNT] = {
    [SANITIZER_MEMCHECK] = "memcheck",
    [SANITIZER_RACECHECK] = "racecheck",
    [SANITIZER_SYNCCHECK] = "synccheck",
    [SANITIZER_INITCHECK] = "initcheck",
};

const char *sanitizer_name(enum sanitizer sanitizer) {
    return names[sanitizer];
}

int sanitize_find(char path[PATH_SIZE], struct error *error) {
    if (process_find("compute-sanitizer", path))
        return 0;
    return error_set(error, "compute-sanitizer is not installed: it is part of the CUDA Toolkit "
                            "(cuda-sanitizer); install it, or put its folder on PATH");
}

/* ---- reading a report ---- */

/* "========= ERROR SUMMARY: 3 errors", "========= RACECHECK SUMMARY: 1 hazard displayed ..." */
static bool is_summary(const char *line, int *count) {
    const char *at = strstr(line, "SUMMARY: ");
    return at != NULL && sscanf(at, "SUMMARY: %d", count) == 1;
}

/* Returns whether a line describes a finding or its location. */
static bool is_finding_line(const char *line) {
    static const char *const ignored_lines[] = {"COMPUTE-SANITIZER", "SUMMARY",
                                                "Saved host backtrace", "Host Frame",
                                                "Target application returned"};
    for (size_t i = 0; i < sizeof ignored_lines / sizeof *ignored_lines; i++)
        if (strstr(line, ignored_lines[i]) != NULL)
            return false;
    return *line != '\0';
}

void sanitize_read(const char *report, struct findings *findings) {
    static const char line_prefix[] = "=========";
    bool has_summary = false;
    int finding_lines = 0;
    findings->count = 0;
    findings->first[0] = '\0';
    for (const char *line = report; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        char text[512];
        snprintf(text, sizeof text, "%.*s", (int)length, line);
        line += length + (line[length] == '\n');
        if (strncmp(text, line_prefix, sizeof line_prefix - 1) != 0)
            continue;
        const char *words = text + sizeof line_prefix - 1;
        words += strspn(words, " ");
        if (is_summary(words, &findings->count))
            has_summary = true;
        else if (finding_lines < 2 && is_finding_line(words)) {
            size_t used = strlen(findings->first);
            snprintf(findings->first + used, sizeof findings->first - used, "%s%s",
                     used > 0 ? ", " : "", words);
            finding_lines++;
        }
    }
    findings->ran = has_summary;
    if (!has_summary && finding_lines == 0)
        snprintf(findings->first, sizeof findings->first, "the report has no summary");
}

/* ---- running ---- */

static int run_tool(const struct tool_settings *settings, enum sanitizer tool,
                    const struct trial_request *request, const char *report_path,
                    struct findings *findings, struct error *error) {
    struct error ignored;
    char problem[TOOL_PROBLEM_SIZE];
    const char *const arguments[] = {"--tool", names[tool], "--log-file", report_path, NULL};
    double limit_s = settings->limit_s > 0 ? settings->limit_s : TOOL_LIMIT_S;
    double start = clock_seconds();
    log_info("compute-sanitizer: %s, at most %g s", names[tool], limit_s);
    int status = tool_runner_run(settings, arguments, limit_s, request, problem, error);
    if (status < 0)
        return -1;
    findings->seconds = clock_seconds() - start;
    if (status == 1) { /* the report is incomplete */
        snprintf(findings->first, sizeof findings->first, "%s", problem);
        return 0;
    }
    char *report = path_read_file(report_path, 64 << 20, NULL, &ignored);
    if (report != NULL)
        sanitize_read(report, findings);
    else
        snprintf(findings->first, sizeof findings->first, "the tool wrote no report");
    free(report);
    /* A candidate that fails under the tool is a finding, even if the tool reports none. */
    if (problem[0] != '\0' && findings->count == 0) {
        findings->count = findings->ran ? 1 : 0;
        snprintf(findings->first, sizeof findings->first, "%s", problem);
    }
    return 0;
}

int sanitize_run(const struct tool_settings *settings, const struct trial_request *request,
                 struct findings findings[SANITIZER_COUNT], struct error *error) {
    char report_path[PATH_SIZE];
    int status = 0;
    if (tool_runner_new_report(report_path, "sanitize", error) < 0)
        return -1;
    for (int tool = 0; tool < SANITIZER_COUNT && status == 0; tool++) {
        findings[tool] = (struct findings){.ran = false};
        status =
            run_tool(settings, (enum sanitizer)tool, request, report_path, &findings[tool], error);
    }
    unlink(report_path);
    return status;
}
