/*
 * outbox: the coordinator's requests that have no result yet. Private to remote_pool.c.
 *
 *     outbox_add(outbox, &request);              // takes ownership
 *     outbox_send(outbox);                       // often: publishes new and unacknowledged ones
 *     struct outbox_request *pending = outbox_find(outbox, message_id);
 *     if (pending != NULL)
 *         outbox_remove(outbox, pending);
 *
 * The server acknowledges each request that it has stored. A request without acknowledgement is
 * published again after some seconds with the same message id, so the server stores it once.
 */
#ifndef EVOTILE_REMOTE_OUTBOX_H
#define EVOTILE_REMOTE_OUTBOX_H

#include "evaluate/trial.h"
#include "remote/connection_internal.h"
#include "remote/solution_uploads.h"

struct outbox_request {
    int64_t serial; /* its message id is SESSION-SERIAL */
    int64_t number; /* of the trial */
    int goal;
    struct genome genome;
    char *line;
    char solutions[2][SOLUTION_PATH_SIZE]; /* whose files it needs on the queue; empty: none */
    char *refused;                         /* why it cannot be sent; NULL: it can. Owned */
    bool stored;                           /* acknowledged by the server */
    double last_published;                 /* clock_seconds; 0: not yet */
};

struct outbox;

/* `run` is the run's id. */
struct outbox *outbox_new(struct connection *connection, const char *run, struct error *error);
/* Call outbox_stop before the connection is closed, since the library frees no message afterwards;
   and outbox_free after it, since the library's thread reports acknowledgements until then. */
void outbox_stop(struct outbox *outbox);
void outbox_free(struct outbox *outbox);

/* Of a server: what the requests' solutions are uploaded by, which must outlive the outbox.
   Requests then name config and solution as below `folder` (remote/solution_uploads.h). */
void outbox_set_uploads(struct outbox *outbox, struct solution_uploads *uploads,
                        const char *folder);

void outbox_add(struct outbox *outbox, const struct trial_request *request);
void outbox_send(struct outbox *outbox);
/* The request with that message id; NULL: it has its result, or belongs to an earlier session. */
struct outbox_request *outbox_find(struct outbox *outbox, const char *message_id);
void outbox_remove(struct outbox *outbox, struct outbox_request *pending);
/* A request that cannot be sent, with the reason in `refused`; NULL: there is none. */
struct outbox_request *outbox_refused(struct outbox *outbox);
/* Publishes all again with their message ids: for a server that may have lost them. */
void outbox_resend_all(struct outbox *outbox);
/* Gives the request a new message id and publishes it again: its result was unusable. */
void outbox_renew_id(struct outbox *outbox, struct outbox_request *pending);
/* Does the same with all requests that the server has acknowledged; returns how many. */
int outbox_renew_acknowledged(struct outbox *outbox);

#endif
