/*
 * outbox: the requests of a coordinator that have no result yet. Private to queue/remote.c.
 *
 *     outbox_add(outbox, &request);              // takes it over
 *     outbox_send(outbox);                       // often: sends, and again what did not arrive
 *     struct sent *sent = outbox_find(outbox, mark);
 *     if (sent != NULL) outbox_done(outbox, sent);
 *
 * The server acknowledges what it has stored; what it did not acknowledge for some seconds is sent
 * again under the same mark, so that it has it once.
 */
#ifndef EVOTILE_QUEUE_OUTBOX_H
#define EVOTILE_QUEUE_OUTBOX_H

#include "queue/server.h"
#include "trial/trial.h"

struct sent {
    int64_t serial; /* its mark is SESSION-SERIAL */
    int64_t number; /* of the trial */
    int goal;
    struct genome genome;
    char *line;
    bool stored;      /* the server has it */
    double published; /* clock_seconds; 0: not yet */
};

struct outbox;

/* For the run of that id. */
struct outbox *outbox_new(struct link *link, const char *run, struct error *error);
/* Before the link is closed, for the library frees no message after that; and after it, for its
   thread tells until then what has arrived. */
void outbox_stop(struct outbox *outbox);
void outbox_free(struct outbox *outbox);

void outbox_add(struct outbox *outbox, const struct trial_request *request);
void outbox_send(struct outbox *outbox);
/* The request that a mark is of; NULL: it was done, or is of an earlier session. */
struct sent *outbox_find(struct outbox *outbox, const char *mark);
void outbox_done(struct outbox *outbox, struct sent *sent);
/* All are sent again, under their marks: for a server that may not have them. */
void outbox_again(struct outbox *outbox);
/* Under another mark: the old request is done with, and its result was no use. */
void outbox_renew(struct outbox *outbox, struct sent *sent);
/* The same of all that the server had: how many. */
int outbox_renew_stored(struct outbox *outbox);

#endif
