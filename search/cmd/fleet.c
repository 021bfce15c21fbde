#include "cmd/fleet.h"

#include "base/process.h"
#include "cmd/cmd.h"

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
static void on_signal(int number, siginfo_t *info, void *context) {
    (void)context;
    if (number == SIGTERM || info->si_code != SI_KERNEL)
        terminations = terminations + 1;
    else
        interruptions = interruptions + 1;
}

pid_t fleet_fork(struct fleet *fleet) {
    if (fleet->count == DEVICES_MAX)
        BUG("a group of more than %d processes", DEVICES_MAX);
    sigset_t both, before;
    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    sigprocmask(SIG_BLOCK, &both, &before); /* until the child has its own signal actions */
    pid_t child = fork();
    if (child == 0) {
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
    }
    int reason = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (child < 0) {
        struct error error = {0};
        error_set(&error, "cannot start a process: %s", strerror(reason));
        fleet->status = error_report(&error);
        return -1;
    }
    if (child == 0) {
        process_die_with_parent();
        return 0;
    }
    fleet->children[fleet->count++] = child;
    fleet->left++;
    return child;
}

static void reap(struct fleet *fleet) {
    int how;
    for (int c = 0; c < fleet->count; c++) {
        if (fleet->children[c] == 0 ||
            waitpid(fleet->children[c], &how, WNOHANG) != fleet->children[c])
            continue;
        fleet->children[c] = 0;
        fleet->left--;
        if (fleet->status == 0)
            fleet->status = WIFEXITED(how) ? WEXITSTATUS(how) : EXIT_FAILURE;
    }
}

/* Reads at most one model. Returns true if more may come. */
static bool hear(const struct fleet_news *news) {
    struct device_info model;
    struct pollfd ready = {.fd = news->from, .events = POLLIN};
    if (poll(&ready, 1, 50) <= 0)
        return true;
    if (read(news->from, &model, sizeof model) != (ssize_t)sizeof model)
        return false;
    if (terminations + interruptions == 0)
        news->hear(news->context, &model);
    return true;
}

bool fleet_wait(struct fleet *fleet, const struct fleet_news *news) {
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    struct sigaction old_int, old_term;
    int passed = 0;
    bool more = news != NULL;
    terminations = interruptions = 0;
    sigaction(SIGINT, &action, &old_int);
    sigaction(SIGTERM, &action, &old_term);
    while (fleet->left > 0 || (more && terminations + interruptions == 0)) {
        if (more)
            more = hear(news);
        else
            poll(NULL, 0, 50);
        reap(fleet);
        for (; passed < terminations; passed++)
            for (int c = 0; c < fleet->count; c++)
                if (fleet->children[c] != 0)
                    kill(fleet->children[c], SIGTERM);
    }
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGTERM, &old_term, NULL);
    return terminations + interruptions > 0;
}
