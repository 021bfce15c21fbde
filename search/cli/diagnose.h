/*
 * diagnose: checks a genome's memory accesses and synchronisation on an emulated device
 * (racecheck.h) and prints the findings, for `try --diagnose`. It runs, in this process, the
 * template's small cases and, if they are small too, the goal's own.
 *
 *     int status = diagnose_genome(config, goal, "emulated:sm_89", "WARPS=2", json, &error);
 *
 * Returns an exit status (STATUS_GATE if the verdict is not ok or a fault was found), or -1 with
 * `error` filled.
 */
#ifndef EVOTILE_CLI_DIAGNOSE_H
#define EVOTILE_CLI_DIAGNOSE_H

#include "config/config.h"

int diagnose_genome(const struct config *config, int goal, const char *device, const char *genome,
                    bool json, struct error *error);

#endif
