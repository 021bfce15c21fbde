/* run and resume: the search, begun and gone on with. */
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
             pool_restarts(session->pool) > 0 ? "; some cost a worker" : "");
    if (status == 1)
        log_info("interrupted: go on with `evotile resume %s`", run);
    else
        log_info("finished: look with `evotile board %s`", run);
}

/* `interrupted` is set when a signal ended it. */
static int search(struct session *session, bool *interrupted) {
    struct error error = {0};
    int status = session_search(session, &error);
    if (status < 0) {
        struct error whole = {0};
        error_set(&whole, "%s; then go on with `evotile resume %s`", error.text, session->run_dir);
        whole.kind = error.kind;
        session_close(session);
        return error_report(&whole);
    }
    *interrupted = session_signals() > 0; /* not for a pause that outlasted the budget */
    say_end(session, status);
    session_close(session);
    return STATUS_DONE;
}

/* results/NAME for configs/NAME.json or recorded:NAME.json.gz, or the first free of results/NAME-2,
 * -3 ... */
static int default_run_dir(const char *config_path, char run_dir[PATH_SIZE], struct error *error) {
    bool recorded = config_path_is_recording(config_path);
    const char *name = path_name(recorded ? strchr(config_path, ':') + 1 : config_path);
    const char *dot =
        recorded ? strchr(name, '.') : strrchr(name, '.'); /* .json.gz is one ending */
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
    return error_set(error, "results/ is full of runs of %s: name a folder with --out",
                     config_path);
}

enum { CONFIGS_MAX = 100 };

/* Takes the config over. */
static int run_in(const char *run_dir, struct config *config,
                  const struct session_settings *settings, bool *interrupted) {
    struct error error = {0};
    struct session session;
    if (session_create(&session, run_dir, config, settings, &error) < 0) {
        session_close(&session);
        return error_report(&error);
    }
    int devices = pool_device_count(session.pool); /* 0: those of other hosts */
    char times[16] = "";
    if (devices > 1)
        snprintf(times, sizeof times, "%d x ", devices);
    log_info("searching on %s%s; results go to %s", times, pool_device(session.pool)->name,
             run_dir);
    return search(&session, interrupted);
}

static void model_run_dir(const char *run_dir, const struct model *model, char folder[PATH_SIZE]) {
    snprintf(folder, PATH_SIZE, "%.4000s-%s", run_dir, model->label);
}

/* A run for each model. Takes the config over. */
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

/* Who begins a run for each model after the first that workers turn out to have. */
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
    if (model == NULL || starter->models.count == known || known == 0) /* it is the first run's */
        return;
    struct session_settings its = *starter->settings;
    char folder[PATH_SIZE];
    its.queue_model = &model->first;
    model_run_dir(starter->run_dir, model, folder);
    if (fleet_fork(&starter->fleet) == 0)
        _exit(run_in(folder, starter->config, &its, &interrupted));
}

/* The first worker's model has the run here. The runs of others are a child's children: it was
   forked while we had no threads. Takes the config over. */
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

/* Takes the config over. */
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

/* NaN: it was not named, which the settings have as 0. */
static int check_target(const char *option, double *target, struct error *error) {
    if (isnan(*target))
        *target = 0;
    else if (!(*target > 0))
        return error_input(error, "%s wants more than 0", option);
    return 0;
}

