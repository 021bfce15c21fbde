/*
 * process: child processes that exchange lines of text over pipes.
 *
 *     struct process child;
 *     const char *const argv[] = {"/usr/bin/evotile", "worker", NULL};
 *     const char *line;
 *     process_start(&child, argv, &error);
 *     process_send(&child, "{...}");
 *     while ((line = process_next_line(&child)) == NULL && !child.ended)
 *         process_read_output(&child);    // better: after poll() says that child.from is readable
 *     process_stop(&child, 2.0, NULL);
 *
 * A child's standard input and output are the pipes; its standard error is the caller's, or passes
 * through a relay (base/relay.h) that process_read_output and process_stop serve. Reading never
 * blocks; writing blocks while the child does not read. A grandchild that must not outlive
 * the child calls process_die_with_parent.
 */
#ifndef EVOTILE_BASE_PROCESS_H
#define EVOTILE_BASE_PROCESS_H

#include "base/error.h"
#include "base/path.h"
#include "base/relay.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct process {
    pid_t pid;    /* 0: none */
    int to, from; /* pipes to its stdin and from its stdout */
    bool ended;   /* end of file was reached on its output */
    char *buffer; /* bytes received and not yet returned as lines */
    size_t used, capacity, consumed;
    struct relay errors; /* what it prints on its standard error; poll() its `from`, too */
};

/* Finds a program: on PATH, else in the CUDA Toolkit; a name with a slash is taken as a path.
   Returns false if there is no such executable. */
bool process_find(const char *name, char path[PATH_SIZE]);

/* `argv[0]` is the path of the program. The child is killed when the calling process dies. */
int process_start(struct process *child, const char *const *argv, struct error *error);

/* The same for a child that runs what is not trusted: its standard error is relayed. */
int process_start_relayed(struct process *child, const char *const *argv, struct error *error);

/* Sends one line; returns false if the child is gone. SIGPIPE must be ignored. */
bool process_send(struct process *child, const char *line);

/* Reads the available output into the buffer and relays the errors; call it when `from` or
   `errors.from` is readable. */
void process_read_output(struct process *child);

/* Returns the next complete line without its newline, valid until the next process_read_output;
   NULL if there is none yet. */
char *process_next_line(struct process *child);

/* How a child ended. */
struct process_end {
    int status;         /* exit status; -1: it was killed */
    char text[96];      /* in words: "killed by signal 11 (Segmentation fault)" */
    bool is_by_outside; /* by a signal that neither process_stop nor a fault of the child sends:
                           SIGKILL, as from the kernel when memory runs out, or SIGTERM */
};

/* Closes the child's input, waits up to `timeout_s` for it to exit, then kills it and releases
   everything. `end` may be NULL. Returns 0, or the child's pid if it is not reaped a second after
   SIGKILL (a driver may hold it for minutes): poll process_try_reap with it. */
pid_t process_stop(struct process *child, double timeout_s, struct process_end *end);

/* Reaps a process that process_stop could not; never blocks. After it returns true the pid may be
   reused and must not be used again. */
bool process_try_reap(pid_t left_behind);

/* The parent's pid of a process; -1 if there is no such process. */
pid_t process_parent(pid_t process);

/* Called by the child: the kernel will kill it when its parent dies. A parent that died before this
   call is detected by end of file on standard input. */
void process_die_with_parent(void);

#endif
