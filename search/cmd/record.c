/* record: measure a space, or a random part of it, for others and for `simulate`. */
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/recording.h"
#include "cmd/session.h"
#include "store/space_file.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

enum { MANY = 1 << 30 }; /* trials: more than any space that is recorded has */

struct recording {
    const char *config_path, *templates, *out, *run_dir, *format;
    int64_t goal;
    bool exhaustive;
    struct session_settings settings;
};

/* "space" of "x/space.json.gz", beside it. */
static int default_run_dir(const char *out, char run_dir[PATH_SIZE], struct error *error) {
    char name[PATH_SIZE];
    char folder[PATH_SIZE];
    snprintf(name, sizeof name, "%s", path_name(out));
    name[strcspn(name, ".")] = '\0';
    if (*name == '\0')
        return error_input(error, "name the run's folder with --run");
    return path_parent(folder, out, error) < 0 || path_join(run_dir, folder, name, error) < 0 ? -1
                                                                                              : 0;
}

/* A run that is there already is gone on with. */
static int open_session(struct session *session, struct recording *recording, const char *run_dir,
                        struct error *error) {
    int present = path_is_dir(run_dir) ? store_present(run_dir, error) : 0;
    if (present < 0)
        return -1;
    if (present > 0) {
        log_info("going on with %s", run_dir);
        if (recording->exhaustive) /* whatever it was to stop after before */
            recording->settings.trials = MANY;
        return session_resume(session, run_dir, &recording->settings, error);
    }
    struct config *config = config_load(recording->config_path, recording->templates, error);
    if (config == NULL)
        return -1;
    if (recording->exhaustive) { /* until every valid genome was tried */
        config->trials = 0;
        config->seconds = 0;
    }
    return session_create(session, run_dir, config, &recording->settings, error);
}

/* 0: done, 1: interrupted. */
static int measure(struct recording *recording, const char *run_dir, struct error *error) {
    struct session session = {.workers_lock = -1};
    int status = open_session(&session, recording, run_dir, error);
    if (status == 0 && !session_is_finished(&session))
        status = session_search(&session, error);
    session_close(&session);
    return status;
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct recording recording = {
        .format = "t4", .settings = {.seed = -1, .compile_workers = -1, .recording = true}};
    char run_dir[PATH_SIZE];
    const struct option_row rows[] = {
        {"out", "FILE", "the file to write, gzip where it ends in .gz", OPTION_TEXT,
         &recording.out},
        {"trials", "N", "so many genomes, drawn at random", OPTION_INTEGER,
         &recording.settings.trials},
        {"exhaustive", NULL, "every valid genome", OPTION_FLAG, &recording.exhaustive},
        {"format", "NAME", "t4 (the default) or kernel-tuner", OPTION_TEXT, &recording.format},
        {"goal", "K", "which of a per_case config's cases, from 0", OPTION_INTEGER,
         &recording.goal},
        {"run", "DIR", "the run folder (default: FILE without its ending)", OPTION_TEXT,
         &recording.run_dir},
        {"seed", "N", "begin the random numbers from N", OPTION_INTEGER, &recording.settings.seed},
        {"device", "SPEC", "auto, cuda:N or emulated:sm_XX", OPTION_TEXT,
         &recording.settings.device},
        {"templates", "DIR", "where to look for template folders first", OPTION_TEXT,
         &recording.templates},
        {"compile-workers", "N", "compiling processes (default: one less than cores)",
         OPTION_INTEGER, &recording.settings.compile_workers},
        {0},
    };
    struct error error = {0};
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    recording.config_path = argv[0];
    if (recording.out == NULL || recording.exhaustive == (recording.settings.trials > 0)) {
        fprintf(stderr, "evotile: say --out FILE.json.gz, and --trials N or --exhaustive\n");
        return STATUS_USAGE;
    }
    if (space_file_format_parse(recording.format) < 0) {
        recording_write("", recording.format, 0, "", &error);
        return error_report(&error);
    }
    signal(SIGPIPE, SIG_IGN);
    if (recording.run_dir != NULL)
        snprintf(run_dir, sizeof run_dir, "%s", recording.run_dir);
    else if (default_run_dir(recording.out, run_dir, &error) < 0)
        return error_report(&error);
    int status = measure(&recording, run_dir, &error);
    if (status < 0)
        return error_report(&error);
    int64_t written =
        recording_write(run_dir, recording.format, (int)recording.goal, recording.out, &error);
    if (written < 0)
        return error_report(&error);
    log_info("%" PRId64 " rows are in %s%s%s", written, recording.out,
             status == 1 ? "; interrupted: the same command goes on from " : "",
             status == 1 ? run_dir : "");
    return STATUS_DONE;
}

const struct verb verb_record = {
    .name = "record",
    .arguments = "CONFIG --out FILE (--trials N | --exhaustive) [options]",
    .summary = "measure a space for others' tuners and for simulate",
    .help =
        "Compiles, checks and times genomes drawn at random, or all of them: each in full, "
        "without\n"
        "the race and the duels of a search, so that no figure depends on those before it. The\n"
        "trials are kept in a run folder as every run's are; what they came to is written as T4\n"
        "results or as a Kernel Tuner cache. After ^C or a kill the same command goes on.\n\n"
        "  evotile record configs/demo.json --trials 200 --out demo.json.gz\n"
        "  evotile record configs/demo.json --exhaustive --out space.json.gz --device cuda:0\n"
        "  evotile simulate demo.json.gz\n",
    .run = run,
};
