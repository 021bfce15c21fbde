#include "serve/service.h"

#include "base/clock.h"
#include "base/json.h"

void service_init(struct service *service, struct judge *judge, const struct task_limits *limits,
                  const char *version) {
    *service = (struct service){.judge = judge,
                                .tasks = tasks_new(limits),
                                .version = version,
                                .started_s = clock_seconds()};
}

void service_release(struct service *service) {
    tasks_free(service->tasks);
    service->tasks = NULL;
}

int service_step(struct service *service, struct error *error) {
    int open =
        tasks_count(service->tasks, TASK_WAITING) + tasks_count(service->tasks, TASK_RUNNING);
    service->has_news = false;
    if (judge_step(service->judge, service->tasks, error) < 0)
        return -1;
    int left =
        tasks_count(service->tasks, TASK_WAITING) + tasks_count(service->tasks, TASK_RUNNING);
    service->finished += open - left;
    return open > left && tasks_count(service->tasks, TASK_WAITING) > 0;
}

int64_t service_submit(struct service *service, const char *client, struct wire_request *request,
                       struct error *error) {
    int64_t id = tasks_add(service->tasks, client, request->object, request->bytes, error);
    request->object = NULL;
    service->has_news |= id > 0;
    return id;
}

cJSON *service_metrics(const struct service *service) {
    const struct tasks *tasks = service->tasks;
    cJSON *metrics = cJSON_CreateObject();
    cJSON *counts = cJSON_AddObjectToObject(metrics, "tasks");
    json_add(metrics, "uptime_s=%g requests_total=%g refused_total=%g finished_total=%g clients=%d",
             clock_seconds() - service->started_s, (double)service->requests,
             (double)service->refused, (double)service->finished, tasks_count_clients(tasks));
    json_add(counts, "waiting=%d running=%d done=%d cancelled=%d", tasks_count(tasks, TASK_WAITING),
             tasks_count(tasks, TASK_RUNNING), tasks_count(tasks, TASK_DONE),
             tasks_count(tasks, TASK_CANCELLED));
    judge_add_metrics(service->judge, metrics);
    return metrics;
}

cJSON *service_answer(const struct service *service, enum wire_type type, const cJSON *id) {
    cJSON *message = wire_message(wire_type_name(type), id);
    switch (type) {
    case WIRE_DEFINITIONS:
        cJSON_AddItemToObject(message, "definitions", judge_definitions(service->judge));
        break;
    case WIRE_METRICS:
        cJSON_AddItemToObject(message, "metrics", service_metrics(service));
        break;
    case WIRE_HEALTH:
        json_add(message, "status=%s version=%s uptime_s=%g", "ok", service->version,
                 clock_seconds() - service->started_s);
        break;
    default:
        BUG("a request of type \"%s\" is a task", wire_type_name(type));
    }
    return message;
}

cJSON *service_hello(const struct service *service, const char *listen) {
    cJSON *message = wire_message("hello", NULL);
    json_add(message, "program=%s version=%s", "evotile", service->version);
    if (listen != NULL)
        json_add(message, "listen=%s", listen);
    return message;
}
