/* export: writes a run's champion, or one per case, as a folder that builds without evotile. */
#include "export/export.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "device/nvrtc.h"
#include "run/baseline_duel.h"
#include "run/baseline_results.h"
#include "run/default_trial.h"
#include "run/replay_targets.h"
#include "run/space_export.h"
#include "session/session.h"
#include "session/single_trial.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct export_context {
    const char *run_dir, *out, *sign_key;
    int64_t rank, trial;  /* trial: in place of a rank; -1: none */
    const char *solution; /* NULL: that of the rank, or of the trial */
    struct run_solutions solutions;
    int chosen; /* whose board has the rank; ALL_SOLUTIONS: all have */
    int rival;  /* of all goals' rivals, the one that is exported */
    bool force, unchecked;
    struct store *store;
    struct config *config;
    struct device_info device;
    struct template_setting setting;
    struct template *template; /* loaded for all cases */
    struct template *held_out; /* loaded for the held-out cases; NULL: none were checked */
    struct store_trial *champions[CASES_MAX],
        *default_trials[CASES_MAX];     /* by goal; the trial of the default genome may be NULL */
    struct baseline_results *baselines; /* NULL if the run has no baseline */
    struct baseline_duel *duels[CASES_MAX]; /* of the champions, by goal; NULL: none is stored */
    struct key keys[CASES_MAX];
    struct genome genomes[CASES_MAX];
    struct device_image images[CASES_MAX]; /* by variant */
    struct device_image reference;         /* empty if its kernels are extern "C" */
    struct export_variant variants[CASES_MAX];
    struct export_case cases[CASES_MAX];
    int variant_count;
};

static int case_goal(const struct export_context *context, int case_index) {
    const int first = context->config->objective == OBJECTIVE_JOINT ? 0 : case_index;
    return first * config_rivals(context->config) + context->rival;
}

/* The exported goals are those of one solution: from `rival`, in steps of config_rivals. */
static int next_goal(const struct export_context *context, int goal) {
    return goal + config_rivals(context->config);
}

static const struct case_outcome *find_case_outcome(const struct export_context *context,
                                                    struct store_trial *const *trials,
                                                    int case_index) {
    const struct store_trial *trial = trials[case_goal(context, case_index)];
    if (trial == NULL || trial->outcome->verdict != VERDICT_OK)
        return NULL;
    return &trial->outcome->cases[context->config->objective == OBJECTIVE_JOINT ? case_index : 0];
}

/* ---- reading the run ---- */

static int read_device(struct export_context *context, struct error *error) {
    int found = run_dir_device(context->store, &context->device, error);
    return found == 0 ? error_set(error, "%s does not record its device: start a new run",
                                  context->run_dir)
                      : found;
}

/* The trial of --trial must be one that the board could show. */
static int check_named_trial(const struct export_context *context, int *goal, struct error *error) {
    struct store_trial *trial = store_trial_read(context->store, context->trial, error);
    if (trial == NULL)
        return -1;
    bool shown = trial->outcome != NULL && trial->outcome->verdict == VERDICT_OK &&
                 !trial->outcome->raced && !trial->outdated;
    *goal = trial->goal;
    store_trial_free(trial);
    return shown
               ? 0
               : error_input(error,
                             "trial %lld of %s is no verified, fully timed kernel: `evotile board "
                             "%s --all` lists its kernels",
                             (long long)context->trial, context->run_dir, context->run_dir);
}

static int64_t find_ranked(const struct export_context *context, int goal, struct error *error) {
    return replay_choice_trial(context->store, context->config, &context->solutions, goal,
                               context->chosen, context->rank, error);
}

