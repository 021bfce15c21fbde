/*
 * gate_wisdom: the gate of a wisdom store or file: every entry is verified as a new champion is,
 * and timed again. What no longer holds is marked in the store. What was checked longest ago comes
 * first, and before it what was not checked with the driver of now.
 *
 *     const struct gate_wisdom_options options = {.tolerance = 5};
 *     int status = gate_wisdom_run("app.wisdom", &options, &error);    // an exit status, or -1
 */
#ifndef EVOTILE_CLI_GATE_WISDOM_H
#define EVOTILE_CLI_GATE_WISDOM_H

#include "base/error.h"

struct gate_wisdom_options {
    const char *device;     /* a list of one model, which shares the entries; NULL: auto */
    const char *templates;  /* searched for templates first; NULL: none */
    const char *verify_key; /* of a packed file; NULL: none */
    double tolerance;       /* percent that an entry may be slower than its figure */
    double seconds;         /* no entry but the first starts after these; 0: all are tried */
};

/* Prints one JSON object. */
int gate_wisdom_run(const char *path, const struct gate_wisdom_options *options,
                    struct error *error);

#endif
