/*
 * evaluation_judge: the judge of a server: evaluates clients' solutions of one problem, on a GPU
 * and on the emulated device with its architecture, and keeps a champion for each goal.
 *
 *     const struct evaluation_judge_settings settings = {
 *         .config_path = "configs/demo.json", .device = "auto", .compile_workers = -1};
 *     struct judge *judge = evaluation_judge_new(&settings, &error);
 *     judge_free(judge);
 *
 * A request of type "evaluate" names a solution, perhaps a genome (else the default one), a goal
 * and a level:
 *
 * - static: it compiles, and its resources are within the limits; nothing runs
 * - emulated: it is right on the emulated device and passes a champion's final checks; no GPU is
 * used
 * - device: it is right on the device, and timed as a trial of a search is
 * - champion: the same with a champion's final checks, and a duel against the goal's champion
 *
 * The device's workers may be on a queue (`queue`); see docs/serve.md.
 *
 * The same candidate at the same level has the same answer, which is kept. Requests of the types
 * "ask" and "tell" go to a strategy: serve/proposals.h.
 */
#ifndef EVOTILE_SERVE_EVALUATION_JUDGE_H
#define EVOTILE_SERVE_EVALUATION_JUDGE_H

#include "remote/connection.h"
#include "serve/judge.h"

struct evaluation_judge_settings {
    const char *config_path;
    const char *templates; /* the folder in which templates are looked up first, or NULL */
    const char *device;    /* as a config's "device"; NULL: the config's */
    const char *folder;    /* for clients' solutions; NULL: a temporary one, removed at the end */
    const char *program;   /* that has the workers; NULL: this one */
    int compile_workers;   /* -1: as many as cores and memory allow */
    struct connection_settings queue; /* url NULL: the workers are on this host */
    double redeliver_s;               /* of remote/remote_pool.h; 0: its default */
};

/* Starts the workers and waits for them. */
struct judge *evaluation_judge_new(const struct evaluation_judge_settings *settings,
                                   struct error *error);

#endif
