#include "serve/http.h"

#include "base/clock.h"
#include "base/intervals.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/path.h"
#include "serve/http_internal.h"

#include <math.h>
#include <string.h>

enum { PEM_BYTES = 1 << 20 };

/* ---- requests that wait ---- */

bool http_is_ready(const struct http_request *request) {
    for (int i = 0; i < request->id_count; i++) {
        const struct task *task =
            tasks_find(request->http->service->tasks, request->client, request->ids[i]);
        if (task != NULL && task->state != TASK_DONE)
            return false;
    }
    return true;
}

static void set_phase(struct http_request *request, enum http_phase phase) {
    if (request->connection == NULL)
        return;
    request->connection->phase = phase;
    request->connection->since_s = clock_seconds();
}

bool http_wait(struct http_request *request) {
    if (request->http->stops || clock_seconds() >= request->deadline_s || http_is_ready(request))
        return false;
    request->is_waiting = true;
    set_phase(request, HTTP_WAITING);
    MHD_suspend_connection(request->handle);
    return true;
}

static void wake(struct http_request *request) {
    if (!request->is_waiting)
        return;
    request->is_waiting = false;
    set_phase(request, HTTP_ANSWERING);
    MHD_resume_connection(request->handle);
}

void http_wake(struct http *http, int64_t id) {
    for (struct http_request *request = http->requests; request != NULL; request = request->after)
        for (int i = 0; request->is_waiting && i < request->id_count; i++)
            if (request->ids[i] == id && http_is_ready(request))
                wake(request);
}

static void wake_for_task(void *context, const struct task *task) {
    http_wake(context, task->id);
}

/* ---- one request ---- */

static struct http_request *add_request(struct http *http, struct MHD_Connection *handle) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(handle, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct http_request *request = xcalloc(1, sizeof *request);
    request->http = http;
    request->handle = handle;
    request->connection = info != NULL ? info->socket_context : NULL;
    strbuf_add(&request->body, "", 0);
    request->after = http->requests;
    if (request->after != NULL)
        request->after->before = request;
    http->requests = request;
    http->service->requests++;
    return request;
}

static void remove_request(struct http_request *request) {
    struct http *http = request->http;
    *(request->before != NULL ? &request->before->after : &http->requests) = request->after;
    if (request->after != NULL)
        request->after->before = request->before;
    http->receiving_bytes -= request->body.used;
    strbuf_release(&request->body);
    cJSON_Delete(request->entries);
    free(request->ids);
    free(request->answered);
    free(request);
}

/* The body has come, or belongs to no task: what is left of it takes no more room. */
static void receive(struct http_request *request, const char *bytes, size_t size) {
    struct http *http = request->http;
    request->too_long |= request->body.used + size > WIRE_MESSAGE_BYTES;
    request->no_room |= http->receiving_bytes + size > HTTP_RECEIVING_BYTES;
    if (request->too_long || request->no_room)
        return;
    strbuf_add(&request->body, bytes, size);
    http->receiving_bytes += size;
}

static enum MHD_Result send_too_long(struct http_request *request) {
    char text[96];
    snprintf(text, sizeof text, "a message has at most %d MB: send less", WIRE_MESSAGE_BYTES >> 20);
    return http_send_error(request, MHD_HTTP_CONTENT_TOO_LARGE, text);
}

/* The headers are there: refuses what can be refused without the body. */
static enum MHD_Result start_request(struct http *http, struct http_request *request,
                                     const char *path, const char *method) {
    char text[256];
    enum MHD_Result result = MHD_YES;
    const struct http_route *route = http_find_route(request, path, method, &result);
    const char *length = MHD_lookup_connection_value(request->handle, MHD_HEADER_KIND,
                                                     MHD_HTTP_HEADER_CONTENT_LENGTH);
    set_phase(request, HTTP_RECEIVING); /* the body has its own time */
    if (route == NULL)
        return result;
    unsigned status = http_check_access(request, route, text, sizeof text);
    if (http->stops)
        return http_send_error(request, MHD_HTTP_SERVICE_UNAVAILABLE,
                               "the server stops: send it again when it has started");
    if (status != 0)
        return http_send_error(request, status, text);
    /* A client that sends its body before it reads gets the answer only if that is read. */
    request->too_long = length != NULL && strtod(length, NULL) > WIRE_MESSAGE_BYTES;
    if (request->too_long && strtod(length, NULL) > HTTP_DROPPED_BYTES)
        return send_too_long(request);
    return MHD_YES;
}

static enum MHD_Result answer(struct http_request *request) {
    set_phase(request, HTTP_ANSWERING);
    if (request->closes)
        return MHD_NO;
    if (request->too_long)
        return send_too_long(request);
    if (request->no_room)
        return http_send_error(request, MHD_HTTP_SERVICE_UNAVAILABLE,
                               "the server receives too much at a time: send it again later");
    if (request->http->stops && !http_is_ready(request))
        return http_send_error(request, MHD_HTTP_SERVICE_UNAVAILABLE,
                               "the server stops: send it again when it has started");
    return request->route->answer(request);
}

