/* Requests on a pipe: every one is answered once, with its own id, whatever stands between them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "serve/pipe.h"
#include "serve/scripted_judge.h"

#include <errno.h>
#include <signal.h>

#define EVALUATE "\"type\":\"evaluate\",\"solution\":{\"name\":\"plain\"}"

struct fixture {
    struct service service;
    struct pipe *pipe;
    int to[2], from[2];
    char *answers; /* all that was read */
    size_t used;
};

static void make(struct fixture *fixture, const struct task_limits *limits) {
    *fixture = (struct fixture){.answers = xcalloc(1, 1)};
    assert_int_equal(pipe2(fixture->to, O_NONBLOCK), 0);
    assert_int_equal(pipe2(fixture->from, O_NONBLOCK), 0);
    service_init(&fixture->service, scripted_judge_new(), limits, "0");
    fixture->pipe = pipe_new(&fixture->service, fixture->to[0], fixture->from[1]);
}

static void release(struct fixture *fixture) {
    pipe_free(fixture->pipe);
    judge_free(fixture->service.judge);
    service_release(&fixture->service);
    for (int i = 0; i < 2; i++) {
        close(fixture->to[i]);
        close(fixture->from[i]);
    }
    free(fixture->answers);
}

static void read_answers(struct fixture *fixture) {
    char bytes[4096];
    ssize_t got;
    while ((got = read(fixture->from[0], bytes, sizeof bytes)) > 0) {
        fixture->answers = xrealloc(fixture->answers, fixture->used + (size_t)got + 1);
        memcpy(fixture->answers + fixture->used, bytes, (size_t)got);
        fixture->used += (size_t)got;
        fixture->answers[fixture->used] = '\0';
    }
}

static void step(struct fixture *fixture) {
    struct error error = {0};
    pipe_step(fixture->pipe);
    assert_int_not_equal(service_step(&fixture->service, &error), -1);
    pipe_step(fixture->pipe);
}

/* Steps until everything was answered; the input ends. */
static void finish(struct fixture *fixture) {
    close(fixture->to[1]);
    fixture->to[1] = -1;
    for (int steps = 0; !pipe_is_finished(fixture->pipe); steps++) {
        assert_true(steps < 100000);
        step(fixture);
        read_answers(fixture);
    }
}

static void say(struct fixture *fixture, const char *text) {
    size_t left = strlen(text);
    while (left > 0) {
        ssize_t wrote = write(fixture->to[1], text, left);
        if (wrote > 0) {
            text += wrote;
            left -= (size_t)wrote;
        } else {
            assert_int_equal(errno, EAGAIN);
            step(fixture);
            read_answers(fixture);
        }
    }
}

