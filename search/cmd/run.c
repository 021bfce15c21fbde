/* run and resume: start and continue a search. */
#include "base/log.h"
#include "cmd/foresee.h"
#include "cmd/session.h"

#include "cmd/cmd.h"
#include "cmd/fleet.h"
#include "cmd/models.h"
#include "evolve/archipelago.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static void say_end(const struct session *session, int status) {
    const char *run = session->run_dir;
    char filtered[64] = "";
    if (session->verdicts[VERDICT_FILTERED] > 0)
        snprintf(filtered, sizeof filtered, ", and %" PRId64 " that were filtered",
                 session->verdicts[VERDICT_FILTERED]);
    log_info("%" PRId64 " trials%s are stored in %s%s", session_trials(session), filtered, run,
             pool_restarts(session->pool) > 0 ? "; some workers had to be restarted" : "");
    if (status == 1)
        log_info("interrupted: continue with `evotile resume %s`", run);
    else
        log_info("finished: `evotile board %s` shows the results", run);
}

/* Runs the search and closes the session. Sets `interrupted` if a signal ended it. Returns an exit
   status. */
static int search(struct session *session, bool *interrupted) {
    struct error error = {0};
    int status = session_search(session, &error);
    if (status < 0) {
        struct error whole = {0};
        error_set(&whole, "%s; then continue with `evotile resume %s`", error.text,
                  session->run_dir);
        whole.kind = error.kind;
        session_close(session);
        return error_report(&whole);
    }
    *interrupted = session_signals() > 0; /* false if the budget ended during a pause */
    say_end(session, status);
    session_close(session);
    return STATUS_DONE;
}

/* results/NAME for configs/NAME.json or recorded:NAME.json.gz, or the first unused name of
   results/NAME-2, results/NAME-3 ... */
