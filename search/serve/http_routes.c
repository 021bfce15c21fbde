/* The paths of the server and what each answers. */
#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "serve/http_internal.h"
#include "serve/metrics_text.h"

#include <math.h>
#include <string.h>

/* ---- responses ---- */

static enum MHD_Result send_text(struct http_request *request, unsigned status, char *text,
                                 const char *type) {
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE);
    if (response == NULL)
        BUG("out of memory");
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (status == MHD_HTTP_UNAUTHORIZED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    if (status == MHD_HTTP_TOO_MANY_REQUESTS || status == MHD_HTTP_SERVICE_UNAVAILABLE)
        MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "1");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(
            response, MHD_HTTP_HEADER_ALLOW,
            strncmp(request->path, "/tasks/", 7) == 0 && strcmp(request->path, "/tasks/batch") != 0
                ? "GET, DELETE"
            : request->route != NULL && strcmp(request->route->method, MHD_HTTP_METHOD_POST) == 0
                ? "POST"
                : "GET");
    enum MHD_Result result = MHD_queue_response(request->handle, status, response);
    MHD_destroy_response(response);
    request->http->service->refused += status >= 400;
    return result;
}

enum MHD_Result http_send(struct http_request *request, unsigned status, cJSON *message) {
    char *line = json_print_line(message);
    size_t length = strlen(line);
    line = xrealloc(line, length + 2);
    strcpy(line + length, "\n");
    return send_text(request, status, line, "application/json");
}

enum MHD_Result http_send_error(struct http_request *request, unsigned status, const char *text) {
    return http_send(request, status, wire_error(NULL, text));
}

static unsigned status_of(const struct error *error) {
    return error->kind == ERROR_REFUSED  ? MHD_HTTP_TOO_MANY_REQUESTS
           : error->kind == ERROR_FAILED ? MHD_HTTP_SERVICE_UNAVAILABLE
                                         : MHD_HTTP_BAD_REQUEST;
}

/* ---- waiting ---- */

/* ?timeout=SECONDS sets the deadline. */
static int read_timeout(struct http_request *request, struct error *error) {
    const char *text =
        MHD_lookup_connection_value(request->handle, MHD_GET_ARGUMENT_KIND, "timeout");
    char *end = NULL;
    double seconds = text != NULL ? strtod(text, &end) : 0;
    if (text != NULL && (end == text || *end != '\0' || !(seconds >= 0) || !isfinite(seconds)))
        return error_input(error, "?timeout= must be a number of seconds, not negative");
    request->deadline_s = clock_seconds() + fmin(seconds, HTTP_WAIT_S);
    return 0;
}

static void add_id(struct http_request *request, int64_t id) {
    request->ids = xgrow(request->ids, (size_t)request->id_count, sizeof *request->ids);
    request->ids[request->id_count++] = id;
}

/* What is said of a task now, and the status. An answer counts as fetched once it was sent. */
static cJSON *look(struct http_request *request, int64_t id, unsigned *status) {
    const struct task *task = tasks_find(request->http->service->tasks, request->client, id);
    if (task == NULL) {
        *status = MHD_HTTP_NOT_FOUND;
        return wire_error(NULL, "you have no task with that id: it was cancelled, or its answer "
                                "was dropped long after it came; send the request again");
    }
    *status = task->state != TASK_DONE ? MHD_HTTP_ACCEPTED
              : wire_is_refused(task)  ? MHD_HTTP_UNPROCESSABLE_CONTENT
                                       : MHD_HTTP_OK;
    if (task->state == TASK_DONE) {
        request->answered =
            xgrow(request->answered, (size_t)request->answered_count, sizeof *request->answered);
        request->answered[request->answered_count++] = id;
    }
    return wire_answer(task, true);
}

static enum MHD_Result answer_one(struct http_request *request) {
    unsigned status;
    if (http_wait(request))
        return MHD_YES;
    cJSON *message = look(request, request->ids[0], &status);
    return http_send(request, status, message);
}

/* ---- paths ---- */

/* Adds the request as a task. */
static int submit(struct http_request *request, struct wire_request *wire, struct error *error) {
    int64_t id = service_submit(request->http->service, request->client, wire, error);
    if (id < 0)
        return -1;
    add_id(request, id);
    return 0;
}

