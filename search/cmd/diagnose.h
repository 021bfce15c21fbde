/*
 * diagnose: a genome under the emulated device's microscope (device/ptx/microscope.h), on the
 * template's small cases and, where they are small too, on its own, in this process: what `try
 * --diagnose` prints.
 *
 *     int status = diagnose_genome(config, goal, "emulated:sm_89", "WARPS=2", json, &error);
 *
 * Returns an exit status, STATUS_GATE where anything was wrong, or -1 with the error.
 */
#ifndef EVOTILE_CMD_DIAGNOSE_H
#define EVOTILE_CMD_DIAGNOSE_H

#include "config/config.h"

int diagnose_genome(const struct config *config, int goal, const char *device, const char *genome,
                    bool json, struct error *error);

#endif