static int check_limits(struct session_settings *settings, struct error *error) {
    if (check_target("--target", &settings->target_us, error) < 0 ||
        check_target("--target-ratio", &settings->target_ratio, error) < 0)
        return -1;
    return settings->max_temperature_c > TEMPERATURE_MOST_C
               ? error_input(error, "--max-temperature: up to %d degrees", TEMPERATURE_MOST_C)
               : 0;
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct session_settings settings = {
        .seed = -1, .compile_workers = -1, .target_us = NAN, .target_ratio = NAN};
    const char *out = NULL;
    const char *templates = NULL;
    int64_t islands = -1; /* the config's */
    const struct option_row rows[] = {
        {"trials", "N", "stop after N trials", OPTION_INTEGER, &settings.trials},
        {"time", "T", "stop after T: 90s, 15m, 8h or hh:mm:ss", OPTION_DURATION, &settings.seconds},
        {"patience", "N", "stop after N trials without a gain of 1 %", OPTION_INTEGER,
         &settings.patience},
        {"target", "US", "stop at this latency, in microseconds", OPTION_NUMBER,
         &settings.target_us},
        {"target-ratio", "R",
         "stop when so many times as fast as the baseline, or else the default genome",
         OPTION_NUMBER, &settings.target_ratio},
        {"seed", "N", "begin the random numbers from N", OPTION_INTEGER, &settings.seed},
        {"strategy", "NAME", "how genomes are thought of: auto, evolve, map, free, insight, full",
         OPTION_TEXT, &settings.strategy},
        {"islands", "K", "breed K populations apart, with the best of each migrating (1)",
         OPTION_INTEGER, &islands},
        {"seed-genome", "GENOMES", "begin with these, parted by semicolons", OPTION_TEXT,
         &settings.seed_genome},
        {"warm-start", "RUN", "begin with the best of that run, or of the runs in that folder",
         OPTION_TEXT, &settings.warm_start},
        {"predict", "N",
         "predict the latency of N random genomes, and search by that from the start",
         OPTION_INTEGER, &settings.predict},
        {"prefilter", "F", "compile none of the share F of genomes that is forecast slowest: 0.5",
         OPTION_NUMBER, &settings.prefilter},
        {"device", "LIST", "auto, cuda:all, or some: cuda:0,cuda:2 or emulated:sm_XX", OPTION_TEXT,
         &settings.device},
        {"out", "DIR", "the run folder (default: results/NAME of the config)", OPTION_TEXT, &out},
        {"templates", "DIR", "where to look for template folders first", OPTION_TEXT, &templates},
        {"compile-workers", "N", "compiling processes (default: the cores less one a device)",
         OPTION_INTEGER, &settings.compile_workers},
        {"queue", "URL", "workers come from this NATS server: nats://HOST:4222", OPTION_TEXT,
         &settings.queue.url},
        {"credentials", "FILE", "for it: a token, USER:PASSWORD, an NKey pair or NATS credentials",
         OPTION_TEXT, &settings.queue.credentials},
        {"ca", "FILE", "whom to trust for its TLS certificate", OPTION_TEXT,
         &settings.queue.authority},
        {"insecure", NULL, "another host's, without credentials", OPTION_FLAG,
         &settings.queue.insecure},
        {"redeliver", "T", "a worker that is silent for T has vanished (30s)", OPTION_DURATION,
         &settings.queue_patience_s},
        {"nice", NULL, "pause while another process computes on the GPU", OPTION_FLAG,
         &settings.nice},
        {"max-temperature", "C", "pause while the GPU is hotter, until it is 5 C cooler",
         OPTION_INTEGER, &settings.max_temperature_c},
        {"verbose", NULL, "a line a trial", OPTION_FLAG, &settings.verbose},
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
        status = error_input(&error, "--predict: from 0 to %d", FORESEE_MOST);
    if (!(settings.prefilter >= 0 && settings.prefilter <= PREFILTER_MOST))
        status = error_input(&error, "--prefilter: from 0 to %g", PREFILTER_MOST);
    if (settings.prefilter > 0 && settings.predict == 0)
        settings.predict = FORESEE_USUALLY;
    if (islands == 0 || islands > ISLANDS_MAX)
        status = error_input(&error, "--islands: from 1 to %d", ISLANDS_MAX);
    settings.islands = islands > 0 ? islands : 0;
    if (count > 1 && out != NULL)
        status = error_input(&error, "--out names the folder of one run: leave it out for several");
    /* All are read before the first begins: a mistake in the last shows now, not in the morning. */
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
        {"trials", "N", "stop after N trials in all", OPTION_INTEGER, &settings.trials},
        {"time", "T", "stop after T in all: 90s, 15m, 8h or hh:mm:ss", OPTION_DURATION,
         &settings.seconds},
        {"patience", "N", "stop after N trials without a gain of 1 %", OPTION_INTEGER,
         &settings.patience},
        {"target", "US", "stop at this latency, in microseconds", OPTION_NUMBER,
         &settings.target_us},
        {"target-ratio", "R",
         "stop when so many times as fast as the baseline, or else the default genome",
         OPTION_NUMBER, &settings.target_ratio},
        {"device", "LIST", "the same kind of device elsewhere, or more of it: cuda:1, cuda:all",
         OPTION_TEXT, &settings.device},
        {"compile-workers", "N", "compiling processes (default: the cores less one a device)",
         OPTION_INTEGER, &settings.compile_workers},
        {"queue", "URL", "workers come from this NATS server: nats://HOST:4222", OPTION_TEXT,
         &settings.queue.url},
        {"credentials", "FILE", "for it: a token, USER:PASSWORD, an NKey pair or NATS credentials",
         OPTION_TEXT, &settings.queue.credentials},
        {"ca", "FILE", "whom to trust for its TLS certificate", OPTION_TEXT,
         &settings.queue.authority},
        {"insecure", NULL, "another host's, without credentials", OPTION_FLAG,
         &settings.queue.insecure},
        {"redeliver", "T", "a worker that is silent for T has vanished (30s)", OPTION_DURATION,
         &settings.queue_patience_s},
        {"nice", NULL, "pause while another process computes on the GPU", OPTION_FLAG,
         &settings.nice},
        {"max-temperature", "C", "pause while the GPU is hotter, until it is 5 C cooler",
         OPTION_INTEGER, &settings.max_temperature_c},
        {"verbose", NULL, "a line a trial", OPTION_FLAG, &settings.verbose},
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
        log_info("%s is finished: %" PRId64
                 " trials; --trials, --time, --patience, --target or --target-ratio gives it more",
                 argv[0], session.told);
        session_close(&session);
        return STATUS_DONE;
    }
    log_info("going on with %s after %" PRId64 " trials", argv[0], session.told);
    return search(&session, &(bool){false});
}

