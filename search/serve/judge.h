/*
 * judge: what answers the tasks of a server. The server (serve/server.h) takes requests from
 * clients and keeps them as tasks; the judge starts them, waits for nothing, and finishes them in
 * any order.
 *
 *     struct judge *judge = evaluation_judge_new(&settings, &error);      //
 * serve/evaluation_judge.h while (judge_step(judge, tasks, &error) == 0) poll(polled,
 * judge_descriptors(judge, polled, limit), 100); judge_free(judge);
 *
 * Everything runs in one thread.
 */
#ifndef EVOTILE_SERVE_JUDGE_H
#define EVOTILE_SERVE_JUDGE_H

#include "base/error.h"

#include <cjson/cJSON.h>
#include <poll.h>

struct judge;
struct tasks;

void judge_free(struct judge *judge);

/* Fills at most `limit` entries whose readiness means that judge_step has something to do; returns
   their number. */
int judge_descriptors(const struct judge *judge, struct pollfd *polled, int limit);
/* Takes waiting tasks (tasks_take) and finishes those that are judged (tasks_finish). Never blocks.
   -1: the judge cannot go on, such as after the last GPU is lost. */
int judge_step(struct judge *judge, struct tasks *tasks, struct error *error);
/* What clients may ask for: the problems, their solutions and cases. The caller owns it. */
cJSON *judge_definitions(const struct judge *judge);
/* Adds what the judge counts to the object: devices, workers, cache hits, verdicts. */
void judge_add_metrics(const struct judge *judge, cJSON *metrics);

/* ---- for judges: the first member of each judge's struct ---- */

struct judge_operations {
    void (*free)(struct judge *judge);
    int (*descriptors)(const struct judge *judge, struct pollfd *polled, int limit);
    int (*step)(struct judge *judge, struct tasks *tasks, struct error *error);
    cJSON *(*definitions)(const struct judge *judge);
    void (*add_metrics)(const struct judge *judge, cJSON *metrics);
};

struct judge {
    const struct judge_operations *operations;
};

#endif
