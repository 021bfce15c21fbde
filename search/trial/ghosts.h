/*
 * ghosts: workers that were killed and have not gone: a driver that clears up after a hang can hold
 * them for minutes, and until then their kernel may still run. Private to trial/crew.c.
 *
 *     ghosts_add(&ghosts, "device", 0, process);      // what process_stop left behind
 *     ghosts_look(&ghosts);                           // now and then: forgets who went
 *     if (ghosts_at(&ghosts, 0)) ... time nothing there ...
 */
#ifndef EVOTILE_TRIAL_GHOSTS_H
#define EVOTILE_TRIAL_GHOSTS_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

enum { GHOSTS_MAX = 64, GHOST_NOWHERE = -1 };

struct ghost {
    const char *role;
    int device; /* GHOST_NOWHERE: it had none */
    pid_t process;
    double since; /* clock_seconds */
};

struct ghosts {
    int count;
    struct ghost items[GHOSTS_MAX];
};

/* Warns of it; process 0 is none. Where there are too many, the oldest is forgotten. */
void ghosts_add(struct ghosts *ghosts, const char *role, int device, pid_t process);
void ghosts_look(struct ghosts *ghosts);
/* Whether one is on that device. */
bool ghosts_at(const struct ghosts *ghosts, int device);
/* -1, with the remedy, where one has been there for too long. */
int ghosts_check(const struct ghosts *ghosts, int device, struct error *error);
#endif
