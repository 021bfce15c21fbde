#include "pool/tool_runner.h"

#include "base/clock.h"
#include "base/process.h"
#include "pool/protocol.h"
#include "pool/worker_main.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum { TOOL_WORDS_MAX = 32, EXIT_GRACE_S = 30 };

enum message_status { MESSAGE_RECEIVED, MESSAGE_END_OF_FILE, MESSAGE_DEADLINE };

/* Waits for the worker's next message. Skips lines that are not messages: the tool prints on the
   same stream. */
static enum message_status read_message(struct process *child, double deadline,
                                        struct protocol_message *message) {
    struct error ignored;
    for (;;) {
        char *line = child->buffer != NULL ? process_next_line(child) : NULL;
        struct pollfd polled = {.fd = child->from, .events = POLLIN};
        double left_s = deadline - clock_seconds();
        if (line != NULL && protocol_read(line, message, &ignored) == 0)
            return MESSAGE_RECEIVED;
        if (line != NULL)
            continue;
        if (child->ended)
            return MESSAGE_END_OF_FILE;
        if (left_s <= 0)
            return MESSAGE_DEADLINE;
        poll(&polled, 1, left_s < 0.1 ? 10 : 100);
        process_read_output(child);
    }
}

/* Takes ownership of the line. */
static void send_message(struct process *child, char *line) {
    process_send(child, line); /* a dead worker shows as end of file */
    free(line);
}

static void send_start(struct process *child, const struct tool_runner *worker) {
    struct worker_start start = {.has_device = true,
                                 .under_tool = true,
                                 .threads = 1,
                                 .config_path = (char *)worker->config_path,
                                 .template_folder = (char *)worker->template_folder};
    snprintf(start.device.spec, sizeof start.device.spec, "%s", worker->device);
    send_message(child, protocol_print_start(&start));
}

/* Exchanges messages with the worker: starts it, reads its device, sends the request, reads the
   result. Returns false if it did not finish in time. */
static bool exchange_messages(struct process *child, const struct tool_runner *worker,
                              const struct trial_request *request, double deadline, char *problem) {
    struct protocol_message message;
    send_start(child, worker);
    enum message_status message_status = read_message(child, deadline, &message);
    if (message_status != MESSAGE_RECEIVED) {
        snprintf(problem, TOOL_PROBLEM_SIZE, "the worker did not start under the tool");
        return message_status == MESSAGE_END_OF_FILE;
    }
    if (message.kind == PROTOCOL_FAILURE) {
        snprintf(problem, TOOL_PROBLEM_SIZE, "%.200s", message.failure.text);
        return true;
    }
    send_message(child, protocol_print_request(request));
    message_status = read_message(child, deadline, &message);
    if (message_status != MESSAGE_RECEIVED) {
        snprintf(problem, TOOL_PROBLEM_SIZE, "the worker ended without a result");
        return message_status == MESSAGE_END_OF_FILE;
    }
    if (message.kind == PROTOCOL_FAILURE)
        snprintf(problem, TOOL_PROBLEM_SIZE, "%.200s", message.failure.text);
    else if (message.kind == PROTOCOL_RESULT && message.result.outcome.verdict != VERDICT_OK)
        snprintf(problem, TOOL_PROBLEM_SIZE, "%s: %.180s",
                 verdict_name(message.result.outcome.verdict), message.result.outcome.reason);
    protocol_message_release(&message);
    return true;
}

int tool_runner_run(const struct tool_runner *worker, const struct trial_request *request,
                    char problem[TOOL_PROBLEM_SIZE], struct error *error) {
    const char *const worker_arguments[] = {worker->program, POOL_WORKER, "device", worker->device,
                                            NULL};
    const char *argv[TOOL_WORDS_MAX + sizeof worker_arguments / sizeof *worker_arguments];
    struct trial_request tool_request = *request;
    struct process child;
    int count = 0;
    problem[0] = '\0';
    tool_request.under_tool = true;
    for (int i = 0; worker->tool[i] != NULL; i++) {
        if (count == TOOL_WORDS_MAX)
            BUG("a tool with more than %d words", TOOL_WORDS_MAX);
        argv[count++] = worker->tool[i];
    }
    memcpy(argv + count, worker_arguments, sizeof worker_arguments);
    if (process_start(&child, argv, error) < 0)
        return -1;
    if (exchange_messages(&child, worker, &tool_request, clock_seconds() + worker->limit_s,
                          problem)) {
        process_stop(&child, EXIT_GRACE_S, NULL, 0); /* the tool writes its report when the worker
                                                   has exited */
        return 0;
    }
    process_stop(&child, 0, NULL, 0);
    snprintf(problem, TOOL_PROBLEM_SIZE, "not finished after %g s", worker->limit_s);
    return 1;
}
