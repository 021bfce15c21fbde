/* export: writes a run's champion, or one per case, as a folder that builds without evotile. */
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/preset.h"
#include "cmd/recording.h"
#include "cmd/session.h"
#include "cmd/yardstick.h"
#include "device/nvrtc.h"
#include "freeze/freeze.h"

#include <inttypes.h>
#include <string.h>

struct exporting {
    const char *run_dir, *out;
    int64_t rank;
    bool force;
    struct store *store;
    struct config *config;
    struct device_info device;
    struct template_setting setting;
    struct template *template; /* loaded for all cases */
    struct store_trial *champions[CASES_MAX],
        *presets[CASES_MAX];     /* by goal; the trial of the default genome may be NULL */
    struct yardstick *yardstick; /* NULL if the run has no baseline */
    struct key keys[CASES_MAX];
    struct genome genomes[CASES_MAX];
    struct device_image images[CASES_MAX]; /* by variant */
    struct frozen_unit units[CASES_MAX];
    struct frozen_case cases[CASES_MAX];
    int unit_count;
};

static int goal_of(const struct exporting *exporting, int case_index) {
    return exporting->config->objective == OBJECTIVE_JOINT ? 0 : case_index;
}

static const struct case_outcome *outcome_of(const struct exporting *exporting,
                                             struct store_trial *const *trials, int case_index) {
    const struct store_trial *trial = trials[goal_of(exporting, case_index)];
    if (trial == NULL || trial->outcome->verdict != VERDICT_OK)
        return NULL;
    return &trial->outcome->cases[exporting->config->objective == OBJECTIVE_JOINT ? case_index : 0];
}

/* ---- reading the run ---- */

static int read_device(struct exporting *exporting, struct error *error) {
    int found = session_device(exporting->store, &exporting->device, error);
    return found == 0 ? error_set(error, "%s does not record its device: start a new run",
                                  exporting->run_dir)
                      : found;
}

static int read_champion(struct exporting *exporting, int goal, struct error *error) {
    struct store *store = exporting->store;
    int64_t number = store_ranked(store, goal, exporting->rank, error);
    if (number == STORE_NO_TRIAL)
        return error_set(error,
                         "%s has no verified kernel of rank %lld for %s: `evotile board %s` lists "
                         "its kernels",
                         exporting->run_dir, (long long)exporting->rank,
                         store_goal_name(store, goal), exporting->run_dir);
    if (number < 0)
        return -1;
    exporting->champions[goal] = store_trial_read(store, number, error);
    if (exporting->champions[goal] == NULL ||
        store_key_read(store, number, &exporting->keys[goal], error) < 0 ||
        preset_trial(store, goal, &exporting->presets[goal], error) < 0)
        return -1;
    return genome_parse(&exporting->genomes[goal], exporting->template->space,
                        exporting->champions[goal]->genome, error);
}

static int read_run(struct exporting *exporting, struct error *error) {
    char config_path[PATH_SIZE];
    char template_folder[PATH_SIZE];
    if (session_files(exporting->run_dir, config_path, template_folder, error) < 0)
        return -1;
    exporting->store = store_open(exporting->run_dir, STORE_READ, error);
    char *text = path_read_file(config_path, 64 << 20, NULL, error);
    if (exporting->store == NULL || text == NULL) {
        free(text);
        return -1;
    }
    exporting->config = config_from_text(config_path, text, template_folder, error);
    free(text);
    if (exporting->config == NULL || read_device(exporting, error) < 0 ||
        yardstick_read(exporting->store, &exporting->yardstick, error) < 0)
        return -1;
    exporting->setting = config_setting(exporting->config, ALL_GOALS, &exporting->device);
    exporting->template = template_load(template_folder, &exporting->setting, error);
    if (exporting->template == NULL)
        return -1;
    for (int g = 0; g < config_goal_count(exporting->config); g++)
        if (read_champion(exporting, g, error) < 0)
            return -1;
    return 0;
}

/* ---- writing the export ---- */

static void fill_cases(struct exporting *exporting) {
    const struct genome *genomes[CASES_MAX];
    for (int c = 0; c < exporting->config->case_count; c++)
        genomes[c] = &exporting->genomes[goal_of(exporting, c)];
    exporting->unit_count =
        freeze_divide(exporting->template, genomes, exporting->units, exporting->cases);
    for (int c = 0; c < exporting->config->case_count; c++) {
        const struct case_outcome *preset = outcome_of(exporting, exporting->presets, c);
        struct frozen_case *to = &exporting->cases[c];
        to->outcome = outcome_of(exporting, exporting->champions, c);
        double baseline_us = yardstick_p50_us(exporting->yardstick, c);
        to->ratio_to_baseline = baseline_us > 0 ? baseline_us / to->outcome->warm.p50_us : 0;
        to->ratio_to_default = preset != NULL ? preset->warm.p50_us / to->outcome->warm.p50_us : 0;
    }
}

/* The machine code is compiled again: it is the code that was timed only if the compiler is the
   same. */
static void warn_of_compiler(const struct exporting *exporting, const struct nvrtc *nvrtc) {
    const char *recorded = exporting->keys[0].parts[KEY_NVRTC];
    if (strcmp(recorded, nvrtc_version(nvrtc)) != 0)
        log_warn("the run used NVRTC %s, and this is %s: the exported machine code may differ from "
                 "what was timed; `evotile replay %s` times it",
                 recorded, nvrtc_version(nvrtc), exporting->out);
}