static struct wire_rules rules_of(const struct http_request *request, const char *type) {
    return (struct wire_rules){.takes_folders =
                                   request->connection != NULL && request->connection->is_loopback,
                               .type = type};
}

static enum MHD_Result answer_submit(struct http_request *request) {
    struct wire_request wire = {0};
    struct error error = {0};
    const struct wire_rules rules = rules_of(request, request->route->type);
    if (request->submitted)
        return answer_one(request);
    if (read_timeout(request, &error) < 0 ||
        wire_parse(&wire, request->body.bytes, request->body.used, &rules, &error) < 0 ||
        submit(request, &wire, &error) < 0) {
        enum MHD_Result result =
            http_send(request, status_of(&error), wire_error(wire.id, error.text));
        wire_request_release(&wire);
        return result;
    }
    wire_request_release(&wire);
    request->submitted = true;
    return answer_one(request);
}

static enum MHD_Result answer_task(struct http_request *request) {
    struct error error = {0};
    if (request->submitted)
        return answer_one(request);
    if (read_timeout(request, &error) < 0)
        return http_send_error(request, MHD_HTTP_BAD_REQUEST, error.text);
    const struct task *task = tasks_find_key(request->http->service->tasks, request->client,
                                             request->path + strlen("/tasks/"));
    add_id(request, task != NULL ? task->id : 0);
    request->submitted = true;
    return answer_one(request);
}

static enum MHD_Result answer_delete(struct http_request *request) {
    struct http *http = request->http;
    struct tasks *tasks = http->service->tasks;
    const struct task *task =
        tasks_find_key(tasks, request->client, request->path + strlen("/tasks/"));
    if (task == NULL)
        return http_send_error(request, MHD_HTTP_NOT_FOUND,
                               "you have no task with that id: nothing is to cancel");
    int64_t id = task->id;
    tasks_forget(tasks, request->client, id);
    tasks_cancel(tasks, request->client, id);
    http_wake(http, id);
    return send_text(request, MHD_HTTP_NO_CONTENT, xstrdup(""), "application/json");
}

/* One of a batch of requests: what is said of it, unless it became a task. */
static cJSON *submit_entry(struct http_request *request, cJSON *object) {
    struct wire_request wire = {0};
    struct error error = {0};
    const struct wire_rules rules = rules_of(request, "evaluate");
    cJSON *entry = NULL;
    /* Its share of the body is not known: as much as its text has now. */
    char *text = cJSON_PrintUnformatted(object);
    size_t bytes = text != NULL ? strlen(text) : 0;
    free(text);
    if (wire_check(&wire, object, bytes, &rules, &error) < 0 ||
        submit(request, &wire, &error) < 0) {
        entry = wire_error(wire.id, error.text);
        json_add(entry, "status=%d", (int)status_of(&error));
    }
    wire_request_release(&wire);
    return entry != NULL ? entry : cJSON_CreateNull();
}

static int read_batch(struct http_request *request, struct error *error) {
    cJSON *body = wire_parse_object(request->body.bytes, request->body.used, error);
    if (body == NULL)
        return -1;
    cJSON *requests = cJSON_GetObjectItemCaseSensitive(body, "requests");
    cJSON *names = cJSON_GetObjectItemCaseSensitive(body, "tasks");
    cJSON *list = requests != NULL ? requests : names;
    int result = -1;
    if (!cJSON_IsArray(list) || cJSON_GetArraySize(body) != 1)
        error_input(error, "the body must be {\"requests\": [ ... ]} to send several requests, or "
                           "{\"tasks\": [ ... ]} to ask for several tasks");
    else if (list->child == NULL || cJSON_GetArraySize(list) > HTTP_BATCH)
        error_input(error, "a batch has 1 to %d entries: send several batches", HTTP_BATCH);
    else
        result = 0;
    while (result == 0 && list->child != NULL) {
        cJSON *item = cJSON_DetachItemFromArray(list, 0);
        if (requests != NULL) {
            cJSON_AddItemToArray(request->entries, submit_entry(request, item));
            continue;
        }
        const char *key = cJSON_GetStringValue(item);
        const struct task *task =
            key != NULL ? tasks_find_key(request->http->service->tasks, request->client, key)
                        : NULL;
        add_id(request, task != NULL ? task->id : 0);
        cJSON_AddItemToArray(request->entries, cJSON_CreateNull());
        cJSON_Delete(item);
    }
    cJSON_Delete(body);
    return result;
}

