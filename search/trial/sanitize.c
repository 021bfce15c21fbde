#include "trial/sanitize.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/process.h"
#include "trial/wire.h"

#include <errno.h>
#include <poll.h>
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
    return error_set(error, "compute-sanitizer is not here: it is part of the CUDA Toolkit "
                            "(cuda-sanitizer); install it, or put its folder on PATH");
}

/* ---- reading a report ---- */

/* "========= ERROR SUMMARY: 3 errors", "========= RACECHECK SUMMARY: 1 hazard displayed ..." */
static bool is_summary(const char *line, int *count) {
    const char *at = strstr(line, "SUMMARY: ");
    return at != NULL && sscanf(at, "SUMMARY: %d", count) == 1;
}

/* The first words of the first finding, and where it is. */
static bool is_told(const char *line) {
    static const char *const others[] = {"COMPUTE-SANITIZER", "SUMMARY", "Saved host backtrace",
                                         "Host Frame", "Target application returned"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strstr(line, others[i]) != NULL)
            return false;
    return *line != '\0';
}

void sanitize_read(const char *report, struct findings *findings) {
    static const char mark[] = "=========";
    bool summed = false;
    int told = 0;
    findings->count = 0;
    findings->first[0] = '\0';
    for (const char *line = report; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        char text[512];
        snprintf(text, sizeof text, "%.*s", (int)length, line);
        line += length + (line[length] == '\n');
        if (strncmp(text, mark, sizeof mark - 1) != 0)
            continue;
        const char *words = text + sizeof mark - 1;
        words += strspn(words, " ");
        if (is_summary(words, &findings->count))
            summed = true;
        else if (told < 2 && is_told(words)) {
            size_t used = strlen(findings->first);
            snprintf(findings->first + used, sizeof findings->first - used, "%s%s",
                     used > 0 ? ", " : "", words);
            told++;
        }
    }
    findings->ran = summed;
    if (!summed && told == 0)
        snprintf(findings->first, sizeof findings->first, "its report has no summary");
}

/* ---- running ---- */

enum heard { HEARD, HEARD_END, HEARD_NOTHING };

/* Waits for the next message of the worker, which may end before it, or take too long. */
static enum heard hear(struct process *child, double deadline, struct wire_message *message) {
    struct error ignored;
    char *line;
    while ((line = process_line(child)) == NULL) {
        double left_s = deadline - clock_seconds();
        struct pollfd polled = {.fd = child->from, .events = POLLIN};
        if (child->ended)
            return HEARD_END;
        if (left_s <= 0)
            return HEARD_NOTHING;
        poll(&polled, 1, left_s < 0.1 ? 10 : 100);
        process_fill(child);
    }
    return wire_read(line, message, &ignored) == 0 ? HEARD : HEARD_END;
}

/* The worker's side of the talk: the device, then our request, then the result. False when it did
   not end in time. */
static bool talk(struct process *child, const struct trial_request *request, double limit_s,
                 char *problem, size_t size) {
    double deadline = clock_seconds() + limit_s;
    struct wire_message message;
    enum heard heard = hear(child, deadline, &message);
    if (heard != HEARD) {
        snprintf(problem, size, "the worker did not start under it");
        return heard == HEARD_END;
    }
    if (message.kind == WIRE_FAILURE) {
        snprintf(problem, size, "%.200s", message.failure.text);
        return true;
    }
    char *line = wire_print_request(request);
    process_send(child, line);
    free(line);
    heard = hear(child, deadline, &message);
    if (heard != HEARD) {
        snprintf(problem, size, "the worker ended without a result");
        return heard == HEARD_END;
    }
    if (message.kind == WIRE_FAILURE)
        snprintf(problem, size, "%.200s", message.failure.text);
    else if (message.kind == WIRE_RESULT && message.result.outcome.verdict != VERDICT_OK)
        snprintf(problem, size, "%s: %.180s", verdict_name(message.result.outcome.verdict),
                 message.result.outcome.reason);
    trial_request_release(&message.request);
    trial_result_release(&message.result);
    return true;
}

static int run_tool(const struct sanitizing *how, enum sanitizer tool,
                    const struct trial_request *request, const char *report_path,
                    struct findings *findings, struct error *error) {
    struct error ignored;
    struct process child;
    char problem[256] = "";
    const char *const argv[] = {how->tool,
                                "--tool",
                                names[tool],
                                "--log-file",
                                report_path,
                                how->program,
                                "worker",
                                "--role",
                                "device",
                                "--config",
                                how->config_path,
                                "--template",
                                how->template_folder,
                                "--device",
                                how->device,
                                NULL};
    double start = clock_seconds();
    double limit_s = how->limit_s > 0 ? how->limit_s : TOOL_LIMIT_S;
    log_info("compute-sanitizer: %s, at most %g s", names[tool], limit_s);
    if (process_start(&child, argv, error) < 0)
        return -1;
    if (!talk(&child, request, limit_s, problem, sizeof problem)) {
        process_stop(&child, 0, NULL, 0);
        findings->seconds = clock_seconds() - start;
        snprintf(findings->first, sizeof findings->first, "not finished after %g s", limit_s);
        return 0; /* what it has reported by then is not all */
    }
    process_stop(&child, 30, NULL, 0); /* it writes its report when the worker has gone */
    char *report = path_read_file(report_path, 64 << 20, NULL, &ignored);
    if (report != NULL)
        sanitize_read(report, findings);
    else
        snprintf(findings->first, sizeof findings->first, "it wrote no report");
    free(report);
    findings->seconds = clock_seconds() - start;
    /* A candidate that fails under the tool is a finding, though the tool may have no words for it.
     */
    if (problem[0] != '\0' && findings->count == 0) {
        findings->count = findings->ran ? 1 : 0;
        snprintf(findings->first, sizeof findings->first, "%s", problem);
    }
    return 0;
}

int sanitize_run(const struct sanitizing *how, const struct trial_request *request,
                 struct findings findings[SANITIZER_COUNT], struct error *error) {
    const char *temporary = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
    struct trial_request watched = *request;
    char report_path[PATH_SIZE];
    int status = 0;
    watched.watched = true;
    if (path_join(report_path, temporary, "evotile-sanitize-XXXXXX", error) < 0)
        return -1;
    int file = mkstemp(report_path);
    if (file < 0)
        return error_set(error, "cannot write in %s: %s; set TMPDIR", temporary, strerror(errno));
    close(file);
    for (int tool = 0; tool < SANITIZER_COUNT && status == 0; tool++) {
        findings[tool] = (struct findings){.ran = false};
        status = run_tool(how, (enum sanitizer)tool, &watched, report_path, &findings[tool], error);
    }
    unlink(report_path);
    return status;
}
