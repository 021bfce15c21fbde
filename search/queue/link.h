/*
 * link: the connection to a NATS server with JetStream, and how evotile uses it: this page is the
 * protocol.
 *
 * A run has an id (16 hexadecimal digits). What belongs to it:
 *
 *   evotile_runs     key ID              what the run is and who its champions are
 *                                        (queue/notice.h), put again every few seconds for as long
 *                                        as its coordinator lives
 *   evotile_files    key ID.HASH.N       its files in chunks (queue/parcel.h)
 *   EVOTILE_TRIALS   evotile.trial.ID    requests (trial/wire.h): a work queue, from whose one
 *                                        consumer, named ID, all workers pull
 *   EVOTILE_RESULTS  evotile.result.ID   results (trial/wire.h), for the coordinator
 *   no stream        evotile.beat.ID     what each worker is and does, every two seconds
 *
 * The first two are key-value stores, the next two streams, all on disk.
 *
 * Requests and results bear the header Nats-Msg-Id: SESSION-NUMBER, counted by the coordinator: no
 * two requests have the same, a result has its request's. The server drops what comes twice within
 * two minutes; the coordinator takes a result once, and none that it does not wait for. So a trial
 * has one outcome, although it may be done twice: a worker acknowledges a request once the server
 * has its result, says before that every third of the patience that it is at it, and has vanished
 * when it does not. What has no result although both queues are empty is asked again, under another
 * mark.
 *
 *     const struct link_settings settings = {.url = "nats://localhost:4222"};
 *     struct link *link = link_open(&settings, &error);
 *     ...
 *     link_close(link);
 *
 * The library connects again by itself; what is called meanwhile fails, and is to be tried again.
 */
#ifndef EVOTILE_QUEUE_LINK_H
#define EVOTILE_QUEUE_LINK_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Raise it when a message changes. */
enum { QUEUE_PROTOCOL = 4 };

enum {
    QUEUE_ID_SIZE = 17,          /* of a run or a worker */
    QUEUE_MARK_SIZE = 48,        /* of a request */
    QUEUE_MESSAGE_MAX = 1 << 20, /* bytes; what is longer is not read */
    QUEUE_DELIVERIES_MAX = 3,    /* a request that so many workers vanished with has crashed */
    QUEUE_SUBJECT_SIZE = 64,
};

struct link_settings {
    const char *url;         /* nats://HOST:4222 or tls://..., with user:password@ or token@ */
    const char *credentials; /* a file that only its user may read (link.c says what may stand
                                there); NULL: none */
    const char *authority;   /* a file: whom TLS trusts; NULL: whom the system trusts */
    bool insecure;           /* without credentials to another host */
};

struct link;

/* Refuses another host without credentials. One link a process. */
struct link *link_open(const struct link_settings *settings, struct error *error);
void link_close(struct link *link);

/* Whether the server is there; tells of it when that changes. */
bool link_is_up(struct link *link);

/* The first control character (C0, DEL, C1) of a JSON text, as itself or as an escape, and how many
   bytes it takes: what a terminal would obey. NULL: there is none. */
const char *link_control(const char *text, int *length);

/* Random digits. */
void link_id(char id[QUEUE_ID_SIZE]);

#endif
