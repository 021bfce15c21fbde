/*
 * zombie_workers: workers that were killed and have not exited. A driver that cleans up after a
 * hang can hold a process for minutes, and until it exits its kernel may still run. Private to
 * pool/local_pool.c.
 *
 *     zombie_workers_add(&zombie_workers, "device", 0, pid);       // as process_stop returned it
 *     zombie_workers_remove_exited(&zombie_workers);               // periodically
 *     if (zombie_workers_on_device(&zombie_workers, 0))
 *         log_info("nothing may be timed on device 0");
 */
#ifndef EVOTILE_TRIAL_GHOSTS_H
#define EVOTILE_TRIAL_GHOSTS_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

enum { GHOSTS_MAX = 64, GHOST_NOWHERE = -1 };

struct ghost {
    const char *role;
    int device; /* ZOMBIE_NO_DEVICE: a compile worker */
    pid_t process;
    double since; /* clock_seconds */
};

struct ghosts {
    int count;
    struct ghost items[GHOSTS_MAX];
};

/* Adds a process, with a warning; does nothing for process 0. When the list is full, the oldest
   entry is dropped. */
void ghosts_add(struct ghosts *ghosts, const char *role, int device, pid_t process);
void ghosts_look(struct ghosts *ghosts);
/* Returns whether a zombie worker is on that device. */
bool ghosts_at(const struct ghosts *ghosts, int device);
/* Returns -1, with the remedy in `error`, if a zombie worker has been on the device for more
   than 10 minutes. */
int ghosts_check(const struct ghosts *ghosts, int device, struct error *error);
#endif
