/* run and resume: start and continue a search. */
#include "base/log.h"
#include "session/predict_start.h"
#include "session/session.h"

#include "base/memory.h"
#include "cli/cli.h"
#include "cli/evolve.h"
#include "cli/run_options.h"
#include "run/forecast.h"
#include "session/gpu_groups.h"
#include "session/left_out.h"
#include "session/process_group.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void log_end(const struct session *session, int status) {
    const char *run = session->run_dir;
    log_info("%" PRId64 " trials are stored in %s%s", session->observed, run,
             pool_restarts(session->pool) > 0 ? "; some workers had to be restarted" : "");
    if (status == 1)
        log_info("interrupted: continue with `evotile resume %s`", run);
    else
        log_info("finished: `evotile board %s` shows the results", run);
}

/* Runs the search and closes the session. Sets `interrupted` if a signal ended it. Returns an exit
   status. */
static int run_search(struct session *session, bool *interrupted) {
    struct error error = {0};
    int status = session_search(session, &error);
    if (status < 0) {
        struct error full_error = {0};
        error_set(&full_error, "%s; then continue with `evotile resume %s`", error.text,
                  session->run_dir);
        full_error.kind = error.kind;
        session_close(session);
        return error_report(&full_error);
    }
    *interrupted = session_signals() > 0; /* false if the budget ended during a pause */
    log_end(session, status);
    session_add_to_index(session);
    session_close(session);
    return STATUS_DONE;
}

/* results/NAME for configs/NAME.json or recorded:NAME.json.gz, or the first unused name of
   results/NAME-2, results/NAME-3 ... */
int run_default_dir(const char *config_path, char run_dir[PATH_SIZE], struct error *error) {
    bool recorded = config_path_is_recorded_space(config_path);
    const char *name = path_name(recorded ? strchr(config_path, ':') + 1 : config_path);
    const char *extension =
        recorded ? strchr(name, '.') : strrchr(name, '.'); /* .json.gz is one extension */
    int length =
        extension != NULL && extension != name ? (int)(extension - name) : (int)strlen(name);
    char candidate[PATH_SIZE];
    for (int i = 1; i < 10000; i++) {
        int written = i == 1 ? snprintf(candidate, sizeof candidate, "%.*s", length, name)
                             : snprintf(candidate, sizeof candidate, "%.*s-%d", length, name, i);
        if (written < 0 || (size_t)written >= sizeof candidate)
            break;
        if (path_join(run_dir, "results", candidate, error) < 0)
            return -1;
        if (!path_exists(run_dir))
            return 0;
    }
    return error_set(error, "results/ has too many runs of %s: give a folder with --out DIR",
                     config_path);
}

/* Says what the search will take, if earlier runs beside it tell. */
static void log_forecast(const struct session *session) {
    const struct config *config = session->config;
    struct error ignored = {0};
    struct forecast forecast;
    char folder[PATH_SIZE], text[FORECAST_SIZE];
    if (path_parent(folder, session->run_dir, &ignored) < 0 ||
        forecast_from_runs(&forecast, folder, session->run_dir, session->templates[0]->name,
                           pool_device(session->pool)->name, &ignored) < 0 ||
        forecast.runs == 0)
        return;
    forecast_print(&forecast, config->trials, config->seconds, session_searched_count(session),
                   text);
    log_info("expected from %d earlier run%s of %s in %s: %s", forecast.runs,
             forecast.runs == 1 ? "" : "s", session->templates[0]->name, folder, text);
}

enum { CONFIGS_MAX = 100 };

/* Creates and runs a search in one folder. Takes ownership of the config. Returns an exit status.
 */
static int run_in(const char *run_dir, struct config *config,
                  const struct session_settings *settings, bool *interrupted) {
    struct error error = {0};
    struct session *session = xcalloc(1, sizeof *session);
    if (session_create(session, run_dir, config, settings, &error) < 0) {
        session_close(session);
        free(session);
        return error_report(&error);
    }
    int devices = pool_device_count(session->pool); /* 0 with --queue */
    char device_count_text[16] = "";
    if (devices > 1)
        snprintf(device_count_text, sizeof device_count_text, "%d x ", devices);
    log_info("searching on %s%s; results are written to %s", device_count_text,
             pool_device(session->pool)->name, run_dir);
    log_forecast(session);
    const int status = run_search(session, interrupted);
    free(session);
    return status;
}

