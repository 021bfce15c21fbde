/* worker: evaluates trials for runs and servers on other hosts (queue_worker.h). */
#include "base/memory.h"
#include "cli/cli.h"
#include "session/gpu_groups.h"
#include "session/process_group.h"
#include "session/queue_worker.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static int run_queue_worker(const struct queue_worker_settings *how) {
    struct error error = {0};
    return queue_worker_run(how, &error) < 0 ? error_report(&error) : STATUS_DONE;
}

/* One process for each device model, because a run has only one model. */
static int run_queue_workers(struct queue_worker_settings *how) {
    struct error error = {0};
    struct process_group group = {0};
    signal(SIGPIPE, SIG_IGN);
    if (how->devices == NULL)
        how->devices = "auto";
    struct gpu_groups *groups = xcalloc(1, sizeof *groups);
    if (gpu_groups_read(groups, how->devices, &error) < 0) {
        free(groups);
        return error_report(&error);
    }
    if (groups->count == 1) {
        free(groups);
        return run_queue_worker(how);
    }
    for (int m = 0; m < groups->count; m++) {
        struct queue_worker_settings group_settings = *how;
        group_settings.devices = groups->items[m].devices;
        group_settings.compile_workers =
            gpu_groups_compile_workers(groups, m, how->compile_workers);
        if (process_group_fork(&group) == 0)
            _exit(run_queue_worker(&group_settings));
    }
    process_group_wait(&group, NULL);
    free(groups);
    return group.status;
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct queue_worker_settings how = {.compile_workers = -1};
    const struct option_row rows[] = {
        OPTION("queue", "URL", "a NATS server: nats://HOST:4222, or tls://", &how.connection.url),
        OPTION("device", "LIST", "auto, cuda:all, or some: cuda:0,cuda:2", &how.devices),
        OPTION("credentials", "FILE", "a token, USER:PASSWORD, an NKey pair or NATS credentials",
               &how.connection.credentials),
        OPTION("ca", "FILE", "the certificate authority of its TLS certificate",
               &how.connection.authority),
        OPTION("insecure", NULL, "accept a server on another host without credentials",
               &how.connection.insecure),
        {"idle", "T", "exit after T without work", OPTION_DURATION, &how.idle_s},
        OPTION("compile-workers", "N",
               "compile processes (default: the cores, less one for each device)",
               &how.compile_workers),
        OPTION("device-workers", "N", "processes for each recorded or emulated device",
               &how.device_workers),
        {0},
    };
    if (options_parse(verb, rows, argc, argv, 0, 0) < 0)
        return STATUS_USAGE;
    if (how.connection.url != NULL)
        return run_queue_workers(&how);
    fprintf(stderr, "evotile: worker needs --queue URL: see `evotile worker --help`\n");
    return STATUS_USAGE;
}

const struct verb verb_worker = {
    .name = "worker",
    .arguments = "--queue URL [options]",
    .summary = "evaluate trials for runs and servers on other hosts",
    VERB_HELP(worker),
    .run = run,
};
