/*
 * sandbox: gives up what a process that handles a source from a stranger never needs, for good:
 * its children cannot have it back either.
 *
 *     const char *const folders[] = {cache_folder, NULL};
 *     if ((sandbox_enter(false, folders) & SANDBOX_FILES) == 0)
 *         log_info("this kernel has no Landlock");
 *
 * Without network: a new socket fails with EPERM, and so do io_uring, which can open one, ptrace
 * and writing to another process. Without programs, also every exec. This is a seccomp filter
 * (seccomp(2), linux/filter.h), on x86-64.
 *
 * Files are written, made and removed below `folders` only; what is open stays open. This is a
 * Landlock domain (landlock(7)), which Linux has since 5.13. A process in one cannot open
 * /proc/PID/fd of its parent, from which a worker gets machine code (pool/image_file.h): a thread
 * that stays outside opens such files for the others, and no other ones (sandbox_open). So the
 * sandbox confines what a compiler does for a source, not machine code that took the process over.
 *
 * Reading is not restricted until sandbox_restrict_reading. A kernel without one of the two has
 * half a sandbox.
 */
#ifndef EVOTILE_BASE_SANDBOX_H
#define EVOTILE_BASE_SANDBOX_H

#include <stdbool.h>

enum { SANDBOX_CALLS = 1, SANDBOX_FILES = 2 }; /* seccomp, Landlock */

/* For the calling thread and all that it starts later; once in a process. `may_exec`: programs may
   be started. `folders`, ended by NULL: folders and devices; those that do not exist are left out.
   NULL: files are not restricted. Returns which parts are in force. */
int sandbox_enter(bool may_exec, const char *const *folders);
/* From now on files are opened for reading, and folders listed, below these folders only: what a
   compiler is asked to include, or whether a file is there, is asked in vain elsewhere. For the
   calling thread; after everything that is needed from elsewhere is open. Returns false where the
   kernel has no Landlock. */
bool sandbox_restrict_reading(const char *const *folders);
/* Which parts this machine has. */
int sandbox_available(void);

/* Opens a file of a process, "/proc/PID/fd/N", also within the sandbox. Returns a descriptor that
   exec closes, or -1 with errno. */
int sandbox_open(const char *path, int flags);

#endif
