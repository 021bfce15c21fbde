/*
 * diagnose: checks a genome's memory accesses and synchronisation on an emulated device
 * (racecheck.h) and prints the findings, for `try --diagnose`. It runs the template's small cases
 * and, if they are small too, the goal's own.
 *
 *     const char *const words[] = {"config.json", "--diagnose", "--genome", "WARPS=2", NULL};
 *     int status = diagnose_in_worker(words, &error);
 *
 * A candidate may be anything, so that it is compiled and run in a worker: a process that is
 * started as `evotile pool-worker diagnose`, with the words of `evotile try` behind.
 */
#ifndef EVOTILE_CLI_DIAGNOSE_H
#define EVOTILE_CLI_DIAGNOSE_H

#include "config/config.h"

/* The second argument of the worker. */
#define DIAGNOSE_WORKER "diagnose"

/* Starts the worker and copies what it prints. Returns its exit status; STATUS_GATE if it died,
   which is printed as a verdict; -1 with `error` if it does not start. `words` end with NULL. */
int diagnose_in_worker(const char *const *words, struct error *error);

/* In the worker. Returns an exit status (STATUS_GATE if the verdict is not ok or a fault was
   found), or -1 with `error` filled. */
int diagnose_genome(const struct config *config, int goal, const char *device, const char *genome,
                    bool json, struct error *error);

#endif
