/*
 * service: the judge and the tasks that every client shares, whatever its messages travel over, and
 * the requests that are answered at once.
 *
 *     struct service service;
 *     service_init(&service, judge, &task_limits_default, "1.2.3");
 *     int64_t id = service_submit(&service, "pipe", &request, &error);
 *     while (service_step(&service, &error) >= 0)
 *         poll(polled, judge_descriptors(judge, polled, limit), 100);
 *     service_release(&service);
 *
 * The judge stays the caller's.
 */
#ifndef EVOTILE_SERVE_SERVICE_H
#define EVOTILE_SERVE_SERVICE_H

#include "serve/judge.h"
#include "serve/tasks.h"
#include "serve/wire.h"

struct service {
    struct judge *judge;
    struct tasks *tasks;
    const char *version;
    double started_s;
    int64_t requests, refused; /* of all types, and those that were answered with an error */
    int64_t finished;          /* tasks that the judge answered */
    bool has_news;             /* tasks were added that the judge has not seen */
};

void service_init(struct service *service, struct judge *judge, const struct task_limits *limits,
                  const char *version);
void service_release(struct service *service);

/* Lets the judge go on. Returns 1 if it did something that makes another call worthwhile at once;
   0: wait for its descriptors; -1: it cannot go on. */
int service_step(struct service *service, struct error *error);

/* Adds a request that is a task, and takes its object. -1 as tasks_add. */
int64_t service_submit(struct service *service, const char *client, struct wire_request *request,
                       struct error *error);
/* The message that answers a request for definitions, health or metrics. */
cJSON *service_answer(const struct service *service, enum wire_type type, const cJSON *id);
/* The first message of a server; `listen`, which may be NULL, is its URL. */
cJSON *service_hello(const struct service *service, const char *listen);
/* What the server and the judge count. */
cJSON *service_metrics(const struct service *service);

#endif
