#include "pool/tool_runner.h"

#include "base/clock.h"
#include "base/process.h"
#include "pool/image_file.h"
#include "pool/protocol.h"
#include "pool/worker_main.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TOOL_ARGUMENTS_MAX = 32, EXIT_GRACE_S = 30 };

enum message_status { MESSAGE_RECEIVED, MESSAGE_END_OF_FILE, MESSAGE_DEADLINE };

/* Waits for the worker's next message. Skips lines that are not messages: the tool prints on the
   same stream. */
static enum message_status read_message(struct process *child, double deadline,
                                        struct protocol_message *message) {
    struct error ignored;
    for (;;) {
        char *line = child->buffer != NULL ? process_next_line(child) : NULL;
        struct pollfd polled[] = {{.fd = child->from, .events = POLLIN},
                                  {.fd = child->errors.from, .events = POLLIN}};
        double left_s = deadline - clock_seconds();
        if (line != NULL && protocol_read(line, message, &ignored) == 0)
            return MESSAGE_RECEIVED;
        if (line != NULL)
            continue;
        if (child->ended)
            return MESSAGE_END_OF_FILE;
        if (left_s <= 0)
            return MESSAGE_DEADLINE;
        poll(polled, 2, left_s < 0.1 ? 10 : 100);
        process_read_output(child);
    }
}

/* Takes ownership of the line. */
static void send_message(struct process *child, char *line) {
    process_send(child, line); /* a dead worker shows as end of file */
    free(line);
}

static void send_start(struct process *child, const struct tool_settings *settings, bool compiles) {
    struct worker_start start = {.has_device = !compiles,
                                 .under_tool = !compiles,
                                 .threads = 1,
                                 .config_path = (char *)settings->config_path,
                                 .template_folder = (char *)settings->template_folder};
    if (compiles)
        start.device = *settings->compile_for;
    else
        snprintf(start.device.spec, sizeof start.device.spec, "%s", settings->device);
    send_message(child, protocol_print_start(&start));
}

/* Exchanges messages with a worker: starts it, reads its device, sends the request, reads the
   result. `images`: the file of machine code that it writes or reads; -1: none. Returns false if it
   did not finish in time. */
static bool exchange_messages(struct process *child, const struct tool_settings *settings,
                              bool compiles, int images, const struct trial_request *request,
                              double deadline, char *problem) {
    struct protocol_message message;
    const char *missing =
        compiles ? "no compile worker started" : "the worker did not start under the tool";
    send_start(child, settings, compiles);
    enum message_status status = read_message(child, deadline, &message);
    if (status == MESSAGE_RECEIVED && message.kind != PROTOCOL_FAILURE) {
        struct worker_images files = {.candidate = ""};
        missing = "the worker ended without a result";
        if (images >= 0) {
            image_file_path(images, files.candidate);
            send_message(child, protocol_print_images(&files));
        }
        send_message(child, protocol_print_request(request));
        status = read_message(child, deadline, &message);
    }
    if (status != MESSAGE_RECEIVED) {
        snprintf(problem, TOOL_PROBLEM_SIZE, "%s", missing);
        return status == MESSAGE_END_OF_FILE;
    }
    if (message.kind == PROTOCOL_FAILURE)
        snprintf(problem, TOOL_PROBLEM_SIZE, "%.200s", message.failure.text);
    else if (message.kind == PROTOCOL_RESULT && message.result.outcome.verdict != VERDICT_OK)
        snprintf(problem, TOOL_PROBLEM_SIZE, "%s: %.180s",
                 verdict_name(message.result.outcome.verdict), message.result.outcome.reason);
    protocol_message_release(&message);
    return true;
}

/* Has a compile worker make the machine code. Returns 0 once it ended, with `problem` if it failed;
   1 if it exceeded the limit; -1 if it did not start. */
static int compile_images(const struct tool_settings *settings, int images, double deadline,
                          const struct trial_request *request, char *problem, struct error *error) {
    const char *const argv[] = {settings->program, POOL_WORKER, "compile", settings->device, NULL};
    struct process child;
    struct stat written;
    if (process_start_relayed(&child, argv, error) < 0)
        return -1;
    bool finished = exchange_messages(&child, settings, true, images, request, deadline, problem);
    process_stop(&child, finished ? EXIT_GRACE_S : 0, NULL);
    if (finished && *problem == '\0' && (fstat(images, &written) < 0 || written.st_size == 0))
        snprintf(problem, TOOL_PROBLEM_SIZE, "the compile worker made no machine code");
    return finished ? 0 : 1;
}

static int run_under_tool(const struct tool_settings *settings, const char *const *arguments,
                          int images, double deadline, const struct trial_request *request,
                          char *problem, struct error *error) {
    const char *const worker[] = {settings->program, POOL_WORKER, "device", settings->device, NULL};
    const char *argv[1 + TOOL_ARGUMENTS_MAX + sizeof worker / sizeof *worker] = {settings->tool};
    struct trial_request tool_request = *request;
    struct process child;
    int count = 1;
    tool_request.under_tool = true;
    for (; *arguments != NULL; arguments++) {
        if (count > TOOL_ARGUMENTS_MAX)
            BUG("a tool with more than %d arguments", TOOL_ARGUMENTS_MAX);
        argv[count++] = *arguments;
    }
    memcpy(argv + count, worker, sizeof worker);
    if (process_start_relayed(&child, argv, error) < 0)
        return -1;
    bool finished =
        exchange_messages(&child, settings, false, images, &tool_request, deadline, problem);
    /* The tool writes its report when the worker has exited. */
    process_stop(&child, finished ? EXIT_GRACE_S : 0, NULL);
    return finished ? 0 : 1;
}

int tool_runner_run(const struct tool_settings *settings, const char *const *arguments,
                    double limit_s, const struct trial_request *request,
                    char problem[TOOL_PROBLEM_SIZE], struct error *error) {
    const double deadline = clock_seconds() + limit_s;
    int images = -1, status = 0;
    problem[0] = '\0';
    if (settings->compile_for != NULL) {
        if ((images = image_file_new()) < 0)
            return error_set(error, "too many files are open: raise the limit (ulimit -n)");
        status = compile_images(settings, images, deadline, request, problem, error);
    }
    if (status == 0 && problem[0] == '\0')
        status = run_under_tool(settings, arguments, images, deadline, request, problem, error);
    if (images >= 0)
        close(images);
    if (status == 1)
        snprintf(problem, TOOL_PROBLEM_SIZE, "not finished after %g s", limit_s);
    return status;
}

int tool_runner_new_report(char path[PATH_SIZE], const char *purpose, struct error *error) {
    const char *folder = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
    char name[64];
    snprintf(name, sizeof name, "evotile-%s-XXXXXX", purpose);
    if (path_join(path, folder, name, error) < 0)
        return -1;
    int file = mkstemp(path);
    if (file < 0)
        return error_set(error, "cannot write in %s: %s; set TMPDIR", folder, strerror(errno));
    close(file);
    return 0;
}
