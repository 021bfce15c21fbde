/* record: measures a space, or a random sample of it, and writes it as a file. */
#include "base/log.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/run_options.h"
#include "run/space_export.h"
#include "session/session.h"
#include "store/space_file.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct record_options {
    const char *config_path, *templates, *out, *run_dir, *format;
    int64_t goal;
    bool exhaustive;
    struct run_options run;
    struct session_settings settings;
};

/* The run folder for the file "x/space.json.gz" is "x/space". */
static int default_run_dir(const char *out, char run_dir[PATH_SIZE], struct error *error) {
    char name[PATH_SIZE];
    char folder[PATH_SIZE];
    snprintf(name, sizeof name, "%s", path_name(out));
    name[strcspn(name, ".")] = '\0';
    if (*name == '\0')
        return error_input(error, "the file name has no stem: give the run folder with --run DIR");
    return path_parent(folder, out, error) < 0 || path_join(run_dir, folder, name, error) < 0 ? -1
                                                                                              : 0;
}

/* Creates the run, or resumes it. With --exhaustive it has no budget: it ends when every valid
   genome has been tried. */
static int open_run(struct session *session, struct record_options *options, bool run_exists,
                    const char *run_dir, struct error *error) {
    struct session_settings *settings = &options->settings;
    if (run_exists) {
        settings->devices = options->run.device;
        options->run.device = NULL;
    } else {
        options->run.strategy = "random";
    }
    cJSON *changes = run_options_changes(&options->run, error);
    if (changes == NULL)
        return -1;
    if (options->exhaustive) {
        cJSON_AddNullToObject(changes, "budget.trials");
        cJSON_AddNullToObject(changes, "budget.time");
    }
    int status = -1;
    if (run_exists) {
        log_info("resuming %s", run_dir);
        status = session_resume(session, run_dir, changes, settings, error);
    } else {
        struct config *config =
            run_options_read_config(options->config_path, options->templates, changes, error);
        if (config != NULL)
            status = session_create(session, run_dir, config, settings, error);
    }
    cJSON_Delete(changes);
    return status;
}

/* Returns 0 when done, 1 when interrupted, -1 on an error. */
static int run_trials(struct record_options *options, const char *run_dir, struct error *error) {
    struct session *session = xcalloc(1, sizeof *session);
    session->workers_lock = -1;
    int run_exists = path_is_dir(run_dir) ? store_holds_run(run_dir, error) : 0;
    int status = run_exists < 0 ? -1 : open_run(session, options, run_exists > 0, run_dir, error);
    if (status == 0 && !session_is_finished(session))
        status = session_search(session, error);
    if (status >= 0)
        session_add_to_index(session);
    session_close(session);
    free(session);
    return status;
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct record_options options = {.format = "t4",
                                     .run = RUN_OPTIONS_NONE,
                                     .settings = {.compile_workers = -1, .recording = true}};
    char run_dir[PATH_SIZE];
    const struct option_row rows[] = {
        OPTION("out", "FILE", "output file, gzip-compressed if it ends in .gz (required)",
               &options.out),
        OPTION("trials", "N", "measure N random genomes", &options.run.trials),
        OPTION("exhaustive", NULL, "measure every valid genome", &options.exhaustive),
        OPTION("format", "NAME", "t4 or kernel-tuner (default t4)", &options.format),
        OPTION("goal", "K", "case of a per_case config, from 0 (default 0)", &options.goal),
        OPTION("run", "DIR", "run folder (default: FILE without its extension)", &options.run_dir),
        OPTION("seed", "N", "seed of the random numbers", &options.run.seed),
        OPTION("device", "SPEC", "auto, cuda:N or emulated:sm_XX", &options.run.device),
        OPTION("templates", "DIR", "folder that is searched for templates first",
               &options.templates),
        OPTION("compile-workers", "N", "compiler processes (default: cores - 1)",
               &options.settings.compile_workers),
        {0},
    };
    struct error error = {0};
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    options.config_path = argv[0];
    if (options.out == NULL || options.exhaustive == (options.run.trials > 0)) {
        fprintf(stderr, "evotile: record: give --out FILE.json.gz, and either --trials N or "
                        "--exhaustive\n");
        return STATUS_USAGE;
    }
    if (space_file_format_parse(options.format) < 0) {
        space_export_write("", options.format, 0, "", &error);
        return error_report(&error);
    }
    signal(SIGPIPE, SIG_IGN);
    if (options.run_dir != NULL)
        snprintf(run_dir, sizeof run_dir, "%s", options.run_dir);
    else if (default_run_dir(options.out, run_dir, &error) < 0)
        return error_report(&error);
    int status = run_trials(&options, run_dir, &error);
    if (status < 0)
        return error_report(&error);
    int64_t row_count =
        space_export_write(run_dir, options.format, (int)options.goal, options.out, &error);
    if (row_count < 0)
        return error_report(&error);
    log_info("%" PRId64 " rows written to %s%s%s", row_count, options.out,
             status == 1 ? "; interrupted: the same command continues from " : "",
             status == 1 ? run_dir : "");
    return STATUS_DONE;
}

const struct verb verb_record = {
    .name = "record",
    .arguments = "CONFIG --out FILE (--trials N | --exhaustive) [options]",
    .summary = "measure a space and write it as a file, for simulate and other tuners",
    VERB_HELP(record),
    .run = run,
};