/* Returns the config on other devices; takes ownership of it. */
static struct config *set_devices(struct config *config, const char *devices, struct error *error) {
    cJSON *changes = cJSON_CreateObject();
    cJSON_AddStringToObject(changes, "device", devices);
    config = config_change(config, changes, error);
    cJSON_Delete(changes);
    return config;
}

static void model_run_dir(const char *run_dir, const struct gpu_group *model,
                          char folder[PATH_SIZE]) {
    snprintf(folder, PATH_SIZE, "%.4000s-%s", run_dir, model->label);
}

/* One run, in a process of its own, for each device model. Takes ownership of the config. */
static int run_per_model(const char *run_dir, struct config *config,
                         const struct gpu_groups *groups, const struct session_settings *settings,
                         bool *interrupted) {
    struct process_group group = {0};
    for (int m = 0; m < groups->count; m++) {
        struct session_settings model_settings = *settings;
        char folder[PATH_SIZE];
        model_settings.compile_workers =
            gpu_groups_compile_workers(groups, m, settings->compile_workers);
        model_run_dir(run_dir, &groups->items[m], folder);
        if (process_group_fork(&group) == 0) {
            struct error error = {0};
            config = set_devices(config, groups->items[m].devices, &error);
            _exit(config == NULL ? error_report(&error)
                                 : run_in(folder, config, &model_settings, interrupted));
        }
    }
    *interrupted = process_group_wait(&group, NULL);
    config_free(config);
    return group.status;
}

/* ---- on a queue ---- */

/* State of the process that starts a run for each further device model of the workers. */
struct model_starter {
    const char *run_dir;
    struct config *config;
    const struct session_settings *settings;
    struct gpu_groups groups;
    struct process_group group;
};

static void start_model_run(void *context, const struct device_info *info) {
    struct model_starter *starter = context;
    int known_count = starter->groups.count;
    const struct gpu_group *model = gpu_groups_find(&starter->groups, info);
    bool interrupted;
    if (model == NULL || starter->groups.count == known_count ||
        known_count == 0) /* the first run uses this model */
        return;
    struct session_settings model_settings = *starter->settings;
    char folder[PATH_SIZE];
    model_settings.queue_model = &model->first;
    model_run_dir(starter->run_dir, model, folder);
    if (process_group_fork(&starter->group) == 0)
        _exit(run_in(folder, starter->config, &model_settings, &interrupted));
}

/* Runs the search for the first worker's model in this process. A child process starts the runs of
   the other models; it is forked here, before this process has threads. Takes ownership of the
   config. */
static int run_on_queue(const char *run_dir, struct config *config,
                        const struct session_settings *settings, bool *interrupted) {
    struct session_settings model_settings = *settings;
    struct process_group group = {0};
    int pipe_fds[2];
    if (pipe2(pipe_fds, O_CLOEXEC) < 0) {
        struct error error = {0};
        config_free(config);
        error_set(&error, "cannot start a process: %s", strerror(errno));
        return error_report(&error);
    }
    model_settings.queue_model_pipe = pipe_fds[1];
    if (process_group_fork(&group) == 0) {
        struct model_starter *starter = xcalloc(1, sizeof *starter);
        starter->run_dir = run_dir;
        starter->config = config;
        starter->settings = &model_settings;
        const struct process_group_pipe model_messages = {pipe_fds[0], start_model_run, starter};
        close(pipe_fds[1]);
        process_group_wait(&starter->group, &model_messages);
        _exit(starter->group.status);
    }
    int status = run_in(run_dir, config, &model_settings, interrupted);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    if (*interrupted && group.left > 0)
        kill(group.children[0], SIGTERM);
    *interrupted = process_group_wait(&group, NULL) || *interrupted;
    return status != STATUS_DONE ? status : group.status;
}

