/*
 * tasks: the requests of a server's clients, from when they come until their answers were fetched.
 * A client sees its own tasks only. Everything runs in one thread.
 *
 *     struct tasks *tasks = tasks_new(&limits);
 *     int64_t id = tasks_add(tasks, client, request, &error);      // a client's side
 *     const struct task *task = tasks_take(tasks);                 // the judge's side
 *     tasks_finish(tasks, task->id, answer);
 *     tasks_free(tasks);
 */
#ifndef EVOTILE_SERVE_TASKS_H
#define EVOTILE_SERVE_TASKS_H

#include "base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

enum { CLIENT_NAME_SIZE = 64 };

struct tasks;

enum task_state { TASK_WAITING, TASK_RUNNING, TASK_DONE, TASK_CANCELLED };

struct task {
    int64_t id; /* from 1, never used again */
    char client[CLIENT_NAME_SIZE];
    enum task_state state;
    cJSON *request; /* as the client sent it: a JSON object of type "evaluate", "ask" or "tell" */
    cJSON *answer;  /* once done */
};

struct task_limits {
    int waiting_of_client, waiting; /* tasks that are not done: of one client, and of all */
    int kept;                       /* answers that were not fetched yet; the oldest are dropped */
};

struct tasks *tasks_new(const struct task_limits *limits);
void tasks_free(struct tasks *tasks);

/* Takes ownership of the request. -1: a limit is reached, and `error` names it and the remedy. */
int64_t tasks_add(struct tasks *tasks, const char *client, cJSON *request, struct error *error);

/* The next waiting task, of another client than the last one if there is any; it is running then,
   and stays valid until tasks_finish. NULL: none waits. */
const struct task *tasks_take(struct tasks *tasks);
/* Puts a running task back as the client's first, because the judge has no room for it. */
void tasks_put_back(struct tasks *tasks, int64_t id);
/* Takes ownership of the answer. A task that was cancelled meanwhile is dropped. */
void tasks_finish(struct tasks *tasks, int64_t id, cJSON *answer);
/* Whether a running task was cancelled: its answer will not be read. */
bool tasks_is_cancelled(const struct tasks *tasks, int64_t id);

/* The client's task with that id; NULL: it has none. */
const struct task *tasks_find(const struct tasks *tasks, const char *client, int64_t id);
/* Cancels a task that is not done: one that waits is gone, one that runs is dropped when it ends.
   Returns false if the client has no such task. */
bool tasks_cancel(struct tasks *tasks, const char *client, int64_t id);
/* Forgets a task whose answer was sent. */
void tasks_forget(struct tasks *tasks, const char *client, int64_t id);
/* Cancels everything of a client that is gone. */
void tasks_drop_client(struct tasks *tasks, const char *client);

int tasks_count(const struct tasks *tasks, enum task_state state);

/* Called for each task that is done, before anything fetches it. */
void tasks_on_done(struct tasks *tasks, void (*done)(void *context, const struct task *task),
                   void *context);

#endif