const struct verb verb_run = {
    .name = "run",
    .arguments = "CONFIG... [options]",
    .summary = "search for the best kernel",
    .help =
        "Breeds genomes of the config's template, compiles, checks and times each, and stores "
        "every "
        "trial\nin a run folder. It ends when the budget is spent, every goal has reached its "
        "target "
        "or stopped\ngaining, or every valid genome has been tried. ^C (or SIGTERM) finishes what "
        "is "
        "in flight and stops;\n`evotile resume` goes on from there, also after a kill. A second ^C "
        "stops at once: what was in\nflight is then done again on resume.\n\n"
        "Several configs run one after the other, each with the budget given and in its own "
        "folder; "
        "all are\nread before the first begins, and one that fails does not keep the next from "
        "running.\n\n"
        "--seed-genome and --warm-start name genomes that each goal tries right after the default "
        "one; genes\nthat are left out have their defaults. Of earlier runs of the same template "
        "the "
        "six are taken that\ndid best on the nearest cases and devices. They are judged and timed "
        "anew, and stored with the\nrun, so that `resume` needs their source no more.\n\n"
        "--predict N draws N genomes before the search, runs some blocks of each on the emulated "
        "device\n"
        "(no GPU is needed, but NVRTC, also with --queue, and some tenths of a second of a core "
        "each), and\n"
        "predicts what they would take: see `evotile help model`. The default strategy, auto, then "
        "models\n"
        "what is measured as what it differs by from that, in all genomes from the first trial on; "
        "others\n"
        "begin with the four predicted fastest. 200 will do.\n\n"
        "--prefilter F goes on from that, or from 200 if --predict says nothing else: what they "
        "teach makes a\n"
        "guess at any other genome in a few microseconds, and a genome that is guessed to be of "
        "the "
        "space's\n"
        "slowest share F is neither compiled nor tried. It is stored as filtered, never proposed "
        "again, and\n"
        "counts neither as a trial of the budget nor as a failure. What you name, and the default, "
        "are tried in\n"
        "any case. Where it was measured 0.5 lost nothing and brought evolve and full near the "
        "best in "
        "half the\n"
        "trials; auto goes by the same guesses, and hardly ever asks for what is filtered.\n\n"
        "With --islands K, or search.islands of the config, K populations breed apart and share no "
        "more than\nwhat was tried and learnt; every search.migration trials the best of each goes "
        "to the next. Many\nworkers then do not make one population all alike. It is for evolve, "
        "free, full and insight: the other\nstrategies breed from no population.\n\n"
        "On a GPU that others use too, --nice gives no trial to it while a process that is not "
        "the\n"
        "run's computes there; --max-temperature does so while it is too hot, until it is 5 "
        "degrees\n"
        "cooler. What has begun is finished first; compiling goes on, and so does the time of the\n"
        "budget: a run whose time is up while it pauses stops as if it were interrupted.\n\n"
        "With several devices of one model (--device cuda:all) each has a worker, all serve the "
        "one "
        "search,\nand a duel's two sides run on one of them. A device that fails again and again "
        "is "
        "set aside, and the\nothers go on. Devices of several models are as many runs at once, in "
        "folders "
        "that end in the model's\nname: their figures do not mix.\n\n"
        "With --queue the trials are done by workers on any number of hosts (`evotile worker`), "
        "which "
        "may come\nand go; their template travels with the run. It waits for the first, whose "
        "device "
        "model, driver and\nNVRTC are then the run's; workers of another model have a run of their "
        "own, in a folder that ends in\nits name, with the same budget. `resume --queue` goes on "
        "with one of them, plain `resume` on this\nhost's own device. Where all workers have gone "
        "when its time is up, or at ^C, it stops after\na while, and `resume --queue` does what "
        "they "
        "had.\n\n"
        "With recorded:FILE in place of a config, a recorded tuning space (see simulate) is "
        "searched by\nlook-up: it stands in for compiler and GPU.\n\n"
        "  evotile run configs/demo.json\n"
        "  evotile run configs/demo.json --time 8h --device cuda:0 --out results/night\n"
        "  evotile run configs/demo.json --time 8h --device cuda:all\n"
        "  evotile run configs/demo.json --patience 2000 --target 6.5\n"
        "  evotile run configs/demo.json --time 8h --target-ratio 1.5\n"
        "  evotile run configs/demo.json --warm-start results --seed-genome "
        "'MIN_CTAS=2; MIN_CTAS=3,WARPS=8'\n"
        "  evotile run configs/a.json configs/b.json --time 4h\n"
        "  evotile run configs/a.json --queue nats://localhost:4222\n"
        "  evotile run recorded:tests/spaces/pnpoly_RTX_3090.json.gz --trials 400\n",
    .run = run,
};

const struct verb verb_resume = {
    .name = "resume",
    .arguments = "RUN [options]",
    .summary = "go on with a run that was stopped or killed",
    .help =
        "Rebuilds the population and the random numbers from the stored trials, tries again what "
        "was in\nflight, under its own number, and goes on until the budget is spent. No finished "
        "trial is lost or\ndone twice. A finished run starts nothing unless it is given more "
        "trials "
        "or time.\n\n"
        "Where the driver, NVRTC or our way of measuring has changed since, the elites are judged "
        "and timed\nagain first and the search goes on from their new figures; the old ones are "
        "kept. Who fails now is\ndropped. Another device, or an edited template, is refused.\n\n"
        "  evotile resume results/night\n"
        "  evotile resume results/night --time 12h\n"
        "  evotile resume results/night --queue nats://localhost:4222\n"
        "  evotile baseline results/night && evotile resume results/night --target-ratio 1.5\n",
    .run = resume,
};
