/*
 * scripted_judge: a test's judge. It runs nothing: the genome of a request says how it ends,
 * and the answer repeats the request.
 *
 *     struct judge *judge = scripted_judge_new();
 *
 * "steps=N" is answered N calls of judge_step later, "hold" when another task with the genome
 * "release" comes, "refuse" with an error, "die" ends the judge; anything else at once. At most
 * SCRIPTED_RUNNING tasks run, so that the judge puts tasks back.
 */
#ifndef EVOTILE_TESTS_SERVE_SCRIPTED_JUDGE_H
#define EVOTILE_TESTS_SERVE_SCRIPTED_JUDGE_H

#include "base/memory.h"
#include "serve/judge.h"
#include "serve/tasks.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SCRIPTED_RUNNING = 64 };

struct scripted_judge {
    struct judge judge;
    const struct task *running[SCRIPTED_RUNNING];
    int steps[SCRIPTED_RUNNING]; /* -1: held */
    int count;
    int64_t answered, put_back, cancelled;
    int ready[2]; /* a pipe that holds a byte while something counts its steps */
};

static inline const char *scripted_genome(const struct task *task) {
    const char *genome =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(task->request, "genome"));
    return genome != NULL ? genome : "";
}

static inline void scripted_answer(struct scripted_judge *judge, struct tasks *tasks,
                                   const struct task *task) {
    cJSON *answer = cJSON_CreateObject();
    if (strcmp(scripted_genome(task), "refuse") == 0) {
        cJSON_AddStringToObject(answer, "error", "the genome is refused: send another one");
    } else {
        cJSON_AddStringToObject(answer, "verdict", "ok");
        cJSON_AddItemToObject(answer, "request", cJSON_Duplicate(task->request, true));
    }
    judge->answered++;
    tasks_finish(tasks, task->id, answer);
}

/* Returns false if the judge dies. */
static inline bool scripted_take(struct scripted_judge *judge, struct tasks *tasks) {
    for (const struct task *task; (task = tasks_take(tasks)) != NULL;) {
        const char *genome = scripted_genome(task);
        if (strncmp(genome, "steps=", 6) == 0 || strcmp(genome, "hold") == 0) {
            if (judge->count == SCRIPTED_RUNNING) {
                tasks_put_back(tasks, task->id);
                judge->put_back++;
                break;
            }
            judge->running[judge->count] = task;
            judge->steps[judge->count++] = *genome == 'h' ? -1 : atoi(genome + 6);
            continue;
        }
        if (strcmp(genome, "die") == 0)
            return false;
        for (int i = 0; i < judge->count && strcmp(genome, "release") == 0; i++)
            judge->steps[i] = judge->steps[i] < 0 ? 0 : judge->steps[i];
        scripted_answer(judge, tasks, task);
    }
    return true;
}

static inline int scripted_step(struct judge *base, struct tasks *tasks, struct error *error) {
    struct scripted_judge *judge = (struct scripted_judge *)base;
    bool counts = false;
    char bytes[16];
    while (read(judge->ready[0], bytes, sizeof bytes) > 0)
        ;
    if (!scripted_take(judge, tasks))
        return error_set(error, "the last device is lost: start the server again");
    for (int i = judge->count - 1; i >= 0; i--) {
        const struct task *task = judge->running[i];
        bool cancelled = tasks_is_cancelled(tasks, task->id);
        judge->cancelled += cancelled;
        if (judge->steps[i] > 0 && !cancelled) {
            judge->steps[i]--;
            counts = true;
        } else if (judge->steps[i] == 0 || cancelled) {
            judge->count--;
            judge->running[i] = judge->running[judge->count];
            judge->steps[i] = judge->steps[judge->count];
            scripted_answer(judge, tasks, task);
        }
    }
    if (counts && write(judge->ready[1], "x", 1) != 1)
        return error_set(error, "the test's pipe is full");
    return 0;
}

static inline void scripted_free(struct judge *base) {
    struct scripted_judge *judge = (struct scripted_judge *)base;
    close(judge->ready[0]);
    close(judge->ready[1]);
    free(judge);
}

static inline int scripted_descriptors(const struct judge *base, struct pollfd *polled, int limit) {
    if (limit < 1)
        return 0;
    *polled =
        (struct pollfd){.fd = ((const struct scripted_judge *)base)->ready[0], .events = POLLIN};
    return 1;
}

static inline cJSON *scripted_definitions(const struct judge *judge) {
    cJSON *definitions = cJSON_CreateObject();
    (void)judge;
    cJSON_AddItemToArray(cJSON_AddArrayToObject(definitions, "problems"),
                         cJSON_CreateString("rows"));
    return definitions;
}

static inline void scripted_add_metrics(const struct judge *base, cJSON *metrics) {
    const struct scripted_judge *judge = (const struct scripted_judge *)base;
    cJSON *verdicts = cJSON_AddObjectToObject(metrics, "verdicts_total");
    cJSON_AddNumberToObject(verdicts, "ok", (double)judge->answered);
    cJSON_AddNumberToObject(metrics, "put_back_total", (double)judge->put_back);
    cJSON_AddNumberToObject(metrics, "judge_cancelled_total", (double)judge->cancelled);
}

static inline struct judge *scripted_judge_new(void) {
    static const struct judge_operations operations = {.free = scripted_free,
                                                       .descriptors = scripted_descriptors,
                                                       .step = scripted_step,
                                                       .definitions = scripted_definitions,
                                                       .add_metrics = scripted_add_metrics};
    struct scripted_judge *judge = xcalloc(1, sizeof *judge);
    judge->judge.operations = &operations;
    if (pipe2(judge->ready, O_CLOEXEC | O_NONBLOCK) < 0)
        BUG("no pipe for the scripted judge");
    return &judge->judge;
}

#endif
