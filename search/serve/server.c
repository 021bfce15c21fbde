#include "serve/server.h"

#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "serve/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { POLLED_MAX = 1024 };
static const double STEP_S = 0.1; /* the judge looks at its processes so often */
static const double STOP_S = 2;   /* clients have so long to read their last answers */

/* What a signal handler writes to, so that poll wakes up. */
static volatile sig_atomic_t signal_output = -1;

static void pass_signal(int number) {
    int saved = errno;
    char byte = (char)number;
    if (write(signal_output, &byte, 1) < 0)
        errno = 0; /* full: it was woken before */
    errno = saved;
}

struct server {
    struct service service;
    struct pipe *pipe;
    struct http *http;
    int signals[2];
    struct sigaction old_int, old_term;
    struct pollfd polled[POLLED_MAX];
};

/* A program that is started by this one must not get this one's handlers or descriptors. */
static int catch_signals(struct server *server, struct error *error) {
    struct sigaction action = {.sa_handler = pass_signal, .sa_flags = SA_RESTART};
    if (pipe2(server->signals, O_CLOEXEC | O_NONBLOCK) < 0)
        return error_set(error, "no pipe can be opened: %s: raise ulimit -n", strerror(errno));
    signal_output = server->signals[1];
    sigaction(SIGINT, &action, &server->old_int);
    sigaction(SIGTERM, &action, &server->old_term);
    return 0;
}

static void release_signals(struct server *server) {
    sigaction(SIGINT, &server->old_int, NULL);
    sigaction(SIGTERM, &server->old_term, NULL);
    signal_output = -1;
    close(server->signals[0]);
    close(server->signals[1]);
}

static bool is_stopped(const struct server *server) {
    struct pollfd polled = {.fd = server->signals[0], .events = POLLIN};
    return poll(&polled, 1, 0) > 0;
}

static void wait_for_work(struct server *server, bool at_once) {
    double wait_s = at_once ? 0 : STEP_S;
    struct pollfd *polled = server->polled;
    int count = 0;
    polled[count++] = (struct pollfd){.fd = server->signals[0], .events = POLLIN};
    if (server->pipe != NULL)
        count += pipe_descriptors(server->pipe, polled + count, POLLED_MAX - count);
    if (server->http != NULL) {
        count += http_descriptors(server->http, polled + count, POLLED_MAX - count);
        wait_s = fmin(wait_s, http_wait_s(server->http));
    }
    count += judge_descriptors(server->service.judge, polled + count, POLLED_MAX - count);
    poll(polled, (nfds_t)count, (int)ceil(wait_s * 1000));
}

static void step_clients(struct server *server) {
    if (server->pipe != NULL)
        pipe_step(server->pipe);
    if (server->http != NULL)
        http_step(server->http);
}

static int run_loop(struct server *server, struct error *error) {
    int more = 1;
    while (!is_stopped(server)) {
        wait_for_work(server, more > 0 || server->service.has_news);
        step_clients(server);
        int64_t finished = server->service.finished;
        more = service_step(&server->service, error);
        if (more < 0)
            return -1;
        if (server->service.finished > finished)
            step_clients(server); /* the answers leave before the next wait */
        if (server->pipe != NULL && pipe_is_finished(server->pipe))
            return 0;
    }
    return 0;
}

static void stop_clients(struct server *server, const char *text) {
    if (server->pipe != NULL)
        pipe_stop(server->pipe, text, STOP_S);
    if (server->http != NULL)
        http_stop(server->http, STOP_S);
}

/* Over HTTP the hello says where; a program that starts a server with port 0 reads it. */
static void announce(struct server *server, int output) {
    char *text = json_print_line(service_hello(&server->service, http_url(server->http)));
    dprintf(output, "%s\n", text);
    free(text);
    log_info("listening on %s", http_url(server->http));
}

static int open_clients(struct server *server, const struct server_settings *settings,
                        struct error *error) {
    if (settings->http.listen == NULL) {
        server->pipe = pipe_new(&server->service, settings->input, settings->output);
        return 0;
    }
    server->http = http_new(&server->service, &settings->http, error);
    if (server->http == NULL)
        return -1;
    announce(server, settings->output);
    return 0;
}

int server_run(struct judge *judge, const struct server_settings *settings, struct error *error) {
    struct server *server = xcalloc(1, sizeof *server);
    if (catch_signals(server, error) < 0) {
        free(server);
        return -1;
    }
    service_init(&server->service, judge, &task_limits_default, settings->version);
    int result = open_clients(server, settings, error);
    if (result == 0) {
        char text[sizeof error->text + 64];
        result = run_loop(server, error);
        snprintf(text, sizeof text, "the server stops%s%s: send it again when it has started",
                 result < 0 ? ": " : "", result < 0 ? error->text : "");
        if (server->pipe == NULL || !pipe_is_finished(server->pipe))
            stop_clients(server, text);
    }
    pipe_free(server->pipe);
    http_free(server->http);
    service_release(&server->service);
    release_signals(server);
    free(server);
    return result;
}
