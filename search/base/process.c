#include "base/process.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef EVOTILE_CUDA_HOME
#define EVOTILE_CUDA_HOME "/usr/local/cuda"
#endif

/* ---- finding programs ---- */

static bool find_in_folder(char path[PATH_SIZE], const char *folder, size_t length,
                           const char *name) {
    return length > 0 &&
           snprintf(path, PATH_SIZE, "%.*s/%s", (int)length, folder, name) < PATH_SIZE &&
           access(path, X_OK) == 0 && !path_is_dir(path);
}

bool process_find(const char *name, char path[PATH_SIZE]) {
    const char *folder = getenv("PATH");
    if (strchr(name, '/') != NULL)
        return snprintf(path, PATH_SIZE, "%s", name) < PATH_SIZE && access(path, X_OK) == 0 &&
               !path_is_dir(path);
    while (folder != NULL && *folder != '\0') {
        size_t length = strcspn(folder, ":");
        if (find_in_folder(path, folder, length, name))
            return true;
        folder += length + (folder[length] == ':');
    }
    const char *const homes[] = {getenv("CUDA_HOME"), EVOTILE_CUDA_HOME, "/usr/local/cuda"};
    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
        char bin[PATH_SIZE];
        if (homes[i] != NULL && path_join(bin, homes[i], "bin", &(struct error){0}) == 0 &&
            find_in_folder(path, bin, strlen(bin), name))
            return true;
    }
    return false;
}

/* ---- starting and communicating ---- */

/* The child's ends of its pipes; errors -1: it has the caller's standard error. */
struct pipe_ends {
    int in, out, errors;
};

static void close_ends(const struct pipe_ends *ends) {
    const int files[] = {ends->in, ends->out, ends->errors};
    for (int i = 0; i < 3; i++)
        if (files[i] >= 0)
            close(files[i]);
}

static void close_pipes(struct process *child) {
    if (child->to >= 0)
        close(child->to);
    if (child->from >= 0)
        close(child->from);
    relay_close(&child->errors);
    free(child->buffer);
    *child = (struct process){.to = -1, .from = -1, .errors.from = -1};
}

static int new_pipe(int *read_end, int *write_end) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    *read_end = ends[0];
    *write_end = ends[1];
    return 0;
}

static int open_pipes(struct process *child, bool relays, struct pipe_ends *ends) {
    if (new_pipe(&ends->in, &child->to) < 0 || new_pipe(&child->from, &ends->out) < 0)
        return -1;
    fcntl(child->from, F_SETFL, O_NONBLOCK);
    if (!relays)
        return 0;
    if (new_pipe(&child->errors.from, &ends->errors) < 0)
        return -1;
    fcntl(child->errors.from, F_SETFL, O_NONBLOCK);
    /* A large one: the child shall not wait while the parent is busy. The smaller one serves, too.
     */
    fcntl(child->errors.from, F_SETPIPE_SZ, RELAY_BYTES_MAX);
    return 0;
}

static int start(struct process *child, const char *const *argv, bool relays, struct error *error) {
    struct pipe_ends ends = {-1, -1, -1};
    *child = (struct process){.to = -1, .from = -1, .errors.from = -1};
    if (open_pipes(child, relays, &ends) < 0) {
        error_set(error, "no pipe for a child process: %s", strerror(errno));
        close_ends(&ends);
        close_pipes(child);
        return -1;
    }
    /* vfork, because the parent may hold a GPU, and the mappings of its driver must not be copied.
       The child shares the parent's memory until execv and calls only functions that do not modify
       it. */
    pid_t pid = vfork();
    if (pid == 0) {
        signal(SIGPIPE, SIG_DFL);
        process_die_with_parent();
        if (dup2(ends.in, STDIN_FILENO) >= 0 && dup2(ends.out, STDOUT_FILENO) >= 0 &&
            (!relays || dup2(ends.errors, STDERR_FILENO) >= 0))
            execv(argv[0], (char *const *)argv);
        _exit(127);
    }
    close_ends(&ends);
    if (pid < 0) {
        error_set(error, "cannot start a child process: %s", strerror(errno));
        close_pipes(child);
        return -1;
    }
    child->pid = pid;
    return 0;
}

int process_start(struct process *child, const char *const *argv, struct error *error) {
    return start(child, argv, false, error);
}

