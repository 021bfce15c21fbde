#include "serve/pipe.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/strbuf.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_BYTES = 64 << 10, BACKLOG_BYTES = 1 << 20 };

static const char client[] = "pipe";

struct pipe {
    struct service *service;
    int input, output;   /* -1: ended */
    bool gone;           /* nothing reads the answers */
    bool skips;          /* the rest of a line that is too long */
    struct strbuf lines; /* received, from `consumed` on not handled yet */
    size_t consumed;
    size_t searched;       /* the bytes after `consumed` that hold no end of line */
    struct strbuf answers; /* from `sent` on not written yet */
    size_t sent;
};

static size_t backlog(const struct pipe *pipe) {
    return pipe->answers.used - pipe->sent;
}

/* ---- answers ---- */

static void send_message(struct pipe *pipe, cJSON *message) {
    char *text = json_print_line(message);
    strbuf_add(&pipe->answers, text, strlen(text));
    strbuf_add(&pipe->answers, "\n", 1);
    free(text);
}

static void send_error(struct pipe *pipe, const cJSON *id, const char *text) {
    pipe->service->refused++;
    send_message(pipe, wire_error(id, text));
}

static void answer_task(void *context, const struct task *task) {
    struct pipe *pipe = context;
    if (strcmp(task->client, client) != 0)
        return;
    pipe->service->refused += wire_is_refused(task);
    send_message(pipe, wire_answer(task, false));
    tasks_forget(pipe->service->tasks, client, task->id);
}

static void lose_client(struct pipe *pipe) {
    pipe->gone = true;
    pipe->answers.used = pipe->sent = 0;
    tasks_drop_client(pipe->service->tasks, client);
}

