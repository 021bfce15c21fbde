/* server: what the files of queue/ share of the NATS library, and private to them: nobody else
   includes its header. The protocol stands in queue/link.h. */
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
    bool was_up;           /* link_is_up, all three */
    char server[64];
    int epoch; /* how many server processes there were. One that was killed may count its messages
                  from 1 again: what another numbered is not acknowledged to it, and its consumers
                  are to be made anew */
    double warned; /* clock_seconds; link_refused */
};

/* -1 with what the library says. */
int link_fail(natsStatus status, const char *doing, struct error *error);

/* The server is there and does not take such things, which are sent again: warns of it with what
   the library says, once a minute at most. */
void link_refused(struct link *link, const char *things, natsStatus status);
/* The same, with what the server said. */
void link_refused_for(struct link *link, const char *things, const char *why);

/* Finds the key-value stores; `make`: makes them and the streams where they are missing, and else 1
   says that they are. */
int link_bind(struct link *link, bool make, struct error *error);

/* "evotile.trial.ID" for "trial" */
void link_subject(char subject[QUEUE_SUBJECT_SIZE], const char *kind, const char *id);
/* A message with its mark. The caller destroys it. */
natsMsg *link_message(const char *kind, const char *id, const char *mark, const char *line);
/* What bears a mark and is no longer than it may be, as text that the caller frees; else NULL.
   Control characters other than tabs and ends of lines are blanks in it. */
char *link_text(natsMsg *message, char mark[QUEUE_MARK_SIZE]);

#endif