static int default_run_dir(const char *config_path, char run_dir[PATH_SIZE], struct error *error) {
    bool recorded = config_path_is_recording(config_path);
    const char *name = path_name(recorded ? strchr(config_path, ':') + 1 : config_path);
    const char *dot =
        recorded ? strchr(name, '.') : strrchr(name, '.'); /* .json.gz is one extension */
    int length = dot != NULL && dot != name ? (int)(dot - name) : (int)strlen(name);
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

enum { CONFIGS_MAX = 100 };

/* Creates and runs a search in one folder. Takes ownership of the config. Returns an exit status.
 */
static int run_in(const char *run_dir, struct config *config,
                  const struct session_settings *settings, bool *interrupted) {
    struct error error = {0};
    struct session session;
    if (session_create(&session, run_dir, config, settings, &error) < 0) {
        session_close(&session);
        return error_report(&error);
    }
    int devices = pool_device_count(session.pool); /* 0 with --queue */
    char times[16] = "";
    if (devices > 1)
        snprintf(times, sizeof times, "%d x ", devices);
    log_info("searching on %s%s; results are written to %s", times, pool_device(session.pool)->name,
             run_dir);
    return search(&session, interrupted);
}

static void model_run_dir(const char *run_dir, const struct model *model, char folder[PATH_SIZE]) {
    snprintf(folder, PATH_SIZE, "%.4000s-%s", run_dir, model->label);
}

/* One run, in a process of its own, for each device model. Takes ownership of the config. */
static int run_models(const char *run_dir, struct config *config, const struct models *models,
                      const struct session_settings *settings, bool *interrupted) {
    struct fleet fleet = {0};
    for (int m = 0; m < models->count; m++) {
        struct session_settings its = *settings;
        char folder[PATH_SIZE];
        its.device = models->items[m].devices;
        its.compile_workers = models_compile_workers(models, m, settings->compile_workers);
        model_run_dir(run_dir, &models->items[m], folder);
        if (fleet_fork(&fleet) == 0)
            _exit(run_in(folder, config, &its, interrupted));
    }
    *interrupted = fleet_wait(&fleet, NULL);
    config_free(config);
    return fleet.status;
}

/* ---- on a queue ---- */

/* State of the process that starts a run for each further device model of the workers. */
struct starter {
    const char *run_dir;
    struct config *config;
    const struct session_settings *settings;
    struct models models;
    struct fleet fleet;
};

static void begin_model(void *context, const struct device_info *info) {
    struct starter *starter = context;
    int known = starter->models.count;
    const struct model *model = models_find(&starter->models, info);
    bool interrupted;
    if (model == NULL || starter->models.count == known ||
        known == 0) /* the first run uses this model */
        return;
    struct session_settings its = *starter->settings;
    char folder[PATH_SIZE];
    its.queue_model = &model->first;
    model_run_dir(starter->run_dir, model, folder);
    if (fleet_fork(&starter->fleet) == 0)
        _exit(run_in(folder, starter->config, &its, &interrupted));
}

/* Runs the search for the first worker's model in this process. A child process starts the runs of
   the other models; it is forked here, before this process has threads. Takes ownership of the
   config. */
static int run_on_queue(const char *run_dir, struct config *config,
                        const struct session_settings *settings, bool *interrupted) {
    struct session_settings its = *settings;
    struct fleet fleet = {0};
    int news[2];
    if (pipe2(news, O_CLOEXEC) < 0) {
        struct error error = {0};
        config_free(config);
        error_set(&error, "cannot start a process: %s", strerror(errno));
        return error_report(&error);
    }
    its.queue_news = news[1];
    if (fleet_fork(&fleet) == 0) {
        struct starter starter = {.run_dir = run_dir, .config = config, .settings = &its};
        const struct fleet_news heard = {news[0], begin_model, &starter};
        close(news[1]);
        fleet_wait(&starter.fleet, &heard);
        _exit(starter.fleet.status);
    }
    int status = run_in(run_dir, config, &its, interrupted);
    close(news[0]);
    close(news[1]);
    if (*interrupted && fleet.left > 0)
        kill(fleet.children[0], SIGTERM);
    *interrupted = fleet_wait(&fleet, NULL) || *interrupted;
    return status != STATUS_DONE ? status : fleet.status;
}

/* Runs one config. Takes ownership of it. Returns an exit status. */
static int run_one(const char *config_path, struct config *config, const char *out,
                   const struct session_settings *settings, bool *interrupted) {
    struct error error = {0};
    struct models models = {.count = 1};
    char run_dir[PATH_SIZE];
    const char *devices = settings->device != NULL ? settings->device : config->device;
    if (out != NULL)
        snprintf(run_dir, sizeof run_dir, "%s", out);
    if ((out == NULL && default_run_dir(config_path, run_dir, &error) < 0) ||
        (settings->queue.url == NULL && models_read(&models, devices, &error) < 0)) {
        config_free(config);
        return error_report(&error);
    }
    return settings->queue.url != NULL ? run_on_queue(run_dir, config, settings, interrupted)
           : models.count > 1          ? run_models(run_dir, config, &models, settings, interrupted)
                                       : run_in(run_dir, config, settings, interrupted);
}

/* NaN means that the option was not given; the settings use 0 for that. */
static int check_target(const char *option, double *target, struct error *error) {
    if (isnan(*target))
        *target = 0;
    else if (!(*target > 0))
        return error_input(error, "%s must be more than 0", option);
    return 0;
}

static int check_limits(struct session_settings *settings, struct error *error) {
    if (check_target("--target", &settings->target_us, error) < 0 ||
        check_target("--target-ratio", &settings->target_ratio, error) < 0)
        return -1;
    return settings->max_temperature_c > TEMPERATURE_MOST_C
               ? error_input(error, "--max-temperature must be at most %d degrees",
                             TEMPERATURE_MOST_C)
               : 0;
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct session_settings settings = {
        .seed = -1, .compile_workers = -1, .target_us = NAN, .target_ratio = NAN};
    const char *out = NULL;
    const char *templates = NULL;
    int64_t islands = -1; /* as in the config */
    const struct option_row rows[] = {
        {"trials", "N", "stop after N trials", OPTION_INTEGER, &settings.trials},
        {"time", "T", "stop after T: 90s, 15m, 8h or hh:mm:ss", OPTION_DURATION, &settings.seconds},
        {"patience", "N", "stop after N trials without an improvement of 1 %", OPTION_INTEGER,
         &settings.patience},
        {"target", "US", "stop at this latency in microseconds", OPTION_NUMBER,
         &settings.target_us},
        {"target-ratio", "R",
         "stop at a speedup of R over the baseline, or the default genome if none was timed",
         OPTION_NUMBER, &settings.target_ratio},
        {"seed", "N", "seed of the random numbers", OPTION_INTEGER, &settings.seed},
        {"strategy", "NAME", "search strategy: auto, evolve, map, free, insight, full", OPTION_TEXT,
         &settings.strategy},
        {"islands", "K", "evolve K separate populations between which the best migrate (default 1)",
         OPTION_INTEGER, &islands},
        {"seed-genome", "GENOMES", "try these genomes first, separated by semicolons", OPTION_TEXT,
         &settings.seed_genome},
        {"warm-start", "RUN", "try the best genomes of a run, or of the runs in a folder, first",
         OPTION_TEXT, &settings.warm_start},
        {"predict", "N", "predict the latency of N random genomes and start from the predictions",
         OPTION_INTEGER, &settings.predict},
        {"prefilter", "F", "skip the fraction F of genomes that is predicted slowest, such as 0.5",
         OPTION_NUMBER, &settings.prefilter},
        {"device", "LIST", "auto, cuda:all, or a list: cuda:0,cuda:2 or emulated:sm_XX",
         OPTION_TEXT, &settings.device},
        {"out", "DIR", "run folder (default: results/NAME of the config)", OPTION_TEXT, &out},
        {"templates", "DIR", "folder that is searched for templates first", OPTION_TEXT,
         &templates},
        {"compile-workers", "N", "compiler processes (default: cores - one per device)",
         OPTION_INTEGER, &settings.compile_workers},
        {"queue", "URL", "use the workers of this NATS server: nats://HOST:4222", OPTION_TEXT,
         &settings.queue.url},
        {"credentials", "FILE",
         "file with a token, USER:PASSWORD, an NKey pair or NATS credentials", OPTION_TEXT,
         &settings.queue.credentials},
        {"ca", "FILE", "CA certificate that the server's TLS certificate is checked against",
         OPTION_TEXT, &settings.queue.authority},
        {"insecure", NULL, "allow a server on another host without credentials", OPTION_FLAG,
         &settings.queue.insecure},
        {"redeliver", "T", "treat a worker as lost after T without a heartbeat (default 30s)",
         OPTION_DURATION, &settings.queue_patience_s},
        {"nice", NULL, "pause while another process computes on the GPU", OPTION_FLAG,
         &settings.nice},
        {"max-temperature", "C", "pause while the GPU is hotter, until it is 5 C cooler",
         OPTION_INTEGER, &settings.max_temperature_c},
        {"verbose", NULL, "print one line per trial", OPTION_FLAG, &settings.verbose},
        {0},
    };
    int count = options_parse(verb, rows, argc, argv, 1, CONFIGS_MAX);
    if (count < 0)
        return STATUS_USAGE;
    struct error error = {0};
    struct config *configs[CONFIGS_MAX] = {NULL};
    int status = STATUS_DONE;
    signal(SIGPIPE, SIG_IGN);
    status = check_limits(&settings, &error);
    if (settings.predict < 0 || settings.predict > FORESEE_MOST)
        status = error_input(&error, "--predict must be from 0 to %d", FORESEE_MOST);
    if (!(settings.prefilter >= 0 && settings.prefilter <= PREFILTER_MOST))
        status = error_input(&error, "--prefilter must be from 0 to %g", PREFILTER_MOST);
    if (settings.prefilter > 0 && settings.predict == 0)
        settings.predict = FORESEE_USUALLY;
    if (islands == 0 || islands > ISLANDS_MAX)
        status = error_input(&error, "--islands must be from 1 to %d", ISLANDS_MAX);
    settings.islands = islands > 0 ? islands : 0;
    if (count > 1 && out != NULL)
        status =
            error_input(&error, "--out names the folder of one run: omit it for several configs");
    /* Read every config before the first run starts, so that an error in the last one shows now. */
    for (int i = 0; i < count && status == 0; i++)
        if ((configs[i] = config_load(argv[i], templates, &error)) == NULL)
            status = -1;
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
        int ended = run_one(argv[i], configs[i], out, &settings, &interrupted);
        status = status == STATUS_DONE ? ended : status;
    }
    return status;
}