static int read_champion(struct export_context *context, int goal, struct error *error) {
    struct store *store = context->store;
    int trial_goal = -1;
    if (context->trial >= 0 && check_named_trial(context, &trial_goal, error) < 0)
        return -1;
    int64_t number = trial_goal == goal ? context->trial : find_ranked(context, goal, error);
    if (number == STORE_NO_TRIAL)
        return error_set(error,
                         "%s has no verified kernel of rank %lld for %s: `evotile board %s` lists "
                         "its kernels",
                         context->run_dir,
                         (long long)(context->rank == REPLAY_CHAMPION ? 1 : context->rank),
                         store_goal_name(store, goal), context->run_dir);
    if (number < 0)
        return -1;
    context->champions[goal] = store_trial_read(store, number, error);
    if (context->champions[goal] == NULL ||
        store_key_read(store, number, &context->keys[goal], error) < 0 ||
        default_trial_read(store, goal, &context->default_trials[goal], error) < 0 ||
        baseline_duel_read(store, context->champions[goal], &context->duels[goal], error) < 0)
        return -1;
    return genome_parse(&context->genomes[goal], context->template->space,
                        context->champions[goal]->genome, error);
}

/* Chooses the solution: the named one, the named trial's, or the one of the rank. */
static int choose_rival(struct export_context *context, struct error *error) {
    int goal;
    context->chosen = ALL_SOLUTIONS;
    if (run_solutions_read(context->store, &context->solutions, error) < 0)
        return -1;
    if (context->solution == NULL && context->trial < 0)
        return replay_choice_solution(context->store, context->config, &context->solutions,
                                      context->rank, &context->rival, error);
    if (context->solution != NULL
            ? run_solutions_find(&context->solutions, context->run_dir, context->solution,
                                 &context->chosen, error) < 0
            : check_named_trial(context, &goal, error) < 0)
        return -1;
    if (context->solution == NULL)
        context->chosen = goal % context->solutions.count;
    context->rival = context->chosen;
    return 0;
}

static int read_run(struct export_context *context, struct error *error) {
    context->config = run_dir_read_config(context->run_dir, error);
    if (context->config == NULL)
        return -1;
    context->store = store_open(context->run_dir, STORE_READ, error);
    if (context->store == NULL || read_device(context, error) < 0 ||
        baseline_results_read(context->store, &context->baselines, error) < 0)
        return -1;
    if (choose_rival(context, error) < 0)
        return -1;
    context->setting = config_setting(context->config, ALL_GOALS, &context->device);
    context->setting.solution = config_goal_solution(context->config, context->rival);
    context->template = template_load(context->config->template_folder, &context->setting, error);
    if (context->template == NULL)
        return -1;
    for (int g = context->rival; g < config_goal_count(context->config); g = next_goal(context, g))
        if (read_champion(context, g, error) < 0)
            return -1;
    return 0;
}

/* ---- final checks ---- */

/* The run's device, or another one of the same model, on this host. */
static int find_device(const struct export_context *context, struct device_info *device,
                       struct error *error) {
    const char *const specs[] = {context->device.spec, "auto"};
    struct error ignored;
    for (int i = 0; i < 2; i++)
        if (device_describe(specs[i], device, &ignored) == 0 &&
            strcmp(device->name, context->device.name) == 0)
            return 0;
    return error_set(
        error,
        "the kernel has not passed the final checks of a champion, and %s, which would "
        "run them, is not here: export on a host that has one, or give --unchecked",
        context->device.name);
}

/* A trial that was never the best of its search has passed only a candidate's gates: it is judged
   as a champion before anything is written. */
