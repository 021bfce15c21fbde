/*
 * intervals: how often the program does what it does periodically, and how long it waits, in
 * seconds. Tests shorten them by name:
 *
 *     EVOTILE_INTERVALS=status=0.05,worker_exit=0.5 evotile run ...
 *
 *     struct error error;
 *     if (intervals_check(&error) < 0)                            // at the start of the program
 *         return STATUS_USAGE;
 *     bool is_due = clock_seconds() - written > interval_s(INTERVAL_STATUS);
 *
 * Child processes inherit the variable; workers on other hosts do not.
 */
#ifndef EVOTILE_BASE_INTERVALS_H
#define EVOTILE_BASE_INTERVALS_H

#include "base/error.h"

/* ROW(constant, name, seconds) */
#define INTERVALS(ROW)                                                                             \
    /* from one status.json to the next */                                                         \
    ROW(INTERVAL_STATUS, "status", 1)                                                              \
    /* a session waits so long for the workers of an earlier one to exit */                        \
    ROW(INTERVAL_WORKER_EXIT, "worker_exit", 30)                                                   \
    /* from one heartbeat of a worker to the next, and without one until it is removed */          \
    ROW(INTERVAL_HEARTBEAT, "heartbeat", 2)                                                        \
    ROW(INTERVAL_HEARTBEAT_TIMEOUT, "heartbeat_timeout", 15)                                       \
    /* a worker on a queue reads its run's description */                                          \
    ROW(INTERVAL_RUN_POLL, "run_poll", 2)                                                          \
    /* a coordinator renews its run's description */                                               \
    ROW(INTERVAL_DESCRIBE, "describe", 5)                                                          \
    /* without an acknowledgement, until a request or a result is sent again */                    \
    ROW(INTERVAL_REQUEST_RESEND, "request_resend", 5)                                              \
    ROW(INTERVAL_RESULT_RESEND, "result_resend", 1)                                                \
    /* a request over HTTP takes so long to arrive, and its answer to be read */                   \
    ROW(INTERVAL_HTTP_REQUEST, "http_request", 60)

enum interval {
#define INTERVAL_CONSTANT(constant, name, seconds) constant,
    INTERVALS(INTERVAL_CONSTANT)
#undef INTERVAL_CONSTANT
        INTERVAL_COUNT
};

double interval_s(enum interval interval);

/* Reports an unknown name or a time that is not positive in EVOTILE_INTERVALS. */
int intervals_check(struct error *error);

#endif
