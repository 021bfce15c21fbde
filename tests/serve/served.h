/*
 * served: a server's judge on one device, with the problem tests/templates/axpy, and its answers to
 * a client.
 *
 *     cmocka_run_group_tests(tests, start_judge, stop_judge);
 *     const cJSON *answer = answer_to(evaluate(changed_solution("x[i]", "0.0f"), "device", NULL));
 *     expect_text(answer, "verdict", "wrong");
 *
 * SERVE_DEVICE=cuda:0 is another device than the emulated one; SERVE_QUEUE=nats://... has workers.
 */
#ifndef EVOTILE_TESTS_SERVE_SERVED_H
#define EVOTILE_TESTS_SERVE_SERVED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/path.h"
#include "serve/evaluation_judge.h"
#include "serve/tasks.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DESCRIPTORS_MAX = 64 };

static struct judge *judge;
static struct tasks *tasks;
static char folder[] = "/tmp/evaluation_judge.XXXXXX";

static inline void must(int result, const struct error *error) {
    if (result < 0)
        fail_msg("%s", error->text);
}

static inline int start_judge(void **state) {
    (void)state;
    struct error error = {0};
    char path[PATH_SIZE], top[PATH_SIZE / 2], config[PATH_SIZE];
    assert_non_null(getcwd(top, sizeof top));
    snprintf(config, sizeof config,
             "{ \"template\": \"axpy\", \"solutions\": \"all\", \"objective\": \"per_case\", "
             "\"device\": "
             "\"emulated:sm_90\",\n  \"genes\": { \"vector\": { \"STAGED\": [0] } },\n"
             "  \"baseline\": { \"command\": [\"python3\", \"%s/tests/serve/baseline.py\"] },\n"
             "  \"cases\": [{ \"N\": 2000 }, { \"N\": 777 }] }",
             top);
    signal(SIGPIPE, SIG_IGN);
    setenv("EVOTILE_TEMPLATES", "tests/templates", 1);
    assert_non_null(mkdtemp(folder));
    must(path_join(path, folder, "config.json", &error), &error);
    must(path_write_file(path, config, strlen(config), &error), &error);
    const struct evaluation_judge_settings settings = {.config_path = path,
                                                       .program = getenv("EVOTILE"),
                                                       .device = getenv("SERVE_DEVICE"),
                                                       .queue.url = getenv("SERVE_QUEUE"),
                                                       .compile_workers = 1};
    judge = evaluation_judge_new(&settings, &error);
    must(judge != NULL ? 0 : -1, &error);
    const struct task_limits limits = {.waiting_of_client = 100,
                                       .waiting = 100,
                                       .kept = 100,
                                       .fetched = 100,
                                       .bytes_of_client = 1 << 20,
                                       .bytes = 1 << 20};
    tasks = tasks_new(&limits);
    return 0;
}

static inline int stop_judge(void **state) {
    (void)state;
    struct error error = {0};
    judge_free(judge);
    tasks_free(tasks);
    must(path_remove_tree(folder, &error), &error);
    return 0;
}

static inline int64_t ask_of(const char *client, cJSON *request) {
    struct error error = {0};
    int64_t id = tasks_add(tasks, client, request, 100, &error);
    must(id > 0 ? 0 : -1, &error);
    return id;
}

/* Runs the judge until the task is done; the answer stays the task's. */
static inline const cJSON *wait_for(const char *client, int64_t id) {
    struct error error = {0};
    struct pollfd polled[DESCRIPTORS_MAX];
    for (;;) {
        must(judge_step(judge, tasks, &error), &error);
        const struct task *task = tasks_find(tasks, client, id);
        assert_non_null(task);
        if (task->state == TASK_DONE)
            return task->answer;
        poll(polled, (nfds_t)judge_descriptors(judge, polled, DESCRIPTORS_MAX), 100);
    }
}

static inline char *read_text(const char *path) {
    struct error error = {0};
    char *text = path_read_file(path, 1 << 20, NULL, &error);
    must(text != NULL ? 0 : -1, &error);
    return text;
}

/* The solution "loop" as a client's, with `was` in its kernel replaced by `is`. */
static inline cJSON *changed_solution(const char *was, const char *is) {
    char *description = read_text("tests/templates/axpy/loop/solution.json");
    char *kernel = read_text("tests/templates/axpy/loop/kernel.cu");
    char *changed = calloc(1, strlen(kernel) + strlen(is) + 1);
    const char *at = strstr(kernel, was);
    assert_non_null(at);
    sprintf(changed, "%.*s%s%s", (int)(at - kernel), kernel, is, at + strlen(was));
    cJSON *solution = cJSON_CreateObject();
    cJSON_AddStringToObject(solution, "name", "mine");
    cJSON *files = cJSON_AddObjectToObject(solution, "files");
    cJSON_AddStringToObject(files, "solution.json", description);
    cJSON_AddStringToObject(files, "kernel.cu", changed);
    free(description);
    free(kernel);
    free(changed);
    return solution;
}

static inline cJSON *evaluate(cJSON *solution, const char *level, const char *genome) {
    cJSON *request = cJSON_CreateObject();
    cJSON_AddStringToObject(request, "type", "evaluate");
    cJSON_AddItemToObject(request, "solution", solution);
    cJSON_AddStringToObject(request, "level", level);
    if (genome != NULL)
        cJSON_AddStringToObject(request, "genome", genome);
    return request;
}

static inline const cJSON *answer_to(cJSON *request) {
    return wait_for("client", ask_of("client", request));
}

static inline const cJSON *member(const cJSON *object, const char *name) {
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, name);
    if (found == NULL)
        fail_msg("there is no %s in %s", name, cJSON_PrintUnformatted(object));
    return found;
}

static inline void expect_text(const cJSON *answer, const char *name, const char *text) {
    const cJSON *found = member(answer, name);
    if (!cJSON_IsString(found) || strcmp(found->valuestring, text) != 0)
        fail_msg("%s is not \"%s\" in %s", name, text, cJSON_Print(answer));
}

#endif
