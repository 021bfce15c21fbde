/*
 * pipe: a single client that sends requests as lines on one descriptor and reads answers as lines
 * on another, in any order; a request's "id" comes back with its answer.
 *
 *     struct pipe *pipe = pipe_new(&service, STDIN_FILENO, STDOUT_FILENO);
 *     while (!pipe_is_finished(pipe)) {
 *         poll(polled, pipe_descriptors(pipe, polled, limit), 100);
 *         pipe_step(pipe);
 *     }
 *     pipe_free(pipe);
 *
 * Nothing blocks. Where the client has as many tasks as it may, or does not read its answers, its
 * requests are left unread until it does: none is refused for want of room, and none is lost.
 */
#ifndef EVOTILE_SERVE_PIPE_H
#define EVOTILE_SERVE_PIPE_H

#include "serve/service.h"

#include <poll.h>
#include <stdbool.h>

struct pipe;

/* Sends the hello, and answers the service's tasks from now on. A negative `input` has ended
   already. The descriptors stay the caller's, and their flags as they are. */
struct pipe *pipe_new(struct service *service, int input, int output);
void pipe_free(struct pipe *pipe);

int pipe_descriptors(const struct pipe *pipe, struct pollfd *polled, int limit);
/* Reads what has come, submits the requests and sends the answers that are there. */
void pipe_step(struct pipe *pipe);
/* What pipe_step does with bytes that it has read. */
void pipe_feed(struct pipe *pipe, const char *bytes, size_t size);

/* The input ended and every answer was sent; or the client is gone. */
bool pipe_is_finished(const struct pipe *pipe);
bool pipe_is_gone(const struct pipe *pipe);

/* Reads no more, answers each task that is not done with an error of that text, and waits up to
   `timeout_s` for the client to read them. */
void pipe_stop(struct pipe *pipe, const char *text, double timeout_s);

#endif
