/* export: writes a run's champion, or one per case, as a folder that builds without evotile. */
#include "export/export.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/export_prepare.h"
#include "cli/export_wheel.h"
#include "run/space_export.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* "torch,jax". */
static int read_frameworks(const char *words, unsigned *with) {
    static const struct {
        const char *word;
        unsigned with;
    } frameworks[] = {{"ctypes", EXPORT_WITH_CTYPES},
                      {"torch", EXPORT_WITH_TORCH | EXPORT_WITH_CTYPES},
                      {"jax", EXPORT_WITH_JAX | EXPORT_WITH_CTYPES}};
    while (words != NULL) {
        const size_t length = strcspn(words, ",");
        unsigned found = 0;
        for (size_t i = 0; i < sizeof frameworks / sizeof *frameworks; i++)
            if (strlen(frameworks[i].word) == length &&
                strncmp(frameworks[i].word, words, length) == 0)
                found = frameworks[i].with;
        if (found == 0) {
            fprintf(stderr,
                    "evotile: export: --with %.*s: give one or more of torch, jax and ctypes, with "
                    "commas between them\n",
                    (int)length, words);
            return -1;
        }
        *with |= found;
        words = words[length] == ',' ? words + length + 1 : NULL;
    }
    return 0;
}

/* Exports one run, or several of different architectures. */
static int export_runs(const struct export_options *options, const struct export_run *wanted,
                       char **folders, int count, struct error *error) {
    struct prepared_export *prepared[ARCHITECTURES_MAX] = {NULL};
    const struct export_request *requests[ARCHITECTURES_MAX];
    int status = 0;
    for (int i = 0; i < count && status == 0; i++) {
        prepared[i] = prepared_export_new(options, wanted, folders[i], error);
        status = prepared[i] != NULL ? 0 : -1;
        if (status == 0)
            requests[i] = &prepared[i]->request;
    }
    if (status == 0)
        status = count == 1 ? export_write(requests[0], options->out, error)
                            : export_write_architectures(requests, count, options->out, error);
    for (int i = 0; i < count && status == 0 && !options->quiet; i++)
        prepared_export_print(prepared[i]);
    if (status == 0 && !options->quiet)
        log_info("exported to %s: `make -C %s check` builds and checks it with nvcc alone%s",
                 options->out, options->out,
                 prepared[0]->reference_count > 0
                     ? ": whether it agrees with the default genome, which does not say that it is "
                       "right"
                     : "");
    if (status == 0 && options->wheel) {
        char wheel[PATH_SIZE];
        status = export_build_wheel(options->out, wheel, error);
        if (status == 0)
            log_info("the wheel is %s", wheel);
    }
    for (int i = 0; i < count; i++)
        prepared_export_free(prepared[i]);
    return status;
}

int export_champions(const char *run, const char *folder, struct error *error) {
    const struct export_options options = {.out = folder, .quiet = true};
    struct export_run *wanted = xcalloc(1, sizeof *wanted);
    char *folders[] = {(char *)run};
    wanted->rank = REPLAY_CHAMPION;
    wanted->trial = -1;
    const int status = export_runs(&options, wanted, folders, 1, error);
    free(wanted);
    return status;
}

