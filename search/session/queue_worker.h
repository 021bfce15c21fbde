/* queue_worker: evaluates trials of the runs on a queue on this host's devices, one run at a time.
 *
 * The engine behind `evotile worker --queue`. For each run it fetches the config and the template,
 * starts a local pool, and evaluates trials until the run has no more work. It leaves a run if the
 * coordinator is silent for a minute, and refuses a run whose population was measured on another
 * device model, driver, NVRTC or with another method.
 *
 *     const struct queue_worker_settings settings = {
 *         .connection = {.url = "nats://localhost:4222"}, .devices = "auto",
 *         .compile_workers = -1};
 *     int status = queue_worker_run(&settings, &error);     // until a signal, or idle for too long
 */
#ifndef EVOTILE_SESSION_QUEUE_WORKER_H
#define EVOTILE_SESSION_QUEUE_WORKER_H

#include "remote/connection.h"

struct queue_worker_settings {
    struct connection_settings connection;
    const char *devices;     /* a list, as for `run --device` */
    int64_t compile_workers; /* -1: as many as cores and memory allow */
    int64_t device_workers;  /* per device; 0: one */
    double idle_s;           /* return after so long without work; 0: never */
};

/* Blocks; handles SIGINT and SIGTERM. Returns 0 after a signal or when idle for idle_s; -1 with
   `error` filled. */
int queue_worker_run(const struct queue_worker_settings *settings, struct error *error);

#endif