/* A pipe that poll calls writable takes PIPE_BUF bytes at once; a socket says how many it took. */
static ssize_t write_some(int descriptor, const char *bytes, size_t size) {
    ssize_t wrote = send(descriptor, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (wrote < 0 && errno == ENOTSOCK)
        wrote = write(descriptor, bytes, size < PIPE_BUF ? size : PIPE_BUF);
    return wrote;
}

static void write_answers(struct pipe *pipe) {
    struct pollfd polled = {.fd = pipe->output, .events = POLLOUT};
    while (!pipe->gone && backlog(pipe) > 0 && poll(&polled, 1, 0) > 0) {
        ssize_t wrote = write_some(pipe->output, pipe->answers.bytes + pipe->sent, backlog(pipe));
        if (wrote > 0)
            pipe->sent += (size_t)wrote;
        else if (wrote < 0 && (errno == EAGAIN || errno == EINTR))
            break;
        else
            lose_client(pipe);
    }
    if (backlog(pipe) == 0)
        pipe->answers.used = pipe->sent = 0;
    else if (pipe->sent > BACKLOG_BYTES) {
        pipe->answers.used -= pipe->sent;
        memmove(pipe->answers.bytes, pipe->answers.bytes + pipe->sent, pipe->answers.used);
        pipe->sent = 0;
    }
}

/* ---- requests ---- */

static void cancel(struct pipe *pipe, const struct wire_request *request) {
    struct tasks *tasks = pipe->service->tasks;
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(request->object, "task");
    const struct task *task = tasks_find_named(tasks, client, name);
    if (task == NULL) {
        send_error(pipe, request->id,
                   "no task that is not done has that id: look whether its answer has come");
        return;
    }
    cJSON *answer = wire_message("cancel", request->id);
    cJSON_AddItemToObject(answer, "task", cJSON_Duplicate(name, false));
    tasks_cancel(tasks, client, task->id);
    send_message(pipe, answer);
}

static void submit(struct pipe *pipe, struct wire_request *request) {
    struct error error = {0};
    if (request->id != NULL && tasks_find_named(pipe->service->tasks, client, request->id) != NULL)
        send_error(pipe, request->id, "a task that is not done has that id: choose another one");
    else if (service_submit(pipe->service, client, request, &error) < 0)
        send_error(pipe, request->id, error.text);
}

static void handle_line(struct pipe *pipe, const char *line, size_t size) {
    static const struct wire_rules rules = {.takes_folders = true};
    struct wire_request request;
    struct error error = {0};
    if (strspn(line, " \t\r") == size)
        return;
    pipe->service->requests++;
    if (wire_parse(&request, line, size, &rules, &error) < 0)
        send_error(pipe, request.id, error.text);
    else if (wire_type_is_task(request.type))
        submit(pipe, &request);
    else if (request.type == WIRE_CANCEL)
        cancel(pipe, &request);
    else
        send_message(pipe, service_answer(pipe->service, request.type, request.id));
    wire_request_release(&request);
}

/* Room for a line of any length, so that none that follows is refused. */
static bool has_room(const struct pipe *pipe) {
    return !pipe->gone && backlog(pipe) < BACKLOG_BYTES &&
           tasks_has_room(pipe->service->tasks, client, WIRE_MESSAGE_BYTES);
}

static void handle_next_line(struct pipe *pipe, char *line, size_t size) {
    line[size] = '\0';
    if (!pipe->skips)
        handle_line(pipe, line, size);
    pipe->skips = false;
}

static void skip_long_line(struct pipe *pipe) {
    char text[96];
    snprintf(text, sizeof text, "a line has at most %d MB: send less", WIRE_MESSAGE_BYTES >> 20);
    if (!pipe->skips) {
        pipe->service->requests++;
        send_error(pipe, NULL, text);
    }
    pipe->skips = true;
    pipe->consumed = pipe->lines.used;
    pipe->searched = 0;
}

/* Handles the lines that are there while there is room; the last one needs no end of line once the
   input has ended. */
static void handle_lines(struct pipe *pipe) {
    while (has_room(pipe) && pipe->consumed < pipe->lines.used) {
        char *line = pipe->lines.bytes + pipe->consumed;
        size_t left = pipe->lines.used - pipe->consumed;
        char *end = memchr(line + pipe->searched, '\n', left - pipe->searched);
        size_t size = end != NULL ? (size_t)(end - line) : left;
        pipe->searched = end != NULL ? 0 : left;
        if (size > WIRE_MESSAGE_BYTES && end == NULL) {
            skip_long_line(pipe);
        } else if (end != NULL || pipe->input < 0) {
            handle_next_line(pipe, line, size);
            pipe->consumed += size + (end != NULL);
            pipe->searched = 0;
        } else {
            break;
        }
    }
    if (pipe->consumed > 0) {
        pipe->lines.used -= pipe->consumed;
        memmove(pipe->lines.bytes, pipe->lines.bytes + pipe->consumed, pipe->lines.used);
        pipe->consumed = 0;
    }
}

void pipe_feed(struct pipe *pipe, const char *bytes, size_t size) {
    strbuf_add(&pipe->lines, bytes, size);
    handle_lines(pipe);
}

/* ---- the pipe ---- */

struct pipe *pipe_new(struct service *service, int input, int output) {
    struct pipe *pipe = xcalloc(1, sizeof *pipe);
    *pipe = (struct pipe){.service = service, .input = input, .output = output};
    strbuf_add(&pipe->lines, "", 0);
    tasks_on_done(service->tasks, answer_task, pipe);
    send_message(pipe, service_hello(service, NULL));
    return pipe;
}

void pipe_free(struct pipe *pipe) {
    if (pipe == NULL)
        return;
    tasks_on_done(pipe->service->tasks, NULL, NULL);
    strbuf_release(&pipe->lines);
    strbuf_release(&pipe->answers);
    free(pipe);
}

static bool wants_input(const struct pipe *pipe) {
    return pipe->input >= 0 && pipe->lines.used <= WIRE_MESSAGE_BYTES && has_room(pipe);
}

int pipe_descriptors(const struct pipe *pipe, struct pollfd *polled, int limit) {
    int count = 0;
    if (wants_input(pipe) && count < limit)
        polled[count++] = (struct pollfd){.fd = pipe->input, .events = POLLIN};
    /* Without events it still says when its reader is gone. */
    if (!pipe->gone && count < limit)
        polled[count++] =
            (struct pollfd){.fd = pipe->output, .events = backlog(pipe) > 0 ? POLLOUT : 0};
    return count;
}

static void read_input(struct pipe *pipe) {
    struct pollfd polled = {.fd = pipe->input, .events = POLLIN};
    char *bytes = xmalloc(READ_BYTES);
    while (wants_input(pipe) && poll(&polled, 1, 0) > 0) {
        ssize_t got = read(pipe->input, bytes, READ_BYTES);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            break;
        if (got <= 0)
            pipe->input = -1;
        pipe_feed(pipe, bytes, got > 0 ? (size_t)got : 0);
    }
    free(bytes);
}

static void look_for_reader(struct pipe *pipe) {
    struct pollfd polled = {.fd = pipe->output};
    if (!pipe->gone && poll(&polled, 1, 0) > 0 && (polled.revents & (POLLERR | POLLHUP | POLLNVAL)))
        lose_client(pipe);
}

void pipe_step(struct pipe *pipe) {
    look_for_reader(pipe);
    handle_lines(pipe);
    read_input(pipe);
    write_answers(pipe);
}

bool pipe_is_gone(const struct pipe *pipe) {
    return pipe->gone;
}

bool pipe_is_finished(const struct pipe *pipe) {
    return pipe->gone || (pipe->input < 0 && pipe->lines.used == 0 && backlog(pipe) == 0 &&
                          tasks_count_open(pipe->service->tasks, client) == 0);
}

void pipe_stop(struct pipe *pipe, const char *text, double timeout_s) {
    struct tasks *tasks = pipe->service->tasks;
    double deadline_s = clock_seconds() + timeout_s;
    pipe->input = -1;
    for (const struct task *task; (task = tasks_find_open(tasks, client)) != NULL;) {
        send_error(pipe, cJSON_GetObjectItemCaseSensitive(task->request, "id"), text);
        tasks_cancel(tasks, client, task->id);
    }
    for (double left_s;
         look_for_reader(pipe), write_answers(pipe),
         !pipe->gone && backlog(pipe) > 0 && (left_s = deadline_s - clock_seconds()) > 0;) {
        struct pollfd polled = {.fd = pipe->output, .events = POLLOUT};
        poll(&polled, 1, (int)(left_s * 1000) + 1);
    }
}
