#include "trial/watched.h"

#include "base/clock.h"
#include "base/process.h"
#include "trial/wire.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum { TOOL_WORDS_MAX = 32, LEAVE_S = 30 };

enum heard { HEARD, HEARD_END, HEARD_NOTHING };

/* Waits for the worker's next message. Skips lines that are not messages: the tool prints on the
   same stream. */
static enum heard hear(struct process *child, double deadline, struct wire_message *message) {
    struct error ignored;
    for (;;) {
        char *line = child->buffer != NULL ? process_line(child) : NULL;
        struct pollfd polled = {.fd = child->from, .events = POLLIN};
        double left_s = deadline - clock_seconds();
        if (line != NULL && wire_read(line, message, &ignored) == 0)
            return HEARD;
        if (line != NULL)
            continue;
        if (child->ended)
            return HEARD_END;
        if (left_s <= 0)
            return HEARD_NOTHING;
        poll(&polled, 1, left_s < 0.1 ? 10 : 100);
        process_fill(child);
    }
}

/* Exchanges messages with the worker: reads its device, sends the request, reads the result.
   Returns false if it did not finish in time. */
static bool talk(struct process *child, const struct trial_request *request, double deadline,
                 char *problem) {
    struct wire_message message;
    enum heard heard = hear(child, deadline, &message);
    if (heard != HEARD) {
        snprintf(problem, WATCHED_PROBLEM_SIZE, "the worker did not start under the tool");
        return heard == HEARD_END;
    }
    if (message.kind == WIRE_FAILURE) {
        snprintf(problem, WATCHED_PROBLEM_SIZE, "%.200s", message.failure.text);
        return true;
    }
    char *line = wire_print_request(request);
    process_send(child, line);
    free(line);
    heard = hear(child, deadline, &message);
    if (heard != HEARD) {
        snprintf(problem, WATCHED_PROBLEM_SIZE, "the worker ended without a result");
        return heard == HEARD_END;
    }
    if (message.kind == WIRE_FAILURE)
        snprintf(problem, WATCHED_PROBLEM_SIZE, "%.200s", message.failure.text);
    else if (message.kind == WIRE_RESULT && message.result.outcome.verdict != VERDICT_OK)
        snprintf(problem, WATCHED_PROBLEM_SIZE, "%s: %.180s",
                 verdict_name(message.result.outcome.verdict), message.result.outcome.reason);
    trial_request_release(&message.request);
    trial_result_release(&message.result);
    return true;
}

int watched_run(const struct watched_worker *worker, const struct trial_request *request,
                char problem[WATCHED_PROBLEM_SIZE], struct error *error) {
    const char *const ours[] = {worker->program,
                                "worker",
                                "--watched",
                                "--role",
                                "device",
                                "--config",
                                worker->config_path,
                                "--template",
                                worker->template_folder,
                                "--device",
                                worker->device,
                                NULL};
    const char *argv[TOOL_WORDS_MAX + sizeof ours / sizeof *ours];
    struct trial_request watched = *request;
    struct process child;
    int count = 0;
    problem[0] = '\0';
    watched.watched = true;
    for (int i = 0; worker->tool[i] != NULL; i++) {
        if (count == TOOL_WORDS_MAX)
            BUG("a tool with more than %d words", TOOL_WORDS_MAX);
        argv[count++] = worker->tool[i];
    }
    memcpy(argv + count, ours, sizeof ours);
    if (process_start(&child, argv, error) < 0)
        return -1;
    if (talk(&child, &watched, clock_seconds() + worker->limit_s, problem)) {
        process_stop(&child, LEAVE_S, NULL, 0); /* the tool writes its report when the worker has
                                                   exited */
        return 0;
    }
    process_stop(&child, 0, NULL, 0);
    snprintf(problem, WATCHED_PROBLEM_SIZE, "not finished after %g s", worker->limit_s);
    return 1;
}
