/* export: writes a run's champion, or one per case, as a folder that builds without evotile. */
#include "export/export.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/export_code.h"
#include "cli/export_dispatch.h"
#include "cli/export_run.h"
#include "cli/export_wheel.h"
#include "run/space_export.h"
#include "session/session.h"
#include "session/single_trial.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* What the options say, for every run. */
struct export_options {
    const char *out, *sign_key;
    bool force, unchecked, wheel, quiet;
    unsigned with; /* EXPORT_WITH_* */
    struct dispatch_options dispatch;
};

/* One run. */
struct export_context {
    const struct export_options *options;
    struct export_run run;
    struct measured_dispatch *dispatch; /* NULL: no tree chooses the variants */
    struct template
        *held_out[SOLUTIONS_MAX]; /* by rival; NULL: not exported, or none was checked */
    struct genome default_genome;
    struct device_image images[2 * CASES_MAX]; /* by variant */
    struct device_image reference, setup;      /* empty if their kernels are extern "C" */
    struct export_variant
        variants[2 * CASES_MAX]; /* the exported ones, then the default genome's */
    struct export_case cases[CASES_MAX];
    int variant_count, reference_count;
    char replay[PATH_SIZE + 32];
    struct export_request request;
};

/* ---- final checks ---- */

/* The run's device, or another one of the same model, on this host. */
static int find_device(const struct export_context *context, struct device_info *device,
                       struct error *error) {
    const char *const specs[] = {context->run.device.spec, "auto"};
    struct error ignored;
    for (int i = 0; i < 2; i++)
        if (device_describe(specs[i], device, &ignored) == 0 &&
            strcmp(device->name, context->run.device.name) == 0)
            return 0;
    return error_set(
        error,
        "the kernel has not passed the final checks of a champion, and %s, which would "
        "run them, is not here: export on a host that has one, or give --unchecked",
        context->run.device.name);
}

/* A trial that was never the best of its search has passed only a candidate's gates: it is judged
   as a champion before anything is written. */