/* Runs one config. Takes ownership of it. Returns an exit status. */
static int run_config(const char *config_path, struct config *config, const char *out,
                      const struct session_settings *settings, bool *interrupted) {
    struct error error = {0};
    char run_dir[PATH_SIZE];
    if (out != NULL)
        snprintf(run_dir, sizeof run_dir, "%s", out);
    struct gpu_groups *groups = xcalloc(1, sizeof *groups);
    int status;
    if ((out == NULL && run_default_dir(config_path, run_dir, &error) < 0) ||
        (settings->queue.url == NULL && gpu_groups_read(groups, config->device, &error) < 0)) {
        config_free(config);
        status = error_report(&error);
    } else if (settings->queue.url != NULL) {
        status = run_on_queue(run_dir, config, settings, interrupted);
    } else if (groups->count > 1) {
        status = run_per_model(run_dir, config, groups, settings, interrupted);
    } else {
        status = run_in(run_dir, config, settings, interrupted);
    }
    free(groups);
    return status;
}

/* The options that run and resume share, of a struct run_options and a struct session_settings. */
#define BUDGET_OPTIONS(options)                                                                    \
    OPTION("patience", "N", "stop after N trials without an improvement of 1 %",                   \
           &(options).patience),                                                                   \
        OPTION("target", "US", "stop at this latency in microseconds", &(options).target_us),      \
        OPTION(                                                                                    \
            "target-ratio", "R",                                                                   \
            "stop at a speedup of R over the baseline, or the default genome if none was timed",   \
            &(options).target_ratio)
#define SEARCH_OPTIONS(options, settings)                                                          \
    OPTION("compile-workers", "N", "compiler processes (default: cores - one per device)",         \
           &(settings).compile_workers),                                                           \
        QUEUE_OPTIONS((settings).queue, (settings).queue_patience_s),                              \
        OPTION("keep-profiles", NULL,                                                              \
               "keep a report of Nsight Compute of each champion, at the end",                     \
               &(options).keep_profiles),                                                          \
        OPTION("nice", NULL, "pause while another process computes on the GPU", &(options).nice),  \
        OPTION("max-temperature", "C", "pause while the GPU is hotter, until it is 5 C cooler",    \
               &(options).max_temperature_c),                                                      \
        OPTION("verbose", NULL, "print one line per trial", &(settings).verbose)

static int run(const struct verb *verb, int argc, char **argv) {
    struct run_options options = RUN_OPTIONS_NONE;
    struct session_settings settings = {.compile_workers = -1};
    const char *out = NULL;
    const char *templates = NULL;
    const struct option_row rows[] = {
        OPTION("trials", "N", "stop after N trials", &options.trials),
        {"time", "T", "stop after T: 90s, 15m, 8h or hh:mm:ss", OPTION_DURATION, &options.seconds},
        BUDGET_OPTIONS(options),
        OPTION("seed", "N", "seed of the random numbers", &options.seed),
        OPTION("strategy", "NAME",
               "search strategy: auto, evolve, free, insight, full, random, grid",
               &options.strategy),
        OPTION("seed-genome", "GENOMES", "try these genomes first, separated by semicolons",
               &settings.seed_genome),
        OPTION("warm-start", "RUN",
               "try the best genomes of a run, or of the runs in a folder, first",
               &settings.warm_start),
        OPTION("learn-from", "RUNS",
               "learn from runs, folders of runs and recorded spaces, separated by commas; index "
               "(default): from the runs of this host; none: from nothing",
               &options.learn_from),
        OPTION("predict", "N",
               "predict the latency of N random genomes and start from the predictions",
               &settings.predict),
        OPTION("device", "LIST", "auto, cuda:all, or a list: cuda:0,cuda:2 or emulated:sm_XX",
               &options.device),
        OPTION("out", "DIR", "run folder (default: results/NAME of the config)", &out),
        OPTION("templates", "DIR", "folder that is searched for templates first", &templates),
        SEARCH_OPTIONS(options, settings),
        {"islands", "K", NULL, OPTION_REMOVED, NULL},
        {"prefilter", "F", NULL, OPTION_REMOVED, NULL},
        {0},
    };
    int count = options_parse(verb, rows, argc, argv, 1, CONFIGS_MAX);
    if (count < 0)
        return STATUS_USAGE;
    struct error error = {0};
    struct config *configs[CONFIGS_MAX] = {NULL};
    int status = STATUS_DONE;
    signal(SIGPIPE, SIG_IGN);
    cJSON *changes = run_options_changes(&options, &error);
    if (changes == NULL || queue_options_check(settings.queue.url, options.device,
                                               settings.compile_workers, &error) < 0)
        status = -1;
    if (settings.predict < 0 || settings.predict > PREDICT_START_MAX)
        status = error_input(&error, "--predict must be from 0 to %d", PREDICT_START_MAX);
    if (count > 1 && out != NULL)
        status =
            error_input(&error, "--out names the folder of one run: omit it for several configs");
    /* Read every config before the first run starts, so that an error in the last one shows now. */
    for (int i = 0; i < count && status == 0; i++)
        if ((configs[i] = run_options_read_config(argv[i], templates, changes, &error)) == NULL)
            status = -1;
    cJSON_Delete(changes);
    if (status < 0) {
        for (int i = 0; i < count; i++)
            config_free(configs[i]);
        return error_report(&error);
    }
    bool interrupted = false;
    for (int i = 0; i < count; i++) {
        if (interrupted) {
            config_free(configs[i]);
            continue;
        }
        int ended = run_config(argv[i], configs[i], out, &settings, &interrupted);
        status = status == STATUS_DONE ? ended : status;
    }
    return status;
}

