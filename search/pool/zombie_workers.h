/*
 * zombie_workers: workers that were killed and have not exited. A driver that cleans up after a
 * hang can hold a process for minutes, and until it exits its kernel may still run. Private to
 * the local pool.
 *
 *     zombie_workers_add(&zombies, "device", 0, pid); // as process_stop returned it
 *     zombie_workers_remove_exited(&zombies);         // periodically
 *     if (zombie_workers_on_device(&zombies, 0))
 *         log_info("nothing may be timed on device 0");
 */
#ifndef EVOTILE_POOL_ZOMBIE_WORKERS_H
#define EVOTILE_POOL_ZOMBIE_WORKERS_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

enum { ZOMBIE_WORKERS_MAX = 64, ZOMBIE_NO_DEVICE = -1 };

struct zombie_worker {
    const char *role;
    int device; /* ZOMBIE_NO_DEVICE: a compile worker */
    pid_t pid;
    double killed_at_s; /* clock_seconds */
};

struct zombie_workers {
    int count;
    struct zombie_worker items[ZOMBIE_WORKERS_MAX];
};

/* Adds a process, with a warning; does nothing for process 0. When the list is full, the oldest
   entry is dropped. */
void zombie_workers_add(struct zombie_workers *zombies, const char *role, int device, pid_t pid);
void zombie_workers_remove_exited(struct zombie_workers *zombies);
/* Returns whether a zombie worker is on that device. */
bool zombie_workers_on_device(const struct zombie_workers *zombies, int device);
/* Returns -1, with the remedy in `error`, if a zombie worker has been on the device for more
   than 10 minutes. */
int zombie_workers_check(const struct zombie_workers *zombies, int device, struct error *error);
#endif
