/* Any bytes on a pipe: each line but the empty ones is answered once, by a line of valid UTF-8
   without control characters that is one JSON object with the request's "id"; a request that is
   taken is taken again as it is printed. */
#include "base/json.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "serve/pipe.h"
#include "serve/scripted_judge.h"

#include <fcntl.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct wire_rules rules = {.takes_folders = true};

static void check_error(const struct error *error) {
    struct error again = {0};
    cJSON *message = wire_error(NULL, error->text);
    char *text = json_print_line(message);
    if (strpbrk(error->text, "\n\r\t\x1b\x7f") != NULL)
        BUG("a terminal would obey '%s'", error->text);
    cJSON *read = wire_parse_object(text, strlen(text), &again);
    if (read == NULL)
        BUG("%s: %s", again.text, text);
    cJSON_Delete(read);
    free(text);
}

/* Returns whether the line is no empty one. */
static bool check_line(const char *line, size_t size) {
    struct wire_request first;
    struct wire_request second;
    struct error error = {0};
    char *text = xcalloc(1, size + 1);
    memcpy(text, line, size);
    bool counts = strspn(text, " \t\r") != size;
    if (wire_parse(&first, text, size, &rules, &error) < 0) {
        check_error(&error);
    } else {
        char *printed = cJSON_PrintUnformatted(first.object);
        if (wire_parse(&second, printed, strlen(printed), &rules, &error) < 0)
            BUG("%s: %s", error.text, printed);
        if (second.type != first.type || !cJSON_Compare(first.object, second.object, true))
            BUG("%s is another request than the one that it prints", printed);
        wire_request_release(&second);
        free(printed);
    }
    wire_request_release(&first);
    free(text);
    return counts;
}

struct answers {
    int count; /* a cancelled request has no other answer than that of its cancel */
    struct strbuf line;
};

static void count_answer(struct answers *answers) {
    struct error error = {0};
    cJSON *message = wire_parse_object(answers->line.bytes, answers->line.used, &error);
    const char *type = cJSON_GetStringValue(cJSON_GetObjectItem(message, "type"));
    if (type == NULL)
        BUG("the server said %s", answers->line.bytes);
    answers->count += 1 + (strcmp(type, "cancel") == 0);
    answers->line.used = 0;
    cJSON_Delete(message);
}

static void read_answers(struct answers *answers, int from) {
    char bytes[4096];
    for (ssize_t got; (got = read(from, bytes, sizeof bytes)) > 0;)
        for (ssize_t i = 0; i < got; i++)
            if (bytes[i] == '\n')
                count_answer(answers);
            else
                strbuf_add(&answers->line, bytes + i, 1);
}

/* Returns false if the judge died, who leaves requests without an answer. */
static bool run_pipe(struct service *service, struct pipe *pipe, int from,
                     struct answers *answers) {
    struct error error = {0};
    bool alive = true;
    for (int steps = 0; alive && !pipe_is_finished(pipe); steps++) {
        alive = service_step(service, &error) >= 0;
        if (!alive || steps % 100 == 99) /* what is held, too */
            pipe_stop(pipe, "the server stops", 0);
        pipe_step(pipe);
        read_answers(answers, from);
    }
    read_answers(answers, from);
    return alive;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct service service;
    struct answers answers = {0};
    int ends[2];
    int expected = 1; /* the hello */
    if (pipe2(ends, O_NONBLOCK) < 0)
        abort();
    for (size_t at = 0; at < size;) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        size_t length = end != NULL ? (size_t)(end - data) - at : size - at;
        expected += check_line((const char *)data + at, length);
        at += length + 1;
    }
    service_init(&service, scripted_judge_new(), &task_limits_default, "0");
    struct pipe *pipe = pipe_new(&service, -1, ends[1]);
    pipe_feed(pipe, (const char *)data, size);
    bool alive = run_pipe(&service, pipe, ends[0], &answers);
    if (alive && answers.count != expected)
        BUG("%d answers for %d requests", answers.count, expected);
    pipe_free(pipe);
    judge_free(service.judge);
    service_release(&service);
    strbuf_release(&answers.line);
    close(ends[0]);
    close(ends[1]);
    return 0;
}
