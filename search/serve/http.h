/*
 * http: the requests of any number of clients over HTTP, in the same messages as on a pipe.
 * docs/serve.md lists paths and status codes.
 *
 *     const struct http_settings settings = {.listen = "127.0.0.1:8000"};
 *     struct http *http = http_new(&service, &settings, &error);
 *     while (running) {
 *         poll(polled, http_descriptors(http, polled, limit), (int)(http_wait_s(http) * 1000));
 *         http_step(http);
 *     }
 *     http_stop(http, 2);
 *     http_free(http);
 *
 * Beyond loopback it needs tokens and TLS. Clients are kept apart by their tokens; without tokens
 * they are all on this host, and a task is found only by its key, which others cannot guess.
 * Bodies, connections, requests of one client and the time that a request takes to arrive are
 * bounded.
 */
#ifndef EVOTILE_SERVE_HTTP_H
#define EVOTILE_SERVE_HTTP_H

#include "serve/service.h"

#include <poll.h>

struct http;

struct http_settings {
    const char *listen;            /* HOST:PORT */
    const char *tokens;            /* a file of tokens; NULL: every client on this host */
    const char *certificate, *key; /* PEM files; NULL: no TLS */
};

/* Refuses an address beyond loopback without tokens and TLS; also called by http_new. */
int http_settings_check(const struct http_settings *settings, struct error *error);

/* Answers the service's tasks from now on. */
struct http *http_new(struct service *service, const struct http_settings *settings,
                      struct error *error);
void http_free(struct http *http);

/* "http://127.0.0.1:8000", with the port that was opened. */
const char *http_url(const struct http *http);

int http_descriptors(const struct http *http, struct pollfd *polled, int limit);
/* Until http_step has something to do, if no descriptor says so before; at most a second. */
double http_wait_s(const struct http *http);
void http_step(struct http *http);

/* Accepts no more, answers the requests that wait with an error, and waits up to `timeout_s` until
   they have it. */
void http_stop(struct http *http, double timeout_s);

#endif