static enum MHD_Result handle(void *context, struct MHD_Connection *handle, const char *path,
                              const char *method, const char *version, const char *bytes,
                              size_t *size, void **memory) {
    struct http_request *request = *memory;
    (void)version;
    if (request == NULL) {
        *memory = request = add_request(context, handle);
        return start_request(context, request, path, method);
    }
    if (*size > 0) {
        receive(request, bytes, *size);
        *size = 0;
        return MHD_YES;
    }
    return answer(request);
}

static void complete(void *context, struct MHD_Connection *handle, void **memory,
                     enum MHD_RequestTerminationCode code) {
    struct http_request *request = *memory;
    (void)context;
    (void)handle;
    if (request == NULL)
        return;
    for (int i = 0; i < request->answered_count && code == MHD_REQUEST_TERMINATED_COMPLETED_OK; i++)
        tasks_mark_fetched(request->http->service->tasks, request->client, request->answered[i]);
    set_phase(request, HTTP_RECEIVING);
    remove_request(request);
    *memory = NULL;
}

/* ---- connections ---- */

static void notice_connection(void *context, struct MHD_Connection *handle, void **memory,
                              enum MHD_ConnectionNotificationCode code) {
    struct http *http = context;
    struct http_connection *connection = *memory;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(handle, MHD_CONNECTION_INFO_CONNECTION_FD);
        const union MHD_ConnectionInfo *peer =
            MHD_get_connection_info(handle, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
        *memory = connection = xcalloc(1, sizeof *connection);
        connection->descriptor = info != NULL ? info->connect_fd : -1;
        connection->is_loopback = peer != NULL && address_is_loopback(peer->client_addr);
        connection->since_s = clock_seconds();
        connection->after = http->connections;
        if (connection->after != NULL)
            connection->after->before = connection;
        http->connections = connection;
    } else if (connection != NULL) {
        *(connection->before != NULL ? &connection->before->after : &http->connections) =
            connection->after;
        if (connection->after != NULL)
            connection->after->before = connection->before;
        free(connection);
        *memory = NULL;
    }
}

/* Ends what takes too long to come or to be read, byte by byte or not at all. The library notices
   that the socket is shut, and closes it. */
static void end_slow_connections(struct http *http, double now_s) {
    for (struct http_connection *at = http->connections; at != NULL; at = at->after)
        if (at->phase != HTTP_WAITING && now_s - at->since_s > interval_s(INTERVAL_HTTP_REQUEST))
            shutdown(at->descriptor, SHUT_RDWR);
}

