/*
 * server: the loop over the judge and its clients, until it is stopped or a client on a pipe is
 * done. Clients come over HTTP if the settings name an address, else one client on a pipe.
 *
 *     const struct server_settings settings = {.input = 0, .output = 1, .version = "1.2.3"};
 *     if (server_run(judge, &settings, &error) < 0)
 *         return error_report(&error);
 *
 * SIGINT and SIGTERM end it: each task that is not done is answered with an error, and 0 is
 * returned. SIGPIPE must be ignored. The judge stays the caller's.
 */
#ifndef EVOTILE_SERVE_SERVER_H
#define EVOTILE_SERVE_SERVER_H

#include "serve/http.h"
#include "serve/judge.h"

struct server_settings {
    struct http_settings http; /* http.listen is NULL: the pipe */
    int input, output;         /* of the pipe; over HTTP the hello goes to `output` */
    const char *version;
};

/* -1: the address cannot be opened, or the judge cannot go on; the clients get an error then. */
int server_run(struct judge *judge, const struct server_settings *settings, struct error *error);

#endif
