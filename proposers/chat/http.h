/*
 * http: one question to a chat/completions server, over libcurl.
 *
 *     struct http_server server;
 *     if (http_server_init(&server, url, key, 300, &error) < 0)
 *         return -1;
 *     struct http_result result;
 *     int status = http_ask(&server, body, take_bytes, context, &result, &error);
 *     http_server_release(&server);
 *
 * The key travels in a header of the request and nowhere else: not over http:// to another host,
 * not to where a server redirects, and what the server says is redacted (redact.h) before it is
 * shown.
 */
#ifndef EVOTILE_PROPOSERS_CHAT_HTTP_H
#define EVOTILE_PROPOSERS_CHAT_HTTP_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct http_server {
    void *curl;
    char *url, *key;
    void *headers;
};

/* `url`: of the API, https://HOST/v1, or of its chat/completions. `key`: NULL for a server that
   wants none. A connection without a byte for `idle_s` seconds is cut. The caller has called
   curl_global_init. */
int http_server_init(struct http_server *server, const char *url, const char *key, double idle_s,
                     struct error *error);
void http_server_release(struct http_server *server);

struct http_result {
    long status;          /* 0: no answer came */
    double retry_after_s; /* what the server asks to wait; 0: it does not say */
    bool worth_retrying;  /* a limit of rate, a fault of the server, a cut connection */
    char message[512];    /* of a status other than 200, or of the failed connection; no secrets */
};

/* Returns false to stop. */
typedef bool http_bytes(void *context, const char *bytes, size_t count);

/* Sends `body`, JSON, and passes the answer's bytes on as they arrive, if its status is 200.
   Returns 0 for status 200 that ended as HTTP says; -1 otherwise, with an error and what `result`
   says. */
int http_ask(struct http_server *server, const char *body, http_bytes *take, void *context,
             struct http_result *result, struct error *error);

#endif