/* A client that is gone is not noticed while its connection is suspended. */
static bool is_gone(const struct http_connection *connection) {
    struct pollfd polled = {.fd = connection->descriptor, .events = POLLRDHUP};
    return poll(&polled, 1, 0) > 0 && (polled.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

static void sweep(struct http *http) {
    double now_s = clock_seconds();
    for (struct http_request *request = http->requests; request != NULL; request = request->after)
        if (request->is_waiting && now_s >= request->deadline_s)
            wake(request);
    if (now_s - http->swept_s < fmin(1, interval_s(INTERVAL_HTTP_REQUEST) / 4))
        return;
    http->swept_s = now_s;
    end_slow_connections(http, now_s);
    for (struct http_request *request = http->requests; request != NULL; request = request->after)
        if (request->is_waiting && request->connection != NULL && is_gone(request->connection)) {
            request->closes = true;
            wake(request);
        }
}

/* ---- the server ---- */

int http_settings_check(const struct http_settings *settings, struct error *error) {
    bool is_loopback = false;
    if ((settings->certificate == NULL) != (settings->key == NULL))
        return error_input(error, "TLS needs a certificate and its key: give both");
    if (listener_is_loopback(settings->listen, &is_loopback, error) < 0)
        return -1;
    if (!is_loopback && (settings->tokens == NULL || settings->certificate == NULL))
        return error_input(error,
                           "%s can be reached from other hosts: give --tokens FILE, --tls-cert "
                           "FILE and --tls-key FILE, or listen on 127.0.0.1",
                           settings->listen);
    return 0;
}

static void keep_log(void *context, const char *format, va_list arguments) {
    struct http *http = context;
    if (*http->log != '\0')
        return;
    vsnprintf(http->log, sizeof http->log, format, arguments);
    http->log[strcspn(http->log, "\n")] = '\0';
}

/* An option that does not apply is MHD_OPTION_END at the end of the list. */
static struct MHD_Daemon *start_daemon(struct http *http, const char *certificate,
                                       const char *key) {
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
    struct MHD_OptionItem more[5] = {{MHD_OPTION_END, 0, NULL}};
    int count = 0;
    if (certificate != NULL) {
        flags |= MHD_USE_TLS;
        more[count++] = (struct MHD_OptionItem){
            MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"};
        more[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)certificate};
        more[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)key};
    }
    if (!http->listener.is_loopback)
        more[count++] = (struct MHD_OptionItem){MHD_OPTION_PER_IP_CONNECTION_LIMIT,
                                                HTTP_CONNECTIONS_OF_ADDRESS, NULL};
    more[count] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
    return MHD_start_daemon(flags, 0, NULL, NULL, handle, http, MHD_OPTION_EXTERNAL_LOGGER,
                            keep_log, http, MHD_OPTION_LISTEN_SOCKET, http->listener.descriptor,
                            MHD_OPTION_CONNECTION_LIMIT, (unsigned)HTTP_CONNECTIONS,
                            MHD_OPTION_NOTIFY_COMPLETED, complete, http,
                            MHD_OPTION_NOTIFY_CONNECTION, notice_connection, http, MHD_OPTION_ARRAY,
                            more, MHD_OPTION_END);
}

static int open_daemon(struct http *http, const struct http_settings *settings,
                       struct error *error) {
    char *certificate = NULL;
    char *key = NULL;
    int result = 0;
    if (settings->certificate != NULL &&
        ((certificate = path_read_file(settings->certificate, PEM_BYTES, NULL, error)) == NULL ||
         secret_file_check(settings->key, error) < 0 ||
         (key = path_read_file(settings->key, PEM_BYTES, NULL, error)) == NULL))
        result = -1;
    if (result == 0) {
        http->daemon = start_daemon(http, certificate, key);
        if (http->daemon == NULL)
            result = certificate != NULL
                         ? error_input(error,
                                       "TLS does not start with %s and %s: %s: give a "
                                       "certificate and its key as PEM files",
                                       settings->certificate, settings->key, http->log)
                         : error_set(error, "the HTTP server does not start: %s", http->log);
    }
    free(certificate);
    free(key);
    return result;
}

struct http *http_new(struct service *service, const struct http_settings *settings,
                      struct error *error) {
    if (http_settings_check(settings, error) < 0)
        return NULL;
    struct http *http = xcalloc(1, sizeof *http);
    http->service = service;
    http->listener.descriptor = -1;
    if ((settings->tokens != NULL &&
         (http->tokens = tokens_read(settings->tokens, error)) == NULL) ||
        listener_open(&http->listener, settings->listen, error) < 0 ||
        open_daemon(http, settings, error) < 0) {
        listener_close(&http->listener);
        tokens_free(http->tokens);
        free(http);
        return NULL;
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    http->epoll = info->epoll_fd;
    http->swept_s = clock_seconds();
    snprintf(http->url, sizeof http->url, "http%s://%s", settings->certificate != NULL ? "s" : "",
             http->listener.address);
    tasks_on_done(service->tasks, wake_for_task, http);
    return http;
}

const char *http_url(const struct http *http) {
    return http->url;
}

int http_descriptors(const struct http *http, struct pollfd *polled, int limit) {
    if (limit < 1)
        return 0;
    *polled = (struct pollfd){.fd = http->epoll, .events = POLLIN};
    return 1;
}

double http_wait_s(const struct http *http) {
    MHD_UNSIGNED_LONG_LONG timeout_ms = 0;
    double now_s = clock_seconds();
    double wait_s = fmin(1, interval_s(INTERVAL_HTTP_REQUEST) / 4);
    if (MHD_get_timeout(http->daemon, &timeout_ms) == MHD_YES)
        wait_s = fmin(wait_s, (double)timeout_ms / 1000);
    for (const struct http_request *at = http->requests; at != NULL; at = at->after)
        if (at->is_waiting)
            wait_s = fmin(wait_s, at->deadline_s - now_s);
    return fmax(wait_s, 0);
}

void http_step(struct http *http) {
    sweep(http);
    MHD_run(http->daemon);
}

void http_stop(struct http *http, double timeout_s) {
    double deadline_s = clock_seconds() + timeout_s;
    double now_s;
    MHD_socket socket = MHD_quiesce_daemon(http->daemon);
    http->stops = true;
    for (struct http_request *request = http->requests; request != NULL; request = request->after)
        wake(request);
    do {
        struct pollfd polled;
        MHD_run(http->daemon);
        now_s = clock_seconds();
        if (http->requests != NULL && now_s < deadline_s)
            poll(&polled, (nfds_t)http_descriptors(http, &polled, 1),
                 (int)(fmin(http_wait_s(http), deadline_s - now_s) * 1000) + 1);
    } while (http->requests != NULL && now_s < deadline_s);
    if (socket != MHD_INVALID_SOCKET)
        listener_close(&http->listener);
}

void http_free(struct http *http) {
    if (http == NULL)
        return;
    http->stops = true;
    for (struct http_request *request = http->requests; request != NULL; request = request->after)
        wake(request);
    MHD_run(http->daemon);
    tasks_on_done(http->service->tasks, NULL, NULL);
    MHD_stop_daemon(http->daemon);
    tokens_free(http->tokens);
    free(http);
}
