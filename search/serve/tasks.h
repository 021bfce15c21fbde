/*
 * tasks: the requests of a server's clients, from when they come until their answers were fetched.
 * A client sees its own tasks only. Everything runs in one thread.
 *
 *     struct tasks *tasks = tasks_new(&limits);
 *     int64_t id = tasks_add(tasks, client, request, bytes, &error); // a client's side
 *     const struct task *task = tasks_take(tasks);                   // the judge's side
 *     tasks_finish(tasks, task->id, answer);
 *     tasks_free(tasks);
 *
 * The judge takes one task of each client in turn. An answer that was not fetched is dropped only
 * when too many are kept, and then it is the oldest of the client that has most of them.
 */
#ifndef EVOTILE_SERVE_TASKS_H
#define EVOTILE_SERVE_TASKS_H

#include "base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLIENT_NAME_SIZE = 64, TASK_SECRET_SIZE = 33, TASK_KEY_SIZE = 64 };

struct tasks;

enum task_state { TASK_WAITING, TASK_RUNNING, TASK_DONE, TASK_CANCELLED };
enum { TASK_STATE_COUNT = 4 };

struct task {
    int64_t id; /* from 1, never used again */
    char client[CLIENT_NAME_SIZE];
    char secret[TASK_SECRET_SIZE]; /* 128 random bits in hexadecimal, a part of the task's key */
    enum task_state state;
    cJSON *request; /* as the client sent it: a JSON object of type "evaluate", "ask" or "tell" */
    cJSON *answer;  /* once done */
};

struct task_limits {
    int waiting_of_client, waiting; /* tasks that are not done: of one client, and of all */
    int kept;                       /* answers that were not fetched yet; the oldest are dropped */
    int fetched; /* answers that were fetched, and stay for a client that asks again */
    size_t bytes_of_client, bytes; /* requests that are not done: of one client, and of all */
};

/* The limits of a server. */
extern const struct task_limits task_limits_default;

struct tasks *tasks_new(const struct task_limits *limits);
void tasks_free(struct tasks *tasks);

/* Takes ownership of the request, whose text has so many bytes, also if it fails. -1: a limit is
   reached, and `error` names it and the remedy; its kind is ERROR_REFUSED for a limit of the
   client, ERROR_FAILED for one of the server. */
int64_t tasks_add(struct tasks *tasks, const char *client, cJSON *request, size_t bytes,
                  struct error *error);
/* Whether the client may add a request of so many bytes now. */
bool tasks_has_room(const struct tasks *tasks, const char *client, size_t bytes);

/* The next waiting task, of another client than the last one if there is any; it is running then,
   and stays valid until tasks_finish. NULL: none waits. */
const struct task *tasks_take(struct tasks *tasks);
/* Puts a running task back as the client's first, because the judge has no room for it. */
void tasks_put_back(struct tasks *tasks, int64_t id);
/* Takes ownership of the answer. A task that was cancelled meanwhile is dropped. */
void tasks_finish(struct tasks *tasks, int64_t id, cJSON *answer);
/* Whether a running task was cancelled: its answer will not be read. */
bool tasks_is_cancelled(const struct tasks *tasks, int64_t id);

/* The client's task with that id; NULL: it has none, or has cancelled it. */
const struct task *tasks_find(const struct tasks *tasks, const char *client, int64_t id);
/* The client's task that is not done and whose request has that "id", a string or a number. */
const struct task *tasks_find_named(const struct tasks *tasks, const char *client, const cJSON *id);
/* Some task of the client that is not done and was not cancelled; NULL: there is none. */
const struct task *tasks_find_open(const struct tasks *tasks, const char *client);
/* A task by its key, "17-8f0c...", which other clients cannot guess. */
const struct task *tasks_find_key(const struct tasks *tasks, const char *client, const char *key);
const char *task_print_key(const struct task *task, char key[TASK_KEY_SIZE]);

/* Cancels a task that is not done: one that waits is gone, one that runs is dropped when it ends.
   Returns false if the client has no such task. */
bool tasks_cancel(struct tasks *tasks, const char *client, int64_t id);
/* Keeps the answer from now on only while there is room for answers that were fetched. */
void tasks_mark_fetched(struct tasks *tasks, const char *client, int64_t id);
/* Forgets a task whose answer was sent. */
void tasks_forget(struct tasks *tasks, const char *client, int64_t id);
/* Cancels everything of a client that is gone. */
void tasks_drop_client(struct tasks *tasks, const char *client);

int tasks_count(const struct tasks *tasks, enum task_state state);
/* The client's tasks that are not done, cancelled ones that still run included. */
int tasks_count_open(const struct tasks *tasks, const char *client);
/* The clients that have a task. */
int tasks_count_clients(const struct tasks *tasks);

/* Called for each task that is done, before anything fetches it; it may forget the task. */
void tasks_on_done(struct tasks *tasks, void (*done)(void *context, const struct task *task),
                   void *context);

#endif
