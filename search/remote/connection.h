/*
 * connection: the connection to a NATS server with JetStream. This page specifies the protocol
 * between coordinator and workers.
 *
 * A run has an id (16 hexadecimal digits). On the server it owns:
 *
 *   evotile_runs     key ID              the run's description and champions (remote/messages.h),
 *                                        refreshed every few seconds while its coordinator lives
 *   evotile_files    key ID.HASH.N       its files in chunks (remote/file_transfer.h), and those of
 *                                        clients' solutions (remote/solution_uploads.h)
 *   EVOTILE_TRIALS   evotile.trial.ID    requests (pool/protocol.h): a work queue with one durable
 *                                        pull consumer, named ID, shared by all workers
 *   EVOTILE_RESULTS  evotile.result.ID   results (pool/protocol.h), for the coordinator
 *   no stream        evotile.beat.ID     each worker's heartbeat, every two seconds
 *
 * The first two are key-value stores, the next two streams; all four are stored on disk.
 *
 * Message ids make delivery idempotent. Requests and results carry the header Nats-Msg-Id:
 * SESSION-NUMBER, counted by the coordinator: it is unique to a request, and a result has the id of
 * its request. The server drops duplicates within two minutes; the coordinator accepts one result
 * for each pending request and drops all others. So a trial has one outcome, even if it runs twice.
 *
 * Leases and redelivery. A worker acknowledges a request after the server has stored its result.
 * Until then it extends its lease at every third of ack_wait_s; a worker that fails to do so is
 * considered dead, and the server redelivers the request to another. Requests that have no result
 * although both queues are empty are published again with a new message id.
 *
 *     const struct connection_settings settings = {.url = "nats://localhost:4222"};
 *     struct connection *connection = connection_open(&settings, &error);
 *     ...
 *     connection_close(connection);
 *
 * The NATS library reconnects by itself. Calls made while it is disconnected fail; retry them.
 */
#ifndef EVOTILE_REMOTE_CONNECTION_H
#define EVOTILE_REMOTE_CONNECTION_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Increment it when a message changes. */
enum { QUEUE_PROTOCOL_VERSION = 9 };

enum {
    QUEUE_ID_SIZE = 17,          /* of a run or a worker */
    MESSAGE_ID_SIZE = 48,        /* of a message id */
    QUEUE_MESSAGE_MAX = 1 << 20, /* bytes; longer messages are dropped */
    QUEUE_DELIVERIES_MAX = 3,    /* after so many deliveries without a result: a dead letter: its
                                    trial gets the verdict crashed */
    QUEUE_SUBJECT_SIZE = 64,
};

struct connection_settings {
    const char *url;         /* nats://HOST:4222 or tls://..., with user:password@ or token@ */
    const char *credentials; /* a file that only its owner can read (set_credentials in
                                connection.c lists the formats); NULL: none */
    const char *authority;   /* a file: TLS root certificates; NULL: the system's */
    bool insecure;           /* allows another host without credentials */
};

struct connection;

/* Another host without credentials is an error unless `insecure`. One connection per process. */
struct connection *connection_open(const struct connection_settings *settings, struct error *error);
void connection_close(struct connection *connection);

/* True if the server is connected; logs each change. */
bool connection_is_up(struct connection *connection);

/* Finds the first control character (C0, DEL, C1) in a JSON text, raw or as an escape, since a
   terminal would interpret it. Sets `length` to its size in bytes. NULL: there is none. */
const char *find_control_character(const char *text, int *length);

/* Fills `id` with 16 random hexadecimal digits. */
void random_id(char id[QUEUE_ID_SIZE]);

#endif