/* Returns an exit status. */
static int continue_search(struct session *session, const char *run_dir, const cJSON *changes,
                           const struct session_settings *settings) {
    struct error error = {0};
    if (session_resume(session, run_dir, changes, settings, &error) < 0) {
        session_close(session);
        return error_report(&error);
    }
    if (session_is_finished(session)) {
        log_info("%s is finished after %" PRId64
                 " trials: extend it with --trials, --time, --patience, --target or --target-ratio",
                 run_dir, session->observed);
        session_close(session);
        return STATUS_DONE;
    }
    log_info("resuming %s after %" PRId64 " trials", run_dir, session->observed);
    return run_search(session, &(bool){false});
}

static int resume(const struct verb *verb, int argc, char **argv) {
    struct run_options options = RUN_OPTIONS_NONE;
    struct session_settings settings = {.compile_workers = -1};
    const struct option_row rows[] = {
        OPTION("trials", "N", "stop after N trials in total", &options.trials),
        OPTION("proposals", "N", "of sources that evolve: stop after N proposals in total",
               &options.proposals),
        OPTION("proposer", "COMMAND", "another program that proposes them", &options.proposer),
        {"time", "T", "stop after T in total: 90s, 15m, 8h or hh:mm:ss", OPTION_DURATION,
         &options.seconds},
        BUDGET_OPTIONS(options),
        OPTION("device", "LIST", "another device, or several, of the same model: cuda:1, cuda:all",
               &settings.devices),
        SEARCH_OPTIONS(options, settings),
        {0},
    };
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    struct error error = {0};
    signal(SIGPIPE, SIG_IGN);
    cJSON *changes = run_options_changes(&options, &error);
    if (changes == NULL || queue_options_check(settings.queue.url, settings.devices,
                                               settings.compile_workers, &error) < 0) {
        cJSON_Delete(changes);
        return error_report(&error);
    }
    if (evolve_is_run(argv[0]))
        return evolve_continue(argv[0], changes, &settings);
    struct session *session = xcalloc(1, sizeof *session);
    int status = continue_search(session, argv[0], changes, &settings);
    free(session);
    cJSON_Delete(changes);
    return status;
}

const struct verb verb_run = {
    .name = "run",
    .arguments = "CONFIG... [options]",
    .summary = "search for the fastest kernel of a template",
    VERB_HELP(run),
    .run = run,
};

const struct verb verb_resume = {
    .name = "resume",
    .arguments = "RUN [options]",
    .summary = "continue a run that was stopped or killed",
    VERB_HELP(resume),
    .run = resume,
};
