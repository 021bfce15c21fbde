#include "evolve/proposer.h"

#include "base/clock.h"
#include "base/json_message.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { READ_BYTES = 8 << 10, READS_MAX = 2048, SHOWN_BYTES = 60 };

/* A proposer that is asked to end may finish what it does for so long. */
static const double end_timeout_s = 1;

struct open_request {
    int64_t number;
    char *line;
    double sent_s;
};

struct proposer {
    char *command;
    double timeout_s;
    struct process child;
    bool runs;
    int starts; /* since the last answer */
    char ended[96];
    int count;
    struct open_request *open; /* the oldest first */
    int64_t last_number;       /* that was sent */
    struct strbuf out;         /* from `written` on to be written */
    size_t written;
    struct strbuf in; /* from `consumed` on not handled yet */
    size_t consumed, searched;
    bool skips; /* the rest of a line that is too long */
};

struct proposer *proposer_new(const char *command, double timeout_s) {
    struct proposer *proposer = xcalloc(1, sizeof *proposer);
    proposer->command = xstrdup(command);
    proposer->timeout_s = timeout_s;
    return proposer;
}

/* ---- the process ---- */

static void stop(struct proposer *proposer, double timeout_s) {
    struct process_end end = {.text = ""};
    if (proposer->runs)
        process_stop(&proposer->child, timeout_s, &end);
    snprintf(proposer->ended, sizeof proposer->ended, "%s", end.text);
    proposer->runs = false;
    strbuf_release(&proposer->out);
    strbuf_release(&proposer->in);
    proposer->out = proposer->in = (struct strbuf){0};
    proposer->written = proposer->consumed = proposer->searched = 0;
    proposer->skips = false;
}

void proposer_free(struct proposer *proposer) {
    if (proposer == NULL)
        return;
    stop(proposer, end_timeout_s);
    for (int i = 0; i < proposer->count; i++)
        free(proposer->open[i].line);
    free(proposer->open);
    free(proposer->command);
    free(proposer);
}

static void queue_line(struct proposer *proposer, struct open_request *request) {
    strbuf_print(&proposer->out, "%s\n", request->line);
    request->sent_s = clock_seconds();
}

static int start(struct proposer *proposer, struct error *error) {
    const char *const argv[] = {"/bin/sh", "-c", proposer->command, NULL};
    if (proposer->starts == PROPOSER_STARTS_MAX)
        return error_set(error,
                         "the proposer `%.200s` %s, %d times without an answer: give it a request "
                         "by hand to see why",
                         proposer->command, proposer->ended, proposer->starts);
    if (proposer->starts > 0)
        log_warn("the proposer %s: it is started again", proposer->ended);
    if (process_start(&proposer->child, argv, error) < 0)
        return -1;
    fcntl(proposer->child.to, F_SETFL, O_NONBLOCK);
    proposer->runs = true;
    proposer->starts++;
    for (int i = 0; i < proposer->count; i++)
        queue_line(proposer, &proposer->open[i]);
    return 0;
}

void proposer_send(struct proposer *proposer, int64_t number, const char *line) {
    proposer->open = xgrow(proposer->open, (size_t)proposer->count, sizeof *proposer->open);
    struct open_request *request = &proposer->open[proposer->count++];
    *request = (struct open_request){.number = number, .line = xstrdup(line)};
    proposer->last_number = number;
    if (proposer->runs)
        queue_line(proposer, request);
}

/* ---- its pipes ---- */

/* What a program that is gone does not read is sent to the next one; what it wrote may be there to
   be read. */
