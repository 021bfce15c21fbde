/* process_group: child processes that run side by side, one for each device model.
 *
 * Searches on different device models share nothing, so each runs in a process of its own. A child
 * dies with its parent. Do not fork while the process has threads.
 *
 *     struct process_group group = {0};
 *     for (int g = 0; g < groups.count; g++)              // struct gpu_groups groups
 *         if (process_group_fork(&group) == 0)
 *             _exit(run_on(groups.items[g].devices));     // the caller's function
 *     bool interrupted = process_group_wait(&group, NULL);
 *     int status = group.status;                          // of the first child that failed
 */
#ifndef EVOTILE_SESSION_PROCESS_GROUP_H
#define EVOTILE_SESSION_PROCESS_GROUP_H

#include "device/device.h"

#include <sys/types.h>

struct process_group {
    int count, left;
    pid_t children[DEVICES_MAX];
    int status; /* 0, or the exit status of the first child that failed */
};

/* Like fork; the child has the default actions for SIGINT and SIGTERM. Returns -1 if no process
   could be started: the error was printed and is the group's status, and the other children go on.
   More than DEVICES_MAX children are a bug. */
pid_t process_group_fork(struct process_group *group);

/* A pipe to read while waiting: children write device models to it as whole structs, until all have
   closed it. */
struct process_group_pipe {
    int read_fd;                                                      /* the reading end */
    void (*on_model)(void *context, const struct device_info *model); /* called for each model */
    void *context;
};

/* Waits until all children have exited and the pipe, if there is one, is closed. SIGTERM is passed
   on to the children, and so is a SIGINT that a process sent, as SIGTERM; a ^C in the terminal
   reaches the children directly. After a signal the pipe is no longer read. Returns true if a
   signal arrived. */
bool process_group_wait(struct process_group *group, const struct process_group_pipe *pipe);

#endif
