/* connection_internal: what the files of this folder share of the NATS library. Private to them:
   no other folder includes <nats/nats.h>. The protocol is specified in remote/connection.h. */
#ifndef EVOTILE_REMOTE_CONNECTION_INTERNAL_H
#define EVOTILE_REMOTE_CONNECTION_INTERNAL_H

#include "remote/connection.h"

#include <nats/nats.h>

#define QUEUE_RUNS    "evotile_runs"
#define QUEUE_FILES   "evotile_files"
#define QUEUE_TRIALS  "EVOTILE_TRIALS"
#define QUEUE_RESULTS "EVOTILE_RESULTS"

struct connection {
    natsConnection *nats;
    jsCtx *js;
    kvStore *runs, *files; /* NULL before connection_bind_streams */
    /* State of connection_is_up. */
    bool was_up;
    char server[64];
    int epoch; /* number of server processes seen so far. A killed server may restart its message
                  sequence at 1, so messages of an earlier epoch are not acknowledged, and consumers
                  are created again for each epoch */
    double last_warning; /* clock_seconds; state of connection_warn_rejected */
};

/* Returns -1 with the library's message. */
int connection_fail(natsStatus status, const char *doing, struct error *error);

/* The library's last error message without its source position "(conn.c:1905): ". */
const char *connection_last_error(natsStatus status);
/* Warns, at most once a minute, that the server is up but rejects `things`; the caller retries. */
void connection_warn_rejected(struct connection *connection, const char *things, const char *why);

/* Opens the key-value stores. With `make` it creates missing stores and streams; without, it
   returns 1 if they are missing. */
int connection_bind_streams(struct connection *connection, bool make, struct error *error);

/* "evotile.trial.ID" for "trial" */
void subject_print(char subject[QUEUE_SUBJECT_SIZE], const char *kind, const char *id);
/* A message with its id in the header. The caller destroys it. */
natsMsg *message_new(const char *kind, const char *id, const char *message_id, const char *line);
/* The message's text, which the caller frees, and its id. NULL if it has no id or is too long.
   Control characters other than tabs and line ends are replaced by blanks. */
char *message_text(natsMsg *message, char message_id[MESSAGE_ID_SIZE]);

#endif
