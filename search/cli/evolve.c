/* evolve: a search whose sources evolve (evolve/evolve.h). */
#include "cli/evolve.h"

#include "base/log.h"
#include "cli/cli.h"
#include "cli/run_options.h"

#include <inttypes.h>
#include <signal.h>

/* Runs the search, and frees it. Returns an exit status. */
static int search_sources(struct evolve *evolve) {
    struct error error = {0}, full = {0};
    const struct session *session = evolve_session(evolve);
    char run_dir[PATH_SIZE];
    snprintf(run_dir, sizeof run_dir, "%s", session->run_dir);
    const int status = evolve_search(evolve, &error);
    const int64_t decided = evolve_decided(evolve), trials = session->observed;
    evolve_free(evolve);
    if (status < 0) {
        error_set(&full, "%s; then continue with `evotile resume %s`", error.text, run_dir);
        full.kind = error.kind;
        return error_report(&full);
    }
    log_info("%" PRId64 " proposals and %" PRId64 " trials are stored in %s", decided, trials,
             run_dir);
    if (status == 1)
        log_info("interrupted: continue with `evotile resume %s`", run_dir);
    else
        log_info("finished: `evotile summary %s --lineage` shows the changes", run_dir);
    return STATUS_DONE;
}

int evolve_continue(const char *run_dir, cJSON *changes, const struct session_settings *settings) {
    struct error error = {0};
    struct evolve *evolve = NULL;
    if (settings->queue.url != NULL)
        error_input(&error, "sources evolve on the devices of this host: leave --queue out");
    else
        evolve = evolve_resume(run_dir, changes, settings, &error);
    cJSON_Delete(changes);
    if (evolve == NULL)
        return error_report(&error);
    if (evolve_is_finished(evolve)) {
        log_info("%s is finished after %" PRId64
                 " proposals: extend it with --proposals, --trials or --time",
                 run_dir, evolve_decided(evolve));
        evolve_free(evolve);
        return STATUS_DONE;
    }
    log_info("resuming %s after %" PRId64 " proposals", run_dir, evolve_decided(evolve));
    return search_sources(evolve);
}

/* Reads the config and creates the run. NULL with `error`. */
static struct evolve *create(const char *config_path, const char *out, const char *templates,
                             const cJSON *changes, const struct session_settings *settings,
                             struct error *error) {
    char run_dir[PATH_SIZE], temporary[PATH_SIZE] = "";
    struct error ignored = {0};
    struct evolve *evolve = NULL;
    if (out != NULL)
        snprintf(run_dir, sizeof run_dir, "%s", out);
    else if (run_default_dir(config_path, run_dir, error) < 0)
        return NULL;
    struct config *config = run_options_read_config(config_path, templates, changes, error);
    if (config != NULL && *config->evolve.proposer == '\0') {
        error_input(error, "name the program that proposes changes with --proposer COMMAND, such "
                           "as build/proposers/mutate");
        config_free(config);
        return NULL;
    }
    if (config != NULL)
        config = evolve_config(config, temporary, error);
    if (config != NULL)
        evolve = evolve_create(run_dir, config, settings, error);
    if (*temporary != '\0')
        path_remove_tree(temporary, &ignored);
    return evolve;
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct run_options options = RUN_OPTIONS_NONE;
    struct session_settings settings = {.compile_workers = -1};
    const char *out = NULL, *templates = NULL;
    const struct option_row rows[] = {
        OPTION("proposer", "COMMAND", "the program that proposes changes, as the shell runs it",
               &options.proposer),
        OPTION("strategy", "NAME", "what its requests hold: free, insight, full (the default)",
               &options.evolves_by),
        OPTION("proposals", "N", "stop after N proposals", &options.proposals),
        OPTION("trials", "N", "stop after N trials", &options.trials),
        {"time", "T", "stop after T: 90s, 15m, 8h or hh:mm:ss", OPTION_DURATION, &options.seconds},
        OPTION("target", "US", "stop at this latency in microseconds", &options.target_us),
        OPTION("tune", "N", "trials that a solution that passes gets (default 12)", &options.tune),
        OPTION("ahead", "N", "proposals that are asked for and not yet decided on (default 1)",
               &options.ahead),
        {"proposer-timeout", "T", "wait so long for an answer (default 600s)", OPTION_DURATION,
         &options.timeout_s},
        OPTION("seed", "N", "seed of the random numbers", &options.seed),
        OPTION("device", "LIST", "auto, cuda:all, or a list: cuda:0,cuda:2 or emulated:sm_XX",
               &options.device),
        OPTION("out", "DIR", "run folder (default: results/NAME of the config)", &out),
        OPTION("templates", "DIR", "folder that is searched for templates first", &templates),
        OPTION("compile-workers", "N", "compiler processes (default: cores - one per device)",
               &settings.compile_workers),
        OPTION("keep-profiles", NULL,
               "keep a report of Nsight Compute of each solution that was promoted, at the end",
               &options.keep_profiles),
        OPTION("verbose", NULL, "print one line per trial", &settings.verbose),
        {0},
    };
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    struct error error = {0};
    signal(SIGPIPE, SIG_IGN);
    cJSON *changes = run_options_changes(&options, &error);
    struct evolve *evolve =
        changes != NULL ? create(argv[0], out, templates, changes, &settings, &error) : NULL;
    cJSON_Delete(changes);
    if (evolve == NULL)
        return error_report(&error);
    const struct session *session = evolve_session(evolve);
    log_info("sources evolve on %s; results are written to %s", pool_device(session->pool)->name,
             session->run_dir);
    return search_sources(evolve);
}

const struct verb verb_evolve = {
    .name = "evolve",
    .arguments = "CONFIG --proposer COMMAND [options]",
    .summary = "let another program change a kernel's source, and keep what is faster",
    VERB_HELP(evolve),
    .run = run,
};
