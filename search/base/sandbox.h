/*
 * sandbox: gives up what a process that handles a source from a stranger never needs, for good:
 * its children cannot have it back either.
 *
 *     sandbox_enter(true);
 *
 * Without network: a new socket fails with EPERM, and so do io_uring, which can open one, ptrace
 * and writing to another process. Without programs, also every exec. The rest works as before:
 * files, threads, pipes. It is a seccomp filter (seccomp(2), linux/filter.h). A kernel without
 * seccomp, or a machine that is not x86-64, has no sandbox; SANDBOX_NONE says so.
 *
 * Files are not restricted. Landlock would do it, but a process in a Landlock domain cannot open
 * /proc/PID/fd of its parent, and so gets no machine code from it (pool/image_file.h).
 */
#ifndef EVOTILE_BASE_SANDBOX_H
#define EVOTILE_BASE_SANDBOX_H

#include <stdbool.h>

enum sandbox_state { SANDBOX_NONE, SANDBOX_ENTERED };

/* For all threads that the calling one starts later. `may_exec`: programs may be started. */
enum sandbox_state sandbox_enter(bool may_exec);

#endif
