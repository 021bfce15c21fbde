#include "session/process_group.h"

#include "base/error.h"
#include "base/log.h"
#include "base/process.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Writes of at most PIPE_BUF bytes are atomic, so reads get whole structs. */
_Static_assert(sizeof(struct device_info) <= PIPE_BUF, "device_info must fit an atomic write");

/* The only state that a signal handler can reach. */
static volatile sig_atomic_t terminations, interruptions;

/* A SIGINT by the kernel is a ^C, which every process of the terminal's group receives. */
static void count_signal(int number, siginfo_t *info, void *context) {
    (void)context;
    if (number == SIGTERM || info->si_code != SI_KERNEL)
        terminations = terminations + 1;
    else
        interruptions = interruptions + 1;
}

pid_t process_group_fork(struct process_group *group) {
    if (group->count == DEVICES_MAX)
        BUG("a group of more than %d processes", DEVICES_MAX);
    sigset_t signals, old_mask;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, &old_mask); /* until the child has its own signal actions */
    pid_t child = fork();
    if (child == 0) {
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
    }
    int reason = errno;
    sigprocmask(SIG_SETMASK, &old_mask, NULL);
    if (child < 0) {
        log_info("cannot start a process: %s", strerror(reason));
        group->status = EXIT_FAILURE;
        return -1;
    }
    if (child == 0) {
        process_die_with_parent();
        return 0;
    }
    group->children[group->count++] = child;
    group->left++;
    return child;
}

static void reap_children(struct process_group *group) {
    int wait_status;
    for (int c = 0; c < group->count; c++) {
        if (group->children[c] == 0 ||
            waitpid(group->children[c], &wait_status, WNOHANG) != group->children[c])
            continue;
        group->children[c] = 0;
        group->left--;
        if (group->status == 0)
            group->status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : EXIT_FAILURE;
    }
}

/* Reads at most one model. Returns true if more may come. */
static bool read_model(const struct process_group_pipe *pipe) {
    struct device_info model;
    struct pollfd ready = {.fd = pipe->read_fd, .events = POLLIN};
    if (poll(&ready, 1, 50) <= 0)
        return true;
    if (read(pipe->read_fd, &model, sizeof model) != (ssize_t)sizeof model)
        return false;
    if (terminations + interruptions == 0)
        pipe->on_model(pipe->context, &model);
    return true;
}

bool process_group_wait(struct process_group *group, const struct process_group_pipe *pipe) {
    struct sigaction action = {.sa_sigaction = count_signal, .sa_flags = SA_SIGINFO};
    struct sigaction old_int, old_term;
    int signals_forwarded = 0;
    bool pipe_open = pipe != NULL;
    terminations = interruptions = 0;
    sigaction(SIGINT, &action, &old_int);
    sigaction(SIGTERM, &action, &old_term);
    while (group->left > 0 || (pipe_open && terminations + interruptions == 0)) {
        if (pipe_open)
            pipe_open = read_model(pipe);
        else
            poll(NULL, 0, 50);
        reap_children(group);
        for (; signals_forwarded < terminations; signals_forwarded++)
            for (int c = 0; c < group->count; c++)
                if (group->children[c] != 0)
                    kill(group->children[c], SIGTERM);
    }
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGTERM, &old_term, NULL);
    return terminations + interruptions > 0;
}