static int check_trial(struct export_context *context, struct single_trial *single_trial, int goal,
                       struct error *error) {
    struct store_trial *trial = context->run.champions[goal];
    struct trial_result *result = xcalloc(1, sizeof *result);
    struct trial_request request = {.number = trial->number,
                                    .goal = goal,
                                    .genome = context->run.genomes[goal],
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
    for (int i = 0; i < context->run.goal_count && status == 0; i++) {
        const int g = context->run.goals[i];
        if (context->run.champions[g]->outcome->checks[0] != '\0')
            continue;
        if (single_trial == NULL) {
            status = find_device(context, &device, error);
            if (status == 0)
                single_trial =
                    single_trial_new(context->run.config->path,
                                     context->run.config->template_folder, device.spec, error);
            if (single_trial == NULL)
                return -1;
        }
        status = check_trial(context, single_trial, g, error);
    }
    single_trial_free(single_trial);
    return status;
}

/* ---- writing the export ---- */

static void fill_case(struct export_context *context, int c) {
    const struct export_run *run = &context->run;
    const int goal = export_run_goal(run, c);
    const struct case_outcome *preset = export_run_outcome(run, run->default_trials, c);
    struct export_case *to = &context->cases[c];
    to->outcome = export_run_outcome(run, run->champions, c);
    double baseline_us = baseline_results_p50_us(run->baselines, c);
    const enum minimised objective = export_run_template(run, goal)->objective;
    /* a baseline's call counts as one of the default genome */
    const double work = preset != NULL ? minimised_case_work(objective, to->outcome) /
                                             minimised_case_work(objective, preset)
                                       : 1;
    to->ratio_to_baseline = baseline_us > 0 ? work * baseline_us / to->outcome->warm.p50_us : 0;
    const bool joint = run->config->objective == OBJECTIVE_JOINT;
    const struct baseline_ratio *duel = baseline_duel_ratio(run->duels[goal], joint ? c : 0);
    if (duel != NULL) {
        to->ratio_to_baseline = duel->ratio;
        to->ratio_low = duel->low;
        to->ratio_high = duel->high;
    }
    to->ratio_to_default =
        preset != NULL ? work * preset->warm.p50_us / to->outcome->warm.p50_us : 0;
}

/* The variants that a tree chooses among. */
static void fill_units(struct export_context *context) {
    const struct measured_dispatch *dispatch = context->dispatch;
    context->variant_count = dispatch->unit_count;
    for (int u = 0; u < dispatch->unit_count; u++)
        context->variants[u] = (struct export_variant){
            .template = export_run_template(&context->run, dispatch->units[u].goal),
            .genome = dispatch->units[u].genome,
            .case_index = dispatch->units[u].case_index};
    for (int c = 0; c < context->run.config->case_count; c++)
        context->cases[c] = (struct export_case){.variant = dispatch->case_units[c]};
}

static void fill_cases(struct export_context *context) {
    const struct export_run *run = &context->run;
    const struct genome *genomes[CASES_MAX];
    const struct template *templates[CASES_MAX];
    for (int c = 0; c < run->config->case_count; c++) {
        genomes[c] = &run->genomes[export_run_goal(run, c)];
        templates[c] = export_run_template(run, export_run_goal(run, c));
    }
    if (context->dispatch != NULL)
        fill_units(context);
    else
        context->variant_count = export_assign_variants(templates, genomes, run->config->case_count,
                                                        context->variants, context->cases);
    for (int c = 0; c < run->config->case_count; c++)
        fill_case(context, c);
}

/* The machine code is compiled again: it is the code that was timed only if the compiler is the
   same. */
static void warn_about_compiler(const struct export_context *context, const struct nvrtc *nvrtc) {
    const char *recorded = context->run.keys[context->run.goals[0]].parts[KEY_NVRTC];
    if (strcmp(recorded, nvrtc_version(nvrtc)) != 0)
        log_warn("the run used NVRTC %s, and this is %s: the exported machine code may differ from "
                 "what was timed; `evotile replay %s` times it",
                 recorded, nvrtc_version(nvrtc), context->options->out);
}

static int compile_variant(struct export_context *context, struct nvrtc *nvrtc, int v,
                           struct error *error) {
    struct export_variant *variant = &context->variants[v];
    struct device_image *image = &context->images[v];
    if (export_compile_genome(nvrtc, variant->template, variant->genome, variant->case_index, image,
                              error) < 0)
        return -1;
    variant->kernels = image->kernels;
    variant->cubin = image->cubin;
    variant->cubin_bytes = image->cubin_bytes;
    return 0;
}

/* Adds the default genome's variants, if it is the reference, and compiles them. A problem of
   several solutions has a reference of its own. */
static int compile_default_genome(struct export_context *context, struct nvrtc *nvrtc,
                                  struct error *error) {
    const struct template *template = context->variants[0].template;
    const int first = context->variant_count;
    bool same = false;
    if (template->reference_kind != REFERENCE_DEFAULT_GENOME)
        return 0;
    context->default_genome = genome_default(template->space);
    context->reference_count =
        export_add_references(template, &context->default_genome, &context->variants[first]);
    for (int v = 0; v < first; v++)
        same = same || genome_equal(context->variants[v].genome, &context->default_genome);
    if (same)
        log_warn("the exported kernel is the default genome, which is also the reference: its "
                 "check compares it with itself");
    for (int v = first; v < first + context->reference_count; v++) {
        if (compile_variant(context, nvrtc, v, error) < 0)
            return -1;
        context->variants[v].key = context->variants[0].key;
    }
    return 0;
}

/* What a variant's trial recorded. */
static void describe_variant(struct export_context *context, int v) {
    const struct export_run *run = &context->run;
    struct export_variant *variant = &context->variants[v];
    const struct dispatch_unit *unit =
        context->dispatch != NULL ? &context->dispatch->units[v] : NULL;
    const bool own = unit != NULL && unit->outcome != NULL; /* no case gets it */
    const int goal = own ? unit->goal : export_run_goal(run, variant->case_index);
    const struct outcome *outcome = own ? unit->outcome : run->champions[goal]->outcome;
    variant->key = own ? &unit->key : &run->keys[goal];
    variant->resources = outcome->resources;
    variant->conditions = &outcome->conditions;
    variant->checks = outcome->checks[0] == '\0' ? "not checked as a champion (--unchecked)"
                                                 : outcome_checks(outcome);
    variant->uses = outcome->uses;
    variant->held_out = context->held_out[export_run_rival(run, goal)];
}

static int compile_variants(struct export_context *context, struct error *error) {
    struct nvrtc *nvrtc = nvrtc_open(error);
    const struct resource_budget budget = resource_budget_default();
    const struct template *template = context->variants[0].template;
    int result = nvrtc != NULL ? 0 : -1;
    if (nvrtc != NULL) {
        nvrtc_set_budget(nvrtc, &budget);
        warn_about_compiler(context, nvrtc);
    }
    for (int v = 0; v < context->variant_count && result == 0; v++) {
        describe_variant(context, v);
        result = compile_variant(context, nvrtc, v, error);
    }
    if (result == 0)
        result = compile_default_genome(context, nvrtc, error);
    if (result == 0)
        result = export_compile_launches(nvrtc, template, &template->reference, &context->reference,
                                         error);
    if (result == 0)
        result = export_compile_launches(nvrtc, template, &template->setup, &context->setup, error);
    nvrtc_close(nvrtc);
    return result;
}

/* An emulated device leaves out held-out cases that take too long, and does not record which. */
static int load_held_out(struct export_context *context, struct error *error) {
    const struct export_run *run = &context->run;
    if (run->config->held_out_count == 0 || context->options->unchecked || run->device.predicts)
        return 0;
    for (int i = 0; i < run->goal_count; i++) {
        struct template **held_out = &context->held_out[export_run_rival(run, run->goals[i])];
        const struct template_setting setting =
            config_held_out_setting(run->config, run->goals[i], &run->device);
        if (*held_out == NULL)
            *held_out = template_load(run->config->template_folder, &setting, error);
        if (*held_out == NULL)
            return -1;
    }
    return 0;
}

/* Fills `request`. */
static int prepare_request(struct export_context *context, struct error *error) {
    const struct export_run *run = &context->run;
    const struct outcome *outcome = run->champions[run->goals[0]]->outcome;
    const struct baseline_duel *duel = run->duels[run->goals[0]];
    fill_cases(context);
    if (load_held_out(context, error) < 0 || compile_variants(context, error) < 0)
        return -1;
    snprintf(context->replay, sizeof context->replay, "evotile replay %s", context->options->out);
    context->request = (struct export_request){
        .template = context->variants[0].template,
        .reference_kernels = context->reference.kernels,
        .setup_kernels = context->setup.kernels,
        .setting = &run->setting,
        .variant_count = context->variant_count,
        .reference_count = context->reference_count,
        .variants = context->variants,
        .cases = context->cases,
        .dispatch = context->dispatch != NULL ? &context->dispatch->exported : NULL,
        .predicted = outcome->predicted,
        .score_us = run->config->objective != OBJECTIVE_JOINT    ? 0
                    : run->config->minimise == MINIMISED_LATENCY ? outcome->score_us
                                                                 : outcome_latency_us(outcome),
        .baseline = run->baselines != NULL ? run->baselines->name
                    : duel != NULL         ? duel->baseline
                                           : NULL,
        .replay = context->replay,
        .with = context->options->with,
        .force = context->options->force,
        .sign_key = context->options->sign_key,
    };
    return 0;
}

/* The variant of each case; and its solution, if the variants are of several. */
static void print_cases(const struct export_context *context) {
    const struct export_run *run = &context->run;
    const struct template *first = context->variants[0].template;
    bool several = false;
    for (int v = 0; v < context->variant_count; v++)
        several = several || context->variants[v].template != first;
    for (int c = 0; c < run->config->case_count; c++) {
        const int variant = context->cases[c].variant;
        char name[CASE_NAME_SIZE];
        template_print_shape(first, &run->config->cases[c], name);
        printf("%s: %.3f us%s, variant %d of %d%s%s\n", name,
               context->cases[c].outcome->warm.p50_us,
               run->champions[run->goals[0]]->outcome->predicted ? " predicted" : "", variant + 1,
               context->variant_count, several ? ", " : "",
               several ? context->variants[variant].template->solution : "");
    }
}

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

static void free_context(struct export_context *context) {
    if (context == NULL)
        return;
    for (int v = 0; v < 2 * CASES_MAX; v++)
        nvrtc_image_release(&context->images[v]);
    for (int i = 0; i < SOLUTIONS_MAX; i++)
        template_free(context->held_out[i]);
    nvrtc_image_release(&context->reference);
    nvrtc_image_release(&context->setup);
    export_dispatch_free(context->dispatch);
    export_run_release(&context->run);
    free(context);
}

static int measure_dispatch(struct export_context *context, struct error *error) {
    context->dispatch = export_dispatch_measure(&context->run, &context->options->dispatch, error);
    return context->dispatch != NULL ? 0 : -1;
}

/* Reads a run, checks its champions and compiles them; NULL after an error. */
static struct export_context *read_context(const struct export_options *options,
                                           const struct export_run *from, const char *folder,
                                           struct error *error) {
    struct export_context *context = xcalloc(1, sizeof *context);
    context->options = options;
    context->run = *from;
    context->run.folder = folder;
    if (export_run_read(&context->run, error) == 0 &&
        (!options->dispatch.given || measure_dispatch(context, error) == 0) &&
        (options->unchecked || check_champions(context, error) == 0) &&
        prepare_request(context, error) == 0)
        return context;
    free_context(context);
    return NULL;
}

/* Exports one run, or several of different architectures. */
static int export_runs(const struct export_options *options, const struct export_run *from,
                       char **folders, int count, struct error *error) {
    struct export_context *contexts[ARCHITECTURES_MAX] = {NULL};
    const struct export_request *requests[ARCHITECTURES_MAX];
    int status = 0;
    for (int i = 0; i < count && status == 0; i++) {
        contexts[i] = read_context(options, from, folders[i], error);
        status = contexts[i] != NULL ? 0 : -1;
        if (status == 0)
            requests[i] = &contexts[i]->request;
    }
    if (status == 0)
        status = count == 1 ? export_write(requests[0], options->out, error)
                            : export_write_architectures(requests, count, options->out, error);
    for (int i = 0; i < count && status == 0 && !options->quiet; i++) {
        print_cases(contexts[i]);
        if (contexts[i]->dispatch != NULL)
            export_dispatch_print(contexts[i]->dispatch, &contexts[i]->run);
    }
    if (status == 0 && !options->quiet)
        log_info("exported to %s: `make -C %s check` builds and checks it with nvcc alone%s",
                 options->out, options->out,
                 contexts[0]->reference_count > 0
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
        free_context(contexts[i]);
    return status;
}

int export_champions(const char *run, const char *folder, struct error *error) {
    const struct export_options options = {.out = folder, .quiet = true};
    struct export_run *from = xcalloc(1, sizeof *from);
    char *folders[] = {(char *)run};
    from->rank = REPLAY_CHAMPION;
    from->trial = -1;
    const int status = export_runs(&options, from, folders, 1, error);
    free(from);
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
    struct export_run *of_run = xcalloc(1, sizeof *of_run);
    of_run->rank = REPLAY_CHAMPION;
    of_run->trial = -1;
    const char *format = NULL, *frameworks = NULL;
    int64_t goal = 0;
    const struct option_row rows[] = {
        OPTION("rank", "K", "rank on the board, from 1 (default: the champion)", &of_run->rank),
        OPTION("trial", "N", "this trial in place of its goal's champion", &of_run->trial),
        OPTION("solution", "NAME",
               "of a run of several solutions, the board of this one alone (default: for each case "
               "that of all)",
               &of_run->solution),
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
        OPTION("rounds", "N",
               "with --within: trials of a kernel at a shape, of those near the fastest (default "
               "2; of predictions 1)",
               &export.dispatch.rounds),
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
                                   export.dispatch.rounds > 0)) {
        fprintf(stderr, "evotile: export: --dispatch-cases, --genomes and --rounds go with "
                        "--within PER_CENT\n");
        goto done;
    }
    if (export.wheel && export.with == 0)
        export.with = EXPORT_WITH_CTYPES;
    if (check_several(of_run, count, format) < 0)
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
        export_runs(&export, of_run, argv, count, &error) < 0 ? error_report(&error) : STATUS_DONE;
done:
    free(of_run);
    return status;
}

const struct verb verb_export = {
    .name = "export",
    .arguments = "RUN [RUN ...] --out DIR [options]",
    .summary = "export the best kernel as a folder that builds without evotile",
    VERB_HELP(export),
    .run = run,
};