static enum MHD_Result answer_batch(struct http_request *request) {
    struct error error = {0};
    if (!request->submitted) {
        request->entries = cJSON_CreateArray();
        if (read_timeout(request, &error) < 0 || read_batch(request, &error) < 0)
            return http_send_error(request, MHD_HTTP_BAD_REQUEST, error.text);
        request->submitted = true;
    }
    if (http_wait(request))
        return MHD_YES;
    cJSON *message = wire_message("batch", NULL);
    cJSON *list = cJSON_AddArrayToObject(message, "tasks");
    int next = 0;
    while (request->entries->child != NULL) {
        cJSON *entry = cJSON_DetachItemFromArray(request->entries, 0);
        if (cJSON_IsNull(entry)) {
            unsigned status;
            cJSON_Delete(entry);
            entry = look(request, request->ids[next++], &status);
            json_add(entry, "status=%d", (int)status);
        }
        cJSON_AddItemToArray(list, entry);
    }
    return http_send(request, MHD_HTTP_OK, message);
}

static enum MHD_Result answer_definitions(struct http_request *request) {
    return http_send(request, MHD_HTTP_OK,
                     service_answer(request->http->service, WIRE_DEFINITIONS, NULL));
}

static enum MHD_Result answer_health(struct http_request *request) {
    return http_send(request, MHD_HTTP_OK,
                     service_answer(request->http->service, WIRE_HEALTH, NULL));
}

static enum MHD_Result answer_metrics(struct http_request *request) {
    cJSON *metrics = service_metrics(request->http->service);
    char *text = metrics_text(metrics);
    cJSON_Delete(metrics);
    return send_text(request, MHD_HTTP_OK, text, "text/plain; version=0.0.4; charset=utf-8");
}

static const struct http_route routes[] = {
    {"/evaluate", MHD_HTTP_METHOD_POST, answer_submit, "evaluate", false},
    {"/ask", MHD_HTTP_METHOD_POST, answer_submit, "ask", false},
    {"/tell", MHD_HTTP_METHOD_POST, answer_submit, "tell", false},
    {"/tasks/batch", MHD_HTTP_METHOD_POST, answer_batch, NULL, false},
    {"/tasks/", MHD_HTTP_METHOD_GET, answer_task, NULL, false},
    {"/tasks/", MHD_HTTP_METHOD_DELETE, answer_delete, NULL, false},
    {"/definitions", MHD_HTTP_METHOD_GET, answer_definitions, NULL, false},
    {"/metrics", MHD_HTTP_METHOD_GET, answer_metrics, NULL, false},
    {"/health", MHD_HTTP_METHOD_GET, answer_health, NULL, true},
};

static bool has_path(const struct http_route *route, const char *path) {
    size_t length = strlen(route->path);
    return strcmp(route->path, path) == 0 ||
           (route->path[length - 1] == '/' && strncmp(route->path, path, length) == 0 &&
            strcmp(path, "/tasks/batch") != 0);
}

const struct http_route *http_find_route(struct http_request *request, const char *path,
                                         const char *method, enum MHD_Result *result) {
    if (strcmp(method, MHD_HTTP_METHOD_HEAD) == 0)
        method = MHD_HTTP_METHOD_GET;
    for (size_t r = 0; r < sizeof routes / sizeof *routes; r++)
        if (has_path(&routes[r], path)) {
            request->route = &routes[r];
            if (strcmp(routes[r].method, method) == 0 && strlen(path) < sizeof request->path) {
                strcpy(request->path, path);
                return &routes[r];
            }
        }
    snprintf(request->path, sizeof request->path, "%s", path);
    if (request->route != NULL && strlen(path) < sizeof request->path)
        *result = http_send_error(request, MHD_HTTP_METHOD_NOT_ALLOWED,
                                  "this path has no such method: see the Allow header");
    else
        *result = http_send_error(request, MHD_HTTP_NOT_FOUND,
                                  "there is no such path: use /evaluate, /ask, /tell, /tasks/ID, "
                                  "/tasks/batch, /definitions, /health or /metrics");
    return NULL;
}
