/*
 * process: child programs that speak lines of text over pipes.
 *
 *     struct process child;
 *     const char *const argv[] = {"/usr/bin/evotile", "worker", NULL};
 *     process_start(&child, argv, &error);
 *     process_send(&child, "{...}");
 *     while ((line = process_line(&child)) == NULL && !child.ended) { poll(child.from) ...
 * process_fill(&child); } process_stop(&child, 2.0);
 *
 * A child's standard input and output are the pipes; its standard error is ours. Reading never
 * blocks; writing may, while the child does not read. What a child starts itself, and should not
 * outlive it, calls process_die_with_parent.
 */
#ifndef EVOTILE_BASE_PROCESS_H
#define EVOTILE_BASE_PROCESS_H

#include "base/error.h"
#include "base/path.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct process {
    pid_t pid;    /* 0: none */
    int to, from; /* pipes to its stdin and from its stdout */
    bool ended;   /* its output has ended */
    char *buffer; /* what came and was not taken yet */
    size_t used, room, taken;
};

/* Where a program is: on PATH, else in the CUDA Toolkit; a name with a slash is a path already.
   False where there is none that may be run. */
bool process_find(const char *name, char path[PATH_SIZE]);

/* The path of the program comes first in `argv`. The child is killed when we die. */
int process_start(struct process *child, const char *const *argv, struct error *error);

/* Sends one line; false when the child is gone. SIGPIPE must be ignored. */
bool process_send(struct process *child, const char *line);

/* Takes in what has come; call it when `from` is readable. */
void process_fill(struct process *child);

/* The next whole line without its end, valid until the next process_fill; NULL where there is none
 * yet. */
char *process_line(struct process *child);

/* Closes its input, gives it so long to leave, kills it and releases everything. Describes the end
   in `how` ("killed by signal 11 (Segmentation fault)"), which may be NULL. 0: it is gone; else its
   number, because a second after being killed it was not (a driver may hold it for minutes):
   process_is_gone tells when it is. */
pid_t process_stop(struct process *child, double patience_s, char *how, size_t how_size);

/* Whether a process that process_stop left behind has gone by now; never blocks. Once it has, its
   number is nobody's. */
bool process_is_gone(pid_t left_behind);

/* Whose child a process is; -1: there is none of that number. */
pid_t process_parent(pid_t process);

/* For the child: the kernel kills it when its parent dies from now on. That it died before, the end
   of standard input tells. */
void process_die_with_parent(void);

#endif