int process_start_relayed(struct process *child, const char *const *argv, struct error *error) {
    return start(child, argv, true, error);
}

static bool send_bytes(int to, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t sent = write(to, bytes, count);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        bytes += sent;
        count -= (size_t)sent;
    }
    return true;
}

bool process_send(struct process *child, const char *line) {
    return send_bytes(child->to, line, strlen(line)) && send_bytes(child->to, "\n", 1);
}

void process_read_output(struct process *child) {
    relay_copy(&child->errors);
    if (child->consumed > 0) {
        memmove(child->buffer, child->buffer + child->consumed, child->used - child->consumed);
        child->used -= child->consumed;
        child->consumed = 0;
    }
    for (;;) {
        if (child->capacity - child->used < 4096) {
            child->capacity = child->capacity * 2 + 65536;
            child->buffer = xrealloc(child->buffer, child->capacity);
        }
        ssize_t received =
            read(child->from, child->buffer + child->used, child->capacity - child->used);
        if (received < 0 && errno == EINTR)
            continue;
        if (received < 0 && errno == EAGAIN)
            return;
        if (received <= 0) {
            child->ended = true;
            return;
        }
        child->used += (size_t)received;
    }
}

char *process_next_line(struct process *child) {
    char *start = child->buffer + child->consumed;
    char *end =
        child->used > child->consumed ? memchr(start, '\n', child->used - child->consumed) : NULL;
    if (end == NULL)
        return NULL;
    *end = '\0';
    child->consumed = (size_t)(end + 1 - child->buffer);
    return start;
}

enum { KILL_TIMEOUT_S = 1 }; /* timeout for a killed process to exit */

/* Returns whether the process exits within `timeout_s`. It may have much to print before. */
static bool wait_for_exit(struct process *child, double timeout_s, int *status) {
    double start = clock_seconds();
    pid_t reaped;
    while ((reaped = waitpid(child->pid, status, WNOHANG)) == 0 &&
           clock_seconds() - start < timeout_s) {
        relay_copy(&child->errors);
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    return reaped != 0;
}

static bool comes_from_outside(int signal) {
    return signal == SIGKILL || signal == SIGTERM || signal == SIGHUP || signal == SIGINT ||
           signal == SIGQUIT;
}

static void describe_end(int status, bool killed, bool left_behind, struct process_end *end) {
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    bool has_exited = !left_behind && WIFEXITED(status);
    *end = (struct process_end){.status = has_exited ? WEXITSTATUS(status) : -1,
                                .is_by_outside = !killed && comes_from_outside(signal)};
    if (left_behind)
        snprintf(end->text, sizeof end->text, "killed, but has not exited");
    else if (signal != 0)
        snprintf(end->text, sizeof end->text, "killed by signal %d (%s)", signal,
                 strsignal(signal));
    else
        snprintf(end->text, sizeof end->text, "ended with status %d", WEXITSTATUS(status));
}

pid_t process_stop(struct process *child, double timeout_s, struct process_end *end) {
    int status = 0;
    if (child->pid == 0)
        return 0;
    close(child->to);
    child->to = -1;
    bool exited = wait_for_exit(child, timeout_s, &status), killed = !exited;
    if (killed) {
        kill(child->pid, SIGKILL);
        exited = wait_for_exit(child, KILL_TIMEOUT_S, &status);
    }
    if (end != NULL)
        describe_end(status, killed, !exited, end);
    pid_t left_behind = exited ? 0 : child->pid;
    close_pipes(child);
    return left_behind;
}

bool process_try_reap(pid_t left_behind) {
    return waitpid(left_behind, NULL, WNOHANG) != 0;
}

pid_t process_parent(pid_t process) {
    char path[64];
    char text[1024];
    long parent = -1;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)process);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return -1;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    /* format: "12 (a name, parentheses and all) S 11 ..." */
    const char *name_end = strrchr(text, ')');
    if (name_end == NULL || sscanf(name_end, ") %*c %ld", &parent) != 1)
        return -1;
    return (pid_t)parent;
}

void process_die_with_parent(void) {
    /* If the parent died earlier, the child sees end of file on its standard input. The parent's
       pid does not tell: process 1 can be the real parent, as in a container, or the reaper of
       orphans. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}