static int check_trial(struct export_context *context, struct single_trial *single_trial, int goal,
                       struct error *error) {
    struct store_trial *trial = context->champions[goal];
    struct trial_result *result = xcalloc(1, sizeof *result);
    struct trial_request request = {.number = trial->number,
                                    .goal = goal,
                                    .genome = context->genomes[goal],
                                    .full = true,
                                    .promote = true,
                                    .seed = single_trial_fresh_seed()};
    log_info("trial %" PRId64 " has not passed the final checks of a champion: it runs them now",
             trial->number);
    int status = single_trial_run(single_trial, &request, result, error);
    if (status == 0 && result->outcome.verdict != VERDICT_OK)
        status = error_refuse(
            error,
            "trial %" PRId64 " fails the final checks of a champion and is not exported: %s: %s",
            trial->number, verdict_name(result->outcome.verdict), result->outcome.reason);
    if (status == 0) {
        struct outcome *outcome = (struct outcome *)trial->outcome; /* this reader's own copy */
        memcpy(outcome->checks, result->outcome.checks, sizeof outcome->checks);
        memcpy(outcome->uses, result->outcome.uses, sizeof outcome->uses);
    }
    trial_result_release(result);
    free(result);
    return status;
}

/* Whatever leaves the run was checked as a champion. */
static int check_champions(struct export_context *context, struct error *error) {
    struct single_trial *single_trial = NULL;
    struct device_info device;
    int status = 0;
    for (int g = context->rival; g < config_goal_count(context->config) && status == 0;
         g = next_goal(context, g)) {
        if (context->champions[g]->outcome->checks[0] != '\0')
            continue;
        if (single_trial == NULL) {
            status = find_device(context, &device, error);
            if (status == 0)
                single_trial = single_trial_new(
                    context->config->path, context->config->template_folder, device.spec, error);
            if (single_trial == NULL)
                return -1;
        }
        status = check_trial(context, single_trial, g, error);
    }
    single_trial_free(single_trial);
    return status;
}

/* ---- writing the export ---- */

static void fill_cases(struct export_context *context) {
    const struct genome *genomes[CASES_MAX];
    for (int c = 0; c < context->config->case_count; c++)
        genomes[c] = &context->genomes[case_goal(context, c)];
    context->variant_count =
        export_assign_variants(context->template, genomes, context->variants, context->cases);
    for (int c = 0; c < context->config->case_count; c++) {
        const struct case_outcome *preset = find_case_outcome(context, context->default_trials, c);
        struct export_case *to = &context->cases[c];
        to->outcome = find_case_outcome(context, context->champions, c);
        double baseline_us = baseline_results_p50_us(context->baselines, c);
        const enum minimised objective = context->template->objective;
        /* a baseline's call counts as one of the default genome */
        const double work = preset != NULL ? minimised_case_work(objective, to->outcome) /
                                                 minimised_case_work(objective, preset)
                                           : 1;
        to->ratio_to_baseline = baseline_us > 0 ? work * baseline_us / to->outcome->warm.p50_us : 0;
        const bool joint = context->config->objective == OBJECTIVE_JOINT;
        const struct baseline_ratio *duel =
            baseline_duel_ratio(context->duels[case_goal(context, c)], joint ? c : 0);
        if (duel != NULL) {
            to->ratio_to_baseline = duel->ratio;
            to->ratio_low = duel->low;
            to->ratio_high = duel->high;
        }
        to->ratio_to_default =
            preset != NULL ? work * preset->warm.p50_us / to->outcome->warm.p50_us : 0;
    }
}

/* The machine code is compiled again: it is the code that was timed only if the compiler is the
   same. */
static void warn_about_compiler(const struct export_context *context, const struct nvrtc *nvrtc) {
    const char *recorded = context->keys[context->rival].parts[KEY_NVRTC];
    if (strcmp(recorded, nvrtc_version(nvrtc)) != 0)
        log_warn("the run used NVRTC %s, and this is %s: the exported machine code may differ from "
                 "what was timed; `evotile replay %s` times it",
                 recorded, nvrtc_version(nvrtc), context->out);
}

/* Compiles a source of the template. Takes ownership of it. */
static int compile_source(struct nvrtc *nvrtc, const char *name, char *source,
                          const struct compile_options *options, const struct kernel_list *kernels,
                          struct device_image *image, struct error *error) {
    char reason[REASON_SIZE];
    const struct nvrtc_program program = {.name = name,
                                          .source = source,
                                          .options = options->items,
                                          .option_count = options->count,
                                          .kernels = kernels->items,
                                          .kernel_count = kernels->count};
    int result = nvrtc_compile_program(nvrtc, &program, false, image, reason, error);
    free(source);
    return result == 1 ? error_set(error, "this NVRTC cannot compile the run's kernel: %s", reason)
                       : result;
}

