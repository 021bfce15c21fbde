/* worker: with --queue, a worker for runs on other hosts (queue_worker.h). Otherwise a child of a
   local pool (local_pool.h): reads requests from standard input, writes results to standard
   output. */
#include "base/clock.h"
#include "base/process.h"
#include "cli/cli.h"
#include "device/emulated.h"
#include "device/recorded.h"
#include "evaluate/evaluator.h"
#include "pool/protocol.h"
#include "session/gpu_groups.h"
#include "session/image_cache.h"
#include "session/process_group.h"
#include "session/queue_worker.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct worker {
    bool has_device;
    int threads; /* on which an emulated device runs blocks */
    FILE *out;
    struct config *config;
    struct device *device;
    struct compiler *compiler;
    struct evaluator *evaluator;
    struct cache *cache;
};

/* ---- the pipe ---- */

static void write_line(struct worker *worker, char *line) {
    fputs(line, worker->out);
    fputc('\n', worker->out);
    fflush(worker->out);
    free(line);
}

/* Reads the next line. Returns false at end of file: the parent has exited. */
static bool read_line(char **line, size_t *room) {
    ssize_t length = getline(line, room, stdin);
    if (length <= 0)
        return false;
    (*line)[strcspn(*line, "\n")] = '\0';
    return true;
}

/* ---- starting ---- */

static int start_worker(struct worker *worker, const char *config_path, const char *template_folder,
                        const char *spec, struct device_info *info, struct error *error) {
    worker->config = config_from_file(config_path, template_folder, error);
    if (worker->config == NULL)
        return -1;
    if (worker->config->shapes->recorded != NULL) { /* replaces the compiler and the device */
        const struct recorded *recorded = worker->config->shapes->recorded;
        if (device_describe("recorded", info, error) < 0)
            return -1;
        if (*recorded->device_name != '\0')
            snprintf(info->name, sizeof info->name, "%.100s, recorded", recorded->device_name);
        return 0;
    }
    if (worker->has_device) {
        worker->device = device_open(spec, error);
        if (worker->device == NULL)
            return -1;
        if (worker->device->backend == &emulated_backend)
            emulated_set_threads(worker->device, worker->threads);
        *info = worker->device->info;
    }
    worker->cache = cache_new(NULL, 0);
    const struct image_cache images = image_cache_on_disk(worker->cache);
    worker->compiler = compiler_new(worker->config, info, &images, error);
    if (worker->compiler == NULL)
        return -1;
    if (worker->has_device) {
        worker->evaluator = evaluator_new(worker->config, worker->device, worker->compiler, error);
        if (worker->evaluator == NULL)
            return -1;
        *info = worker->device->info; /* now with the calibrated ceilings */
    }
    return 0;
}

static void release_worker(struct worker *worker) {
    evaluator_free(worker->evaluator);
    compiler_free(worker->compiler);
    cache_free(worker->cache);
    if (worker->device != NULL)
        device_close(worker->device);
    config_free(worker->config);
}

/* ---- working ---- */

/* True if the device can still be used after the trial. */
static bool device_survived(const struct worker *worker, const struct outcome *outcome) {
    return !worker->has_device || worker->device == NULL || worker->device->info.predicts ||
           (outcome->verdict != VERDICT_CRASHED && outcome->verdict != VERDICT_TIMEOUT);
}

/* Fills the outcome from the recorded space. */
static void read_recorded(const struct recorded *recorded, struct trial_result *result) {
    int64_t row = recorded_find(recorded, &result->genome);
    struct outcome *outcome = &result->outcome;
    if (row < 0)
        BUG("trial %lld is not a row of the recorded space", (long long)result->number);
    outcome->verdict = recorded->verdicts[row];
    outcome_set_cases(outcome, 1);
    trial_add_gate(result, "recorded", outcome->verdict == VERDICT_OK, 0, "row %lld",
                   (long long)row);
    if (outcome->verdict != VERDICT_OK) {
        snprintf(outcome->reason, sizeof outcome->reason, "recorded as %s",
                 verdict_cache_name(outcome->verdict));
        return;
    }
    double us = recorded->times_us[row];
    outcome->score_us = us;
    struct latency *warm = &outcome->cases[0].warm;
    warm->p10_us = warm->p50_us = warm->p90_us = *latency_reserve(warm, 1) = us;
    warm->sample_count = 1;
}

static int run_trial(struct worker *worker, const struct trial_request *request,
                     struct trial_result *result, struct error *error) {
    struct device_image images[CASES_MAX];
    trial_result_init(result, request);
    if (worker->config->shapes->recorded != NULL) {
        snprintf(result->worker, sizeof result->worker, "recorded");
        read_recorded(worker->config->shapes->recorded, result);
        if (request->opponent.present) /* recorded times decide without a duel */
            result->opponent = request->opponent.trial;
        return 0;
    }
    snprintf(result->worker, sizeof result->worker, "%s",
             worker->has_device ? worker->device->info.spec : "compile");
    int status = compiler_build(worker->compiler, request, images, result, error);
    if (status != 0)
        return status < 0 ? -1 : 0;
    if (worker->has_device)
        status = evaluator_run(worker->evaluator, request, images, result, error);
    for (int c = 0; c < CASES_MAX; c++)
        nvrtc_image_release(&images[c]);
    return status;
}

