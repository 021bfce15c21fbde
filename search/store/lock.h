/*
 * lock: one writer per run. The writer holds an flock on a file beside the database; the kernel
 * releases it when the process ends, even by SIGKILL. The file holds pid and host for the error
 * message of a second writer.
 *
 *     struct lock lock;
 *     if (lock_acquire(&lock, run_dir, error) < 0)
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

/* Does not wait: if another process holds the lock, the error names it. */
int lock_acquire(struct lock *lock, const char *run_dir, struct error *error);

/* Does nothing if the lock is not taken (file -1). */
void lock_release(struct lock *lock);

#endif
