/*
 * listener: the socket that a server listens on.
 *
 *     struct listener listener;
 *     if (listener_open(&listener, "127.0.0.1:8000", &error) == 0)
 *         puts(listener.address);
 *     listener_close(&listener);
 */
#ifndef EVOTILE_SERVE_LISTENER_H
#define EVOTILE_SERVE_LISTENER_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/socket.h>

enum { LISTENER_TEXT_SIZE = 160 };

struct listener {
    int descriptor;
    bool is_loopback;
    char host[LISTENER_TEXT_SIZE];    /* as it was given, without brackets */
    char address[LISTENER_TEXT_SIZE]; /* HOST:PORT of a URL, with the port that was opened */
};

/* `text` is HOST:PORT or [HOST]:PORT; port 0: any that is free. */
int listener_open(struct listener *listener, const char *text, struct error *error);
/* What listener_open would find, without opening it. -1: the text or the host is wrong. */
int listener_is_loopback(const char *text, bool *is_loopback, struct error *error);
void listener_close(struct listener *listener);

/* Whether a peer's address is of this host's loopback. */
bool address_is_loopback(const struct sockaddr *address);

#endif