/* For the names in machine code of kernels that are C++ templates. No option changes them. */
static int compile_reference(struct export_context *context, struct nvrtc *nvrtc,
                             struct error *error) {
    struct compile_options options;
    struct kernel_list kernels;
    launch_list_kernels(&context->template->reference, &kernels);
    if (kernels.count == 0)
        return 0;
    char *source = template_reference_source(context->template, error);
    if (source == NULL || template_options(context->template, context->variants[0].genome, false,
                                           &options, error) < 0) {
        free(source);
        return -1;
    }
    return compile_source(nvrtc, context->template->reference_source, source, &options, &kernels,
                          &context->reference, error);
}

static int compile_variants(struct export_context *context, struct error *error) {
    struct nvrtc *nvrtc = nvrtc_open(error);
    const struct resource_budget budget = resource_budget_default();
    int result = nvrtc != NULL ? 0 : -1;
    if (nvrtc != NULL) {
        nvrtc_set_budget(nvrtc, &budget);
        warn_about_compiler(context, nvrtc);
    }
    for (int u = 0; u < context->variant_count && result == 0; u++) {
        struct export_variant *variant = &context->variants[u];
        struct compile_options options;
        struct kernel_list kernels;
        int goal = case_goal(context, variant->case_index);
        const int compiled = template_variant(context->template, variant->case_index);
        char *source = template_source(context->template, variant->genome, compiled, error);
        if (source == NULL ||
            template_options(context->template, variant->genome, false, &options, error) < 0 ||
            template_kernels(context->template, variant->genome, compiled, &kernels, error) < 0) {
            free(source);
            result = -1;
            break;
        }
        result = compile_source(nvrtc, context->template->source, source, &options, &kernels,
                                &context->images[u], error);
        variant->kernels = context->images[u].kernels;
        variant->cubin = context->images[u].cubin;
        variant->cubin_bytes = context->images[u].cubin_bytes;
        variant->key = &context->keys[goal];
        variant->resources = context->champions[goal]->outcome->resources;
        variant->conditions = &context->champions[goal]->outcome->conditions;
        variant->checks = context->champions[goal]->outcome->checks[0] == '\0'
                              ? "not checked as a champion (--unchecked)"
                              : outcome_checks(context->champions[goal]->outcome);
        variant->uses = context->champions[goal]->outcome->uses;
    }
    if (result == 0)
        result = compile_reference(context, nvrtc, error);
    nvrtc_close(nvrtc);
    return result;
}

/* An emulated device leaves out held-out cases that take too long, and does not record which. */
static int load_held_out(struct export_context *context, struct error *error) {
    const struct config *config = context->config;
    const struct template_setting setting =
        config_held_out_setting(config, context->rival, &context->device);
    if (config->held_out_count == 0 || context->unchecked || context->device.predicts)
        return 0;
    context->held_out = template_load(config->template_folder, &setting, error);
    return context->held_out != NULL ? 0 : -1;
}

static int write_export(struct export_context *context, struct error *error) {
    char replay[PATH_SIZE + 32];
    const struct outcome *outcome = context->champions[context->rival]->outcome;
    fill_cases(context);
    if (load_held_out(context, error) < 0 || compile_variants(context, error) < 0)
        return -1;
    snprintf(replay, sizeof replay, "evotile replay %s", context->out);
    const struct export_request request = {
        .template = context->template,
        .reference_kernels = context->reference.kernels,
        .setting = &context->setting,
        .variant_count = context->variant_count,
        .variants = context->variants,
        .cases = context->cases,
        .held_out = context->held_out,
        .predicted = outcome->predicted,
        .score_us = context->config->objective != OBJECTIVE_JOINT    ? 0
                    : context->config->minimise == MINIMISED_LATENCY ? outcome->score_us
                                                                     : outcome_latency_us(outcome),
        .baseline = context->baselines != NULL ? context->baselines->name
                    : context->duels[context->rival] != NULL
                        ? context->duels[context->rival]->baseline
                        : NULL,
        .replay = replay,
        .force = context->force,
        .sign_key = context->sign_key,
    };
    return export_write(&request, context->out, error);
}

