/*
 * fleet: runs, or workers, side by side: a process for each device model, as nothing of one's
 * search is the other's.
 *
 *     struct fleet fleet = {0};
 *     for (int m = 0; m < models.count; m++)
 *         if (fleet_fork(&fleet) == 0)
 *             _exit(work(&models.items[m]));
 *     bool interrupted = fleet_wait(&fleet, NULL);       // fleet.status: of the first that failed
 *
 * A child dies with its parent. Not to be forked where there are threads.
 */
#ifndef EVOTILE_CMD_FLEET_H
#define EVOTILE_CMD_FLEET_H

#include "device/device.h"

#include <sys/types.h>

struct fleet {
    int count, left;
    pid_t children[DEVICES_MAX];
    int status; /* 0, or the exit status of the first that failed */
};

/* As fork; signals do in the child what they do by default. -1: there is no process, which was said
   and is the fleet's status; the others go on. A full fleet is our bug. */
pid_t fleet_fork(struct fleet *fleet);

/* What is heard while one waits: whoever writes whole structs there, until all have closed it. */
struct fleet_news {
    int from; /* the reading end of a pipe */
    void (*hear)(void *context, const struct device_info *model);
    void *context;
};

/* Waits until all have ended and, where there is news, that has too. SIGTERM is passed on, and a
   SIGINT that somebody sent, as one; a ^C in the terminal they have got themselves. After either,
   nothing more is heard. True where one came. */
bool fleet_wait(struct fleet *fleet, const struct fleet_news *news);

#endif