static int count_of(const struct fixture *fixture, const char *part) {
    int count = 0;
    for (const char *at = fixture->answers; (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

static void assert_answers(const struct fixture *fixture, const char *part, int count) {
    if (count_of(fixture, part) != count)
        fail_msg("%s: %d times, not %d, in\n%s", part, count_of(fixture, part), count,
                 fixture->answers);
}

static void test_answers(void **state) {
    struct fixture fixture;
    (void)state;
    make(&fixture, &task_limits_default);
    say(&fixture, "{" EVALUATE ",\"id\":\"a\",\"genome\":\"steps=3\"}\n\n  \r\n"
                  "{" EVALUATE ",\"id\":7}\n"
                  "{" EVALUATE "}\n"
                  "{\"type\":\"health\",\"id\":\"h\"}\n"
                  "{\"type\":\"definitions\",\"id\":\"d\"}\n"
                  "{\"type\":\"metrics\",\"id\":\"m\"}\n"
                  "{" EVALUATE ",\"id\":\"last\",\"genome\":\"refuse\"}"); /* no end of line */
    finish(&fixture);
    assert_int_equal(strncmp(fixture.answers, "{\"type\":\"hello\",\"protocol\":1,", 29), 0);
    assert_answers(&fixture, "\n", 8);
    assert_answers(&fixture, "{\"type\":\"answer\",\"protocol\":1,\"id\":\"a\",", 1);
    assert_answers(&fixture, "{\"type\":\"answer\",\"protocol\":1,\"id\":7,", 1);
    assert_answers(&fixture, "{\"type\":\"answer\",\"protocol\":1,\"answer\":", 1);
    assert_answers(&fixture, "{\"type\":\"health\",\"protocol\":1,\"id\":\"h\",\"status\":\"ok\"",
                   1);
    assert_answers(&fixture, "\"id\":\"d\",\"definitions\":{\"problems\":[\"rows\"]}}", 1);
    assert_answers(&fixture, "\"id\":\"m\",\"metrics\":{", 1);
    assert_answers(&fixture,
                   "{\"type\":\"error\",\"protocol\":1,\"id\":\"last\",\"error\":\"the genome is "
                   "refused: send another one\"}\n",
                   1);
    assert_false(pipe_is_gone(fixture.pipe));
    assert_int_equal(fixture.service.requests, 7);
    assert_int_equal(fixture.service.refused, 1);
    release(&fixture);
}

static void test_errors(void **state) {
    struct fixture fixture;
    (void)state;
    make(&fixture, &task_limits_default);
    say(&fixture, "garbage\n{\"type\":\"evaluate\",\"id\":\"x\"}\n"
                  "{" EVALUATE ",\"id\":1,\"genome\":\"hold\"}\n{" EVALUATE ",\"id\":1}\n"
                  "{\"type\":\"cancel\",\"id\":2,\"task\":3}\n"
                  "\xff\xfe\n{" EVALUATE ",\"genome\":\"release\"}\n");
    finish(&fixture);
    assert_answers(&fixture, "{\"type\":\"error\",\"protocol\":1,\"error\":\"not valid JSON", 1);
    assert_answers(&fixture, "\"id\":\"x\",\"error\":\"a request of type \\\"evaluate\\\" needs",
                   1);
    assert_answers(&fixture, "\"id\":1,\"error\":\"a task that is not done has that id", 1);
    assert_answers(&fixture, "\"id\":2,\"error\":\"no task that is not done has that id", 1);
    assert_answers(&fixture, "\"error\":\"the message is not UTF-8 text", 1);
    assert_answers(&fixture, "\"type\":\"answer\"", 2);
    release(&fixture);
}

/* A line that is too long is one error, and the next line is a request again. */
static void test_long_line(void **state) {
    struct fixture fixture;
    char *line = xmalloc(WIRE_MESSAGE_BYTES / 4 + 1);
    (void)state;
    memset(line, 'x', WIRE_MESSAGE_BYTES / 4);
    line[WIRE_MESSAGE_BYTES / 4] = '\0';
    make(&fixture, &task_limits_default);
    for (int i = 0; i < 13; i++)
        say(&fixture, line);
    say(&fixture, "\n{" EVALUATE ",\"id\":\"next\"}\n");
    finish(&fixture);
    assert_answers(&fixture, "\"error\":\"a line has at most 8 MB: send less\"", 1);
    assert_answers(&fixture, "\"type\":\"answer\",\"protocol\":1,\"id\":\"next\"", 1);
    assert_answers(&fixture, "\n", 3);
    free(line);
    release(&fixture);
}

static void test_cancel(void **state) {
    struct fixture fixture;
    (void)state;
    make(&fixture, &task_limits_default);
    say(&fixture, "{" EVALUATE ",\"id\":\"held\",\"genome\":\"hold\"}\n");
    step(&fixture);
    assert_int_equal(tasks_count(fixture.service.tasks, TASK_RUNNING), 1);
    say(&fixture, "{\"type\":\"cancel\",\"id\":\"c\",\"task\":\"held\"}\n");
    finish(&fixture); /* also waits until the judge has dropped it */
    assert_answers(&fixture,
                   "{\"type\":\"cancel\",\"protocol\":1,\"id\":\"c\",\"task\":\"held\"}\n", 1);
    assert_answers(&fixture, "\"type\":\"answer\"", 0);
    release(&fixture);
}

/* More requests than a client may have, and answers that are read late: none is refused or lost. */
static void test_backpressure(void **state) {
    static const struct task_limits limits = {.waiting_of_client = 5,
                                              .waiting = 10,
                                              .kept = 10,
                                              .fetched = 1,
                                              .bytes_of_client = 64 << 20,
                                              .bytes = 64 << 20};
    enum { REQUESTS = 3000, WORDS = 1500 };
    struct fixture fixture;
    char *words = xcalloc(1, WORDS + 1);
    char *line = xmalloc(WORDS + 200);
    (void)state;
    memset(words, 'y', WORDS);
    make(&fixture, &limits);
    for (int i = 0; i < REQUESTS; i++) {
        sprintf(line,
                "{\"type\":\"evaluate\",\"id\":%d,\"genome\":\"steps=%d %s\",\"solution\":"
                "{\"name\":\"plain\"}}\n",
                i, i % 3, words);
        for (const char *at = line; *at != '\0';) {
            ssize_t wrote = write(fixture.to[1], at, strlen(at));
            if (wrote > 0)
                at += wrote;
            else if (tasks_count_open(fixture.service.tasks, "pipe") == 0)
                read_answers(&fixture);
            step(&fixture);
            assert_true(tasks_count_open(fixture.service.tasks, "pipe") <= 5);
        }
    }
    finish(&fixture);
    assert_answers(&fixture, "\"type\":\"answer\"", REQUESTS);
    assert_answers(&fixture, "\"type\":\"error\"", 0);
    for (int i = 0; i < REQUESTS; i++) {
        char id[64];
        sprintf(id, "\"protocol\":1,\"id\":%d,\"answer\"", i);
        if (i % 100 == 0)
            assert_answers(&fixture, id, 1);
    }
    free(words);
    free(line);
    release(&fixture);
}

static void test_client_gone(void **state) {
    struct fixture fixture;
    (void)state;
    make(&fixture, &task_limits_default);
    say(&fixture, "{" EVALUATE ",\"genome\":\"hold\"}\n{" EVALUATE ",\"genome\":\"hold\"}\n");
    step(&fixture);
    assert_false(pipe_is_finished(fixture.pipe));
    close(fixture.from[0]);
    step(&fixture);
    step(&fixture);
    assert_true(pipe_is_gone(fixture.pipe));
    assert_true(pipe_is_finished(fixture.pipe));
    assert_int_equal(tasks_count(fixture.service.tasks, TASK_CANCELLED), 0);
    assert_int_equal(tasks_count_clients(fixture.service.tasks), 0);
    fixture.from[0] = -1;
    release(&fixture);
}

static void test_stop(void **state) {
    struct fixture fixture;
    (void)state;
    make(&fixture, &task_limits_default);
    say(&fixture, "{" EVALUATE ",\"id\":1,\"genome\":\"hold\"}\n");
    step(&fixture);
    pipe_feed(fixture.pipe, "{" EVALUATE ",\"id\":2}\n", strlen("{" EVALUATE ",\"id\":2}\n"));
    pipe_stop(fixture.pipe, "the server stops: start it again", 10);
    read_answers(&fixture);
    assert_answers(&fixture, "\"id\":1,\"error\":\"the server stops: start it again\"", 1);
    assert_answers(&fixture, "\"id\":2,\"error\":\"the server stops: start it again\"", 1);
    release(&fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),      cmocka_unit_test(test_errors),
        cmocka_unit_test(test_long_line),    cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_backpressure), cmocka_unit_test(test_client_gone),
        cmocka_unit_test(test_stop),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