static int compile_units(struct exporting *exporting, struct error *error) {
    struct nvrtc *nvrtc = nvrtc_open(error);
    int result = nvrtc != NULL ? 0 : -1;
    if (nvrtc != NULL)
        warn_of_compiler(exporting, nvrtc);
    for (int u = 0; u < exporting->unit_count && result == 0; u++) {
        struct frozen_unit *unit = &exporting->units[u];
        struct compile_options options;
        char reason[REASON_SIZE];
        int goal = goal_of(exporting, unit->case_index);
        char *source =
            template_source(exporting->template, unit->genome,
                            template_variant(exporting->template, unit->case_index), error);
        if (source == NULL ||
            template_options(exporting->template, unit->genome, false, &options, error) < 0) {
            free(source);
            result = -1;
            break;
        }
        result = nvrtc_compile(nvrtc, exporting->template->source, source, options.items,
                               options.count, &exporting->images[u], reason, error);
        free(source);
        if (result == 1)
            result = error_set(error, "this NVRTC cannot compile the run's kernel: %s", reason);
        unit->cubin = exporting->images[u].cubin;
        unit->cubin_bytes = exporting->images[u].cubin_bytes;
        unit->key = &exporting->keys[goal];
        unit->resources = exporting->champions[goal]->outcome->resources;
    }
    nvrtc_close(nvrtc);
    return result;
}

static int freeze(struct exporting *exporting, struct error *error) {
    char replay[PATH_SIZE + 32];
    const struct outcome *outcome = exporting->champions[0]->outcome;
    fill_cases(exporting);
    if (compile_units(exporting, error) < 0)
        return -1;
    snprintf(replay, sizeof replay, "evotile replay %s", exporting->out);
    const struct freeze_request request = {
        .template = exporting->template,
        .setting = &exporting->setting,
        .unit_count = exporting->unit_count,
        .units = exporting->units,
        .cases = exporting->cases,
        .predicted = outcome->predicted,
        .score_us = exporting->config->objective == OBJECTIVE_JOINT ? outcome->score_us : 0,
        .baseline = exporting->yardstick != NULL ? exporting->yardstick->name : NULL,
        .replay = replay,
        .force = exporting->force,
    };
    return freeze_write(&request, exporting->out, error);
}

static void release(struct exporting *exporting) {
    for (int c = 0; c < CASES_MAX; c++) {
        store_trial_free(exporting->champions[c]);
        store_trial_free(exporting->presets[c]);
        key_release(&exporting->keys[c]);
        nvrtc_image_release(&exporting->images[c]);
    }
    yardstick_free(exporting->yardstick);
    template_free(exporting->template);
    config_free(exporting->config);
    store_close(exporting->store);
    free(exporting);
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct exporting *exporting = calloc(1, sizeof *exporting);
    if (exporting == NULL)
        BUG("out of memory");
    exporting->rank = 1;
    const char *format = NULL;
    int64_t goal = 0;
    const struct option_row rows[] = {
        {"rank", "K", "rank on the board, from 1 (default: 1, the champion)", OPTION_INTEGER,
         &exporting->rank},
        {"out", "DIR", "the folder to create, such as kernels/NAME; with --format the file",
         OPTION_TEXT, &exporting->out},
        {"force", NULL, "replace an earlier export in that folder", OPTION_FLAG, &exporting->force},
        {"format", "NAME", "write the results of all trials instead: t4 or kernel-tuner",
         OPTION_TEXT, &format},
        {"goal", "K", "with --format: case of a per_case run, from 0 (default 0)", OPTION_INTEGER,
         &goal},
        {0},
    };
    struct error error = {0};
    int status = STATUS_USAGE;
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        goto done;
    if (exporting->out == NULL) {
        fprintf(stderr,
                "evotile: export: --out is missing: give a folder, such as --out kernels/NAME\n");
        goto done;
    }
    exporting->run_dir = argv[0];
    if (format != NULL) {
        int64_t rows = recording_write(argv[0], format, (int)goal, exporting->out, &error);
        status = rows < 0 ? error_report(&error) : STATUS_DONE;
        if (rows >= 0)
            log_info("%" PRId64 " rows of goal %d written to %s", rows, (int)goal, exporting->out);
        goto done;
    }
    if (read_run(exporting, &error) < 0 || freeze(exporting, &error) < 0) {
        status = error_report(&error);
        goto done;
    }
    for (int c = 0; c < exporting->config->case_count; c++) {
        char name[CASE_NAME_SIZE];
        template_print_shape(exporting->template, &exporting->config->cases[c], name);
        printf("%s: %.3f us%s, variant %d of %d\n", name, exporting->cases[c].outcome->warm.p50_us,
               exporting->champions[0]->outcome->predicted ? " predicted" : "",
               exporting->cases[c].unit + 1, exporting->unit_count);
    }
    log_info("exported to %s: `make -C %s check` builds and checks it with nvcc alone",
             exporting->out, exporting->out);
    status = STATUS_DONE;
done:
    release(exporting);
    return status;
}

const struct verb verb_export = {
    .name = "export",
    .arguments = "RUN --out DIR [options]",
    .summary = "export the best kernel as a folder that builds without evotile",
    VERB_HELP(export),
    .run = run,
};