/* A trial, a rank or a solution is of one run. */
static int check_several(const struct export_run *run, int count, const char *format) {
    if (count == 1 || (run->trial < 0 && run->solution == NULL && format == NULL))
        return 0;
    fprintf(stderr, "evotile: export: --trial, --solution and --format are for one RUN: leave them "
                    "out, or export each run\n");
    return -1;
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct export_options export = {.dispatch = {.within = NAN}};
    struct export_run *wanted = xcalloc(1, sizeof *wanted);
    wanted->rank = REPLAY_CHAMPION;
    wanted->trial = -1;
    const char *format = NULL, *frameworks = NULL;
    int64_t goal = 0;
    const struct option_row rows[] = {
        OPTION("rank", "K", "rank on the board, from 1 (default: the champion)", &wanted->rank),
        OPTION("trial", "N", "this trial in place of its goal's champion", &wanted->trial),
        OPTION("solution", "NAME",
               "of a run of several solutions, the board of this one alone (default: for each case "
               "that of all)",
               &wanted->solution),
        OPTION("out", "DIR", "the folder to create, such as kernels/NAME; with --format the file",
               &export.out),
        OPTION("force", NULL, "replace an earlier export in that folder", &export.force),
        OPTION("unchecked", NULL, "export a kernel that has not passed the final checks",
               &export.unchecked),
        OPTION("within", "PER_CENT",
               "of a per_case run: time its kernels between the cases, too, and export the fewest "
               "that are within so much of the fastest",
               &export.dispatch.within),
        OPTION("dispatch-cases", "N|FILE",
               "with --within: draw so many shapes from the config's \"ranges\" (default 64), or a "
               "file of shapes",
               &export.dispatch.shapes),
        OPTION("genomes", "N", "with --within: at most so many genomes, whatever the fraction",
               &export.dispatch.most),
        OPTION("candidates", "N",
               "with --within: time all champions, and genomes that are nearly as fast, up to so "
               "many in all (default 24)",
               &export.dispatch.candidates),
        OPTION("rounds", "N",
               "with --within: trials of a kernel at a shape, of those near the fastest (default "
               "2; of predictions 1)",
               &export.dispatch.rounds),
        OPTION("device", "LIST",
               "with --within: devices of the run's model, which share the shapes: cuda:all, "
               "cuda:0,cuda:2 (default: the run's device)",
               &export.dispatch.devices),
        OPTION("sign", "KEYFILE", "sign the manifest with this secret key of minisign",
               &export.sign_key),
        OPTION("with", "LIST", "for frameworks too: torch, jax or ctypes, with commas between them",
               &frameworks),
        OPTION("wheel", NULL,
               "build a wheel for pip in DIR/dist, with --with ctypes if no other is given",
               &export.wheel),
        OPTION("format", "NAME", "write the results of all trials instead: t4 or kernel-tuner",
               &format),
        OPTION("goal", "K", "with --format: case of a per_case run, from 0 (default 0)", &goal),
        {0},
    };
    struct error error = {0};
    int status = STATUS_USAGE;
    const int count = options_parse(verb, rows, argc, argv, 1, ARCHITECTURES_MAX);
    if (count < 0 || read_frameworks(frameworks, &export.with) < 0)
        goto done;
    export.dispatch.given = !isnan(export.dispatch.within);
    if (!export.dispatch.given && (export.dispatch.shapes != NULL || export.dispatch.most > 0 ||
                                   export.dispatch.candidates > 0 || export.dispatch.rounds > 0 ||
                                   export.dispatch.devices != NULL)) {
        fprintf(stderr, "evotile: export: --dispatch-cases, --genomes, --candidates, --rounds and "
                        "--device go with --within PER_CENT\n");
        goto done;
    }
    if (export.wheel && export.with == 0)
        export.with = EXPORT_WITH_CTYPES;
    if (check_several(wanted, count, format) < 0)
        goto done;
    if (export.out == NULL) {
        fprintf(stderr,
                "evotile: export: --out is missing: give a folder, such as --out kernels/NAME\n");
        goto done;
    }
    if (format != NULL) {
        int64_t rows = space_export_write(argv[0], format, (int)goal, export.out, &error);
        status = rows < 0 ? error_report(&error) : STATUS_DONE;
        if (rows >= 0)
            log_info("%" PRId64 " rows of goal %d written to %s", rows, (int)goal, export.out);
        goto done;
    }
    signal(SIGPIPE, SIG_IGN);
    status =
        export_runs(&export, wanted, argv, count, &error) < 0 ? error_report(&error) : STATUS_DONE;
done:
    free(wanted);
    return status;
}

const struct verb verb_export = {
    .name = "export",
    .arguments = "RUN [RUN ...] --out DIR [options]",
    .summary = "export the best kernel as a folder that builds without evotile",
    VERB_HELP(export),
    .run = run,
};
