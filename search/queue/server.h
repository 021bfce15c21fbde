/* connection_internal: what the files of this folder share of the NATS library. Private to them:
   no other folder includes <nats/nats.h>. The protocol is specified in remote/connection.h. */
#ifndef EVOTILE_QUEUE_SERVER_H
#define EVOTILE_QUEUE_SERVER_H

#include "queue/link.h"

#include <nats/nats.h>

#define QUEUE_RUNS    "evotile_runs"
#define QUEUE_FILES   "evotile_files"
#define QUEUE_TRIALS  "EVOTILE_TRIALS"
#define QUEUE_RESULTS "EVOTILE_RESULTS"

struct link {
    natsConnection *connection;
    jsCtx *js;
    kvStore *runs, *files; /* NULL before link_bind */
    /* State of link_is_up. */
    bool was_up;
    char server[64];
    int epoch; /* number of server processes seen so far. A killed server may restart its message
                  sequence at 1, so messages of an earlier epoch are not acknowledged, and consumers
                  are created again for each epoch */
    double warned; /* clock_seconds; state of link_refused */
};

/* Returns -1 with the library's message. */
int link_fail(natsStatus status, const char *doing, struct error *error);

/* Warns, at most once a minute, that the server is up but rejects `things`; the caller retries.
   Adds the library's message. */
void link_refused(struct link *link, const char *things, natsStatus status);
/* The same with the server's own message. */
void link_refused_for(struct link *link, const char *things, const char *why);

/* Opens the key-value stores. With `make` it creates missing stores and streams; without, it
   returns 1 if they are missing. */
int link_bind(struct link *link, bool make, struct error *error);

/* "evotile.trial.ID" for "trial" */
void link_subject(char subject[QUEUE_SUBJECT_SIZE], const char *kind, const char *id);
/* A message with its id in the header. The caller destroys it. */
natsMsg *link_message(const char *kind, const char *id, const char *mark, const char *line);
/* The message's text, which the caller frees, and its id. NULL if it has no id or is too long.
   Control characters other than tabs and line ends are replaced by blanks. */
char *link_text(natsMsg *message, char mark[QUEUE_MARK_SIZE]);

#endif