static int resume(const struct verb *verb, int argc, char **argv) {
    struct session_settings settings = {
        .seed = -1, .compile_workers = -1, .target_us = NAN, .target_ratio = NAN};
    const struct option_row rows[] = {
        {"trials", "N", "stop after N trials in total", OPTION_INTEGER, &settings.trials},
        {"time", "T", "stop after T in total: 90s, 15m, 8h or hh:mm:ss", OPTION_DURATION,
         &settings.seconds},
        {"patience", "N", "stop after N trials without an improvement of 1 %", OPTION_INTEGER,
         &settings.patience},
        {"target", "US", "stop at this latency in microseconds", OPTION_NUMBER,
         &settings.target_us},
        {"target-ratio", "R",
         "stop at a speedup of R over the baseline, or the default genome if none was timed",
         OPTION_NUMBER, &settings.target_ratio},
        {"device", "LIST", "another device, or several, of the same model: cuda:1, cuda:all",
         OPTION_TEXT, &settings.device},
        {"compile-workers", "N", "compiler processes (default: cores - one per device)",
         OPTION_INTEGER, &settings.compile_workers},
        {"queue", "URL", "use the workers of this NATS server: nats://HOST:4222", OPTION_TEXT,
         &settings.queue.url},
        {"credentials", "FILE",
         "file with a token, USER:PASSWORD, an NKey pair or NATS credentials", OPTION_TEXT,
         &settings.queue.credentials},
        {"ca", "FILE", "CA certificate that the server's TLS certificate is checked against",
         OPTION_TEXT, &settings.queue.authority},
        {"insecure", NULL, "allow a server on another host without credentials", OPTION_FLAG,
         &settings.queue.insecure},
        {"redeliver", "T", "treat a worker as lost after T without a heartbeat (default 30s)",
         OPTION_DURATION, &settings.queue_patience_s},
        {"nice", NULL, "pause while another process computes on the GPU", OPTION_FLAG,
         &settings.nice},
        {"max-temperature", "C", "pause while the GPU is hotter, until it is 5 C cooler",
         OPTION_INTEGER, &settings.max_temperature_c},
        {"verbose", NULL, "print one line per trial", OPTION_FLAG, &settings.verbose},
        {0},
    };
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    struct error error = {0};
    struct session session;
    signal(SIGPIPE, SIG_IGN);
    if (check_limits(&settings, &error) < 0)
        return error_report(&error);
    if (session_resume(&session, argv[0], &settings, &error) < 0) {
        session_close(&session);
        return error_report(&error);
    }
    if (session_is_finished(&session)) {
        log_info("%s is finished after %" PRId64
                 " trials: extend it with --trials, --time, --patience, --target or --target-ratio",
                 argv[0], session.told);
        session_close(&session);
        return STATUS_DONE;
    }
    log_info("resuming %s after %" PRId64 " trials", argv[0], session.told);
    return search(&session, &(bool){false});
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
