/*
 * lock: one writer a run. A file beside the database is locked for as long as the process that took
 * it lives: the kernel lets go of it even after SIGKILL. It holds the pid and host, for the message
 * to the second.
 *
 *     struct lock lock;
 *     if (lock_take(&lock, run_dir, error) < 0)
 *         return -1;
 *     ...
 *     lock_release(&lock);
 */
#ifndef EVOTILE_STORE_LOCK_H
#define EVOTILE_STORE_LOCK_H

#include "base/error.h"
#include "base/path.h"

struct lock {
    int file; /* -1: not taken */
    char path[PATH_SIZE];
};

/* Does not wait: that another process holds it is an error that names the process. */
int lock_take(struct lock *lock, const char *run_dir, struct error *error);

/* Fine on one that is not taken (file -1). */
void lock_release(struct lock *lock);

#endif
