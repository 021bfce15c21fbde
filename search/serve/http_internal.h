/* http_internal: what the files of http share. */
#ifndef EVOTILE_SERVE_HTTP_INTERNAL_H
#define EVOTILE_SERVE_HTTP_INTERNAL_H

#include "base/strbuf.h"
#include "serve/http.h"
#include "serve/listener.h"
#include "serve/tokens.h"

#include <microhttpd.h>

enum {
    HTTP_CONNECTIONS = 512,
    HTTP_CONNECTIONS_OF_ADDRESS = 64, /* of one address beyond loopback */
    HTTP_REQUESTS_OF_CLIENT = 128,    /* at a time, those that wait for an answer included */
    HTTP_BATCH = 256,                 /* requests or tasks in one message */
    HTTP_RECEIVING_BYTES = 128 << 20, /* of all bodies that are not complete */
    HTTP_DROPPED_BYTES = 64 << 20,    /* of a body that is read although it is too long */
    HTTP_WAIT_S = 60,                 /* the longest ?timeout= */
};

enum http_phase { HTTP_RECEIVING, HTTP_WAITING, HTTP_ANSWERING };

struct http_connection {
    int descriptor;
    bool is_loopback;
    enum http_phase phase;
    double since_s;
    struct http_connection *before, *after;
};

struct http_request;

/* What a path answers to a method. It queues a response or waits for a task. */
struct http_route {
    const char *path; /* "/tasks/" stands for all that start so */
    const char *method;
    enum MHD_Result (*answer)(struct http_request *request);
    const char *type; /* that its body has */
    bool is_open;     /* needs no token */
};

struct http_request {
    struct http *http;
    struct MHD_Connection *handle;
    struct http_connection *connection; /* NULL: unknown */
    const struct http_route *route;
    char path[TASK_KEY_SIZE + 16];
    char client[CLIENT_NAME_SIZE];
    struct strbuf body;
    bool too_long, no_room; /* the rest of the body is dropped */
    bool is_waiting;        /* suspended until its tasks are done, or the deadline */
    bool submitted;         /* the tasks are there; another call only looks at them */
    bool closes;            /* the client is gone */
    double deadline_s;
    cJSON *entries; /* of a batch: what was answered at once, and null for the next task */
    int64_t *ids;   /* the tasks that it asks for; 0: unknown */
    int id_count;
    int64_t *answered; /* those whose answers are in the response */
    int answered_count;
    struct http_request *before, *after;
};

struct http {
    struct service *service;
    struct listener listener;
    struct tokens *tokens;
    struct MHD_Daemon *daemon;
    int epoll;
    char url[LISTENER_TEXT_SIZE + 16];
    struct http_connection *connections;
    struct http_request *requests;
    size_t receiving_bytes;
    double swept_s;
    bool stops;
    char log[256]; /* the library's first complaint while it starts */
};

/* ---- http.c ---- */

/* Suspends the request until its tasks are done; false: the deadline has passed. */
bool http_wait(struct http_request *request);
/* Whether nothing that the request asks for is still to be done. */
bool http_is_ready(const struct http_request *request);
/* Lets each request that waits for the task look at it again. */
void http_wake(struct http *http, int64_t id);

/* ---- http_routes.c ---- */

/* Finds the route; else queues the response that says why. */
const struct http_route *http_find_route(struct http_request *request, const char *path,
                                         const char *method, enum MHD_Result *result);
enum MHD_Result http_send(struct http_request *request, unsigned status, cJSON *message);
enum MHD_Result http_send_error(struct http_request *request, unsigned status, const char *text);

/* ---- http_access.c ---- */

/* Finds who asks, and whether it may. 0, or the status and the text of the refusal. */
unsigned http_check_access(struct http_request *request, const struct http_route *route, char *text,
                           size_t size);

#endif