static void write_requests(struct proposer *proposer) {
    while (proposer->out.used > proposer->written) {
        ssize_t wrote = write(proposer->child.to, proposer->out.bytes + proposer->written,
                              proposer->out.used - proposer->written);
        if (wrote < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (wrote < 0)
            break;
        proposer->written += (size_t)wrote;
    }
    proposer->out.used = proposer->written = 0;
}

/* Reads until a line is there. False at the end of the output. */
static bool read_answers(struct proposer *proposer) {
    char bytes[READ_BYTES];
    ssize_t got = read(proposer->child.from, bytes, sizeof bytes);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR;
    if (proposer->consumed > 0) {
        memmove(proposer->in.bytes, proposer->in.bytes + proposer->consumed,
                proposer->in.used - proposer->consumed);
        proposer->in.used -= proposer->consumed;
        proposer->consumed = 0;
    }
    strbuf_add(&proposer->in, bytes, (size_t)got);
    return got > 0;
}

/* The next line, valid until the next read; NULL: none yet. `*size` is without its end. */
static char *next_line(struct proposer *proposer, size_t *size) {
    struct strbuf *in = &proposer->in;
    const size_t from = proposer->consumed + proposer->searched;
    char *end = in->used > from ? memchr(in->bytes + from, '\n', in->used - from) : NULL;
    char *line = in->bytes + proposer->consumed;
    if (end == NULL) {
        proposer->searched = in->used - proposer->consumed;
        return NULL;
    }
    *end = '\0';
    *size = (size_t)(end - line);
    proposer->consumed = (size_t)(end + 1 - in->bytes);
    proposer->searched = 0;
    return line;
}

/* ---- events ---- */

void proposer_event_release(struct proposer_event *event) {
    cJSON_Delete(event->answer);
    free(event->line);
    *event = (struct proposer_event){0};
}

static void close_request(struct proposer *proposer, int index) {
    free(proposer->open[index].line);
    proposer->count--;
    memmove(&proposer->open[index], &proposer->open[index + 1],
            (size_t)(proposer->count - index) * sizeof *proposer->open);
}

static int find_open(const struct proposer *proposer, double number) {
    for (int i = 0; i < proposer->count; i++)
        if ((double)proposer->open[i].number == number)
            return i;
    return -1;
}

static int refuse_line(struct proposer *proposer, const char *line, struct proposer_event *event) {
    event->number = proposer->open[0].number;
    if (line != NULL)
        event->line = text_escaped(line, false);
    if (event->line != NULL && strlen(event->line) > 1000)
        event->line[1000] = '\0';
    close_request(proposer, 0);
    return 1;
}

/* Returns 1 with an event; 0: the line says nothing. */
static int take_line(struct proposer *proposer, const char *line, size_t size,
                     struct proposer_event *event) {
    if (size == strspn(line, " \t\r"))
        return 0;
    cJSON *object = json_parse_message(line, size, PROPOSER_LINE_BYTES, &event->error);
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(object, "number");
    const int index = cJSON_IsNumber(number) ? find_open(proposer, number->valuedouble) : -1;
    if (index >= 0) {
        proposer->starts = 1;
        event->number = proposer->open[index].number;
        event->answer = object;
        event->line = xstrdup(line);
        close_request(proposer, index);
        return 1;
    }
    if (cJSON_IsNumber(number) && number->valuedouble >= 1 &&
        number->valuedouble <= (double)proposer->last_number)
        log_warn("the proposer answers %g once more, or too late: it is ignored",
                 number->valuedouble);
    else if (object != NULL)
        error_input(&event->error, cJSON_IsObject(object)
                                       ? "the answer has no \"number\" of a request"
                                       : "an answer must be a JSON object: { ... }");
    cJSON_Delete(object);
    if (proposer->count == 0 && event->error.kind != ERROR_NONE)
        log_warn("the proposer writes \"%.*s\", and nothing was asked: it is ignored", SHOWN_BYTES,
                 line);
    return event->error.kind != ERROR_NONE && proposer->count > 0
               ? refuse_line(proposer, line, event)
               : 0;
}

/* A line that is longer than any answer. */
static int take_overflow(struct proposer *proposer, struct proposer_event *event) {
    const bool first = !proposer->skips;
    proposer->skips = true;
    proposer->in.used = proposer->consumed = proposer->searched = 0;
    if (!first || proposer->count == 0)
        return 0;
    error_input(&event->error, "an answer has at most %d MB", PROPOSER_LINE_BYTES >> 20);
    return refuse_line(proposer, NULL, event);
}

static int take_output(struct proposer *proposer, struct proposer_event *event) {
    size_t size;
    char *line;
    while ((line = next_line(proposer, &size)) != NULL) {
        if (proposer->skips) {
            proposer->skips = false;
            continue;
        }
        if (take_line(proposer, line, size, event) == 1)
            return 1;
        event->error = (struct error){0};
    }
    return proposer->in.used - proposer->consumed > PROPOSER_LINE_BYTES
               ? take_overflow(proposer, event)
               : 0;
}

static int take_timeout(struct proposer *proposer, struct proposer_event *event) {
    if (proposer->count == 0 || clock_seconds() - proposer->open[0].sent_s < proposer->timeout_s)
        return 0;
    error_set(&event->error, "the proposer did not answer within %g s", proposer->timeout_s);
    refuse_line(proposer, NULL, event);
    stop(proposer, 0);
    snprintf(proposer->ended, sizeof proposer->ended, "did not answer in time");
    return 1;
}

int proposer_poll(struct proposer *proposer, struct proposer_event *event, struct error *error) {
    *event = (struct proposer_event){0};
    if (!proposer->runs && (proposer->count == 0 || start(proposer, error) < 0))
        return proposer->count == 0 ? 0 : -1;
    for (int reads = 0; reads < READS_MAX; reads++) {
        int got = take_output(proposer, event);
        if (got != 0)
            return got;
        const size_t before = proposer->in.used - proposer->consumed;
        write_requests(proposer);
        if (!read_answers(proposer)) {
            stop(proposer, end_timeout_s);
            return 0;
        }
        if (proposer->in.used - proposer->consumed == before)
            break;
    }
    return take_timeout(proposer, event);
}

int proposer_descriptors(const struct proposer *proposer, struct pollfd *polled, int limit) {
    int count = 0;
    if (!proposer->runs)
        return 0;
    if (count < limit)
        polled[count++] = (struct pollfd){.fd = proposer->child.from, .events = POLLIN};
    if (count < limit && proposer->out.used > proposer->written)
        polled[count++] = (struct pollfd){.fd = proposer->child.to, .events = POLLOUT};
    return count;
}