static int serve_requests(struct worker *worker, struct error *error) {
    char *line = NULL;
    size_t room = 0;
    int status = 0;
    while (status == 0 && read_line(&line, &room)) {
        struct protocol_message message;
        struct trial_result result;
        if (protocol_read(line, &message, error) < 0) {
            status = -1;
            break;
        }
        if (message.kind != PROTOCOL_REQUEST)
            BUG("a worker was sent something other than a request");
        status = run_trial(worker, &message.request, &result, error);
        trial_request_release(&message.request);
        if (status == 0)
            write_line(worker, protocol_print_result(&result));
        bool device_lost = status == 0 && !device_survived(worker, &result.outcome);
        trial_result_release(&result);
        if (device_lost)
            _exit(STATUS_FAILED); /* the context is lost: cleaning up through the driver can hang */
    }
    free(line);
    return status;
}

static int run_queue_worker(const struct queue_worker_settings *how) {
    struct error error = {0};
    return queue_worker_run(how, &error) < 0 ? error_report(&error) : STATUS_DONE;
}

/* One process for each device model, because a run has only one model. */
static int run_queue_workers(struct queue_worker_settings *how) {
    struct error error = {0};
    struct gpu_groups groups;
    struct process_group group = {0};
    signal(SIGPIPE, SIG_IGN);
    if (how->devices == NULL)
        how->devices = "auto";
    if (gpu_groups_read(&groups, how->devices, &error) < 0)
        return error_report(&error);
    if (groups.count == 1)
        return run_queue_worker(how);
    for (int m = 0; m < groups.count; m++) {
        struct queue_worker_settings group_settings = *how;
        group_settings.devices = groups.items[m].devices;
        group_settings.compile_workers =
            gpu_groups_compile_workers(&groups, m, how->compile_workers);
        if (process_group_fork(&group) == 0)
            _exit(run_queue_worker(&group_settings));
    }
    process_group_wait(&group, NULL);
    return group.status;
}

static int run(const struct verb *verb, int argc, char **argv) {
    const char *role = NULL;
    const char *config_path = NULL;
    const char *template_folder = NULL;
    const char *spec = NULL;
    bool watched = false;
    int64_t threads = 1;
    struct queue_worker_settings how = {.compile_workers = -1};
    const struct option_row rows[] = {
        {"queue", "URL", "a NATS server: nats://HOST:4222, or tls://", OPTION_TEXT,
         &how.connection.url},
        {"device", "LIST", "auto, cuda:all, or some: cuda:0,cuda:2", OPTION_TEXT, &spec},
        {"credentials", "FILE", "a token, USER:PASSWORD, an NKey pair or NATS credentials",
         OPTION_TEXT, &how.connection.credentials},
        {"ca", "FILE", "the certificate authority of its TLS certificate", OPTION_TEXT,
         &how.connection.authority},
        {"insecure", NULL, "accept a server on another host without credentials", OPTION_FLAG,
         &how.connection.insecure},
        {"idle", "T", "leave after T without work", OPTION_DURATION, &how.idle_s},
        {"compile-workers", "N", "compile processes (default: the cores, less one for each device)",
         OPTION_INTEGER, &how.compile_workers},
        {"device-workers", "N", "processes for each recorded or emulated device", OPTION_INTEGER,
         &how.device_workers},
        {"role", "ROLE", "of a child process: compile or device", OPTION_TEXT, &role},
        {"config", "FILE", "of a child process: the run's config", OPTION_TEXT, &config_path},
        {"template", "DIR", "of a child process: the run's template", OPTION_TEXT,
         &template_folder},
        {"threads", "N", "of a child process: threads of an emulated device", OPTION_INTEGER,
         &threads},
        {"watched", NULL, "of a child process: a tool started it", OPTION_FLAG, &watched},
        {0},
    };
    if (options_parse(verb, rows, argc, argv, 0, 0) < 0)
        return STATUS_USAGE;
    how.devices = spec;
    if (how.connection.url != NULL)
        return run_queue_workers(&how);
    if (role == NULL || config_path == NULL || template_folder == NULL || spec == NULL) {
        fprintf(stderr, "evotile: worker needs --queue URL: see `evotile worker --help`\n");
        return STATUS_USAGE;
    }
    /* Not under a tool: it may start us from a thread that exits immediately, and the
       parent-death signal follows the thread. */
    if (!watched)
        process_die_with_parent();
    /* A closed pipe is reported by write (a dead baseline process) or by end of file (a dead
       parent). */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, SIG_IGN); /* the parent handles a ^C in the terminal */
    signal(SIGTERM, SIG_IGN);
    struct error error = {0};
    struct worker worker = {.has_device = strcmp(role, "device") == 0, .threads = (int)threads};
    struct device_info info = {0};
    char *line = NULL;
    size_t room = 0;
    /* Only protocol messages go to the pipe: what a library prints goes to standard error. */
    worker.out = fdopen(dup(STDOUT_FILENO), "w");
    dup2(STDERR_FILENO, STDOUT_FILENO);
    if (!worker.has_device) {
        struct protocol_message message;
        if (!read_line(&line, &room) || protocol_read(line, &message, &error) < 0)
            return STATUS_FAILED;
        info = message.device;
    }
    free(line);
    int status = start_worker(&worker, config_path, template_folder, spec, &info, &error);
    if (status == 0) {
        if (worker.evaluator != NULL && !watched)
            evaluator_warn_if_gpu_shared(worker.evaluator);
        write_line(&worker, protocol_print_device(&info));
        status = serve_requests(&worker, &error);
    }
    if (status < 0)
        write_line(&worker, protocol_print_failure(&error));
    release_worker(&worker);
    return status == 0 ? STATUS_DONE : STATUS_FAILED;
}

const struct verb verb_worker = {
    .name = "worker",
    .arguments = "--queue URL [options]",
    .summary = "evaluate trials for runs on other hosts",
    VERB_HELP(worker),
    .run = run,
};