static void release(struct export_context *context) {
    for (int c = 0; c < CASES_MAX; c++) {
        store_trial_free(context->champions[c]);
        store_trial_free(context->default_trials[c]);
        free(context->duels[c]);
        key_release(&context->keys[c]);
        nvrtc_image_release(&context->images[c]);
    }
    nvrtc_image_release(&context->reference);
    baseline_results_free(context->baselines);
    template_free(context->template);
    template_free(context->held_out);
    config_free(context->config);
    store_close(context->store);
    free(context);
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct export_context *context = xcalloc(1, sizeof *context);
    context->rank = REPLAY_CHAMPION;
    context->trial = -1;
    const char *format = NULL;
    int64_t goal = 0;
    const struct option_row rows[] = {
        OPTION("rank", "K", "rank on the board, from 1 (default: the champion)", &context->rank),
        OPTION("trial", "N", "this trial in place of its goal's champion", &context->trial),
        OPTION("solution", "NAME", "of a run of several solutions, the board of this one alone",
               &context->solution),
        OPTION("out", "DIR", "the folder to create, such as kernels/NAME; with --format the file",
               &context->out),
        OPTION("force", NULL, "replace an earlier export in that folder", &context->force),
        OPTION("unchecked", NULL, "export a kernel that has not passed the final checks",
               &context->unchecked),
        OPTION("sign", "KEYFILE", "sign the manifest with this secret key of minisign",
               &context->sign_key),
        OPTION("format", "NAME", "write the results of all trials instead: t4 or kernel-tuner",
               &format),
        OPTION("goal", "K", "with --format: case of a per_case run, from 0 (default 0)", &goal),
        {0},
    };
    struct error error = {0};
    int status = STATUS_USAGE;
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        goto done;
    if (context->out == NULL) {
        fprintf(stderr,
                "evotile: export: --out is missing: give a folder, such as --out kernels/NAME\n");
        goto done;
    }
    context->run_dir = argv[0];
    if (format != NULL) {
        int64_t rows = space_export_write(argv[0], format, (int)goal, context->out, &error);
        status = rows < 0 ? error_report(&error) : STATUS_DONE;
        if (rows >= 0)
            log_info("%" PRId64 " rows of goal %d written to %s", rows, (int)goal, context->out);
        goto done;
    }
    signal(SIGPIPE, SIG_IGN);
    if (read_run(context, &error) < 0 ||
        (!context->unchecked && check_champions(context, &error) < 0) ||
        write_export(context, &error) < 0) {
        status = error_report(&error);
        goto done;
    }
    for (int c = 0; c < context->config->case_count; c++) {
        char name[CASE_NAME_SIZE];
        template_print_shape(context->template, &context->config->cases[c], name);
        printf("%s: %.3f us%s, variant %d of %d\n", name, context->cases[c].outcome->warm.p50_us,
               context->champions[context->rival]->outcome->predicted ? " predicted" : "",
               context->cases[c].variant + 1, context->variant_count);
    }
    log_info("exported to %s: `make -C %s check` builds and checks it with nvcc alone",
             context->out, context->out);
    status = STATUS_DONE;
done:
    release(context);
    return status;
}

const struct verb verb_export = {
    .name = "export",
    .arguments = "RUN --out DIR [options]",
    .summary = "export the best kernel as a folder that builds without evotile",
    VERB_HELP(export),
    .run = run,
};
