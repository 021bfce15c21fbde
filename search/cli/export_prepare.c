#include "cli/export_prepare.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/export_code.h"
#include "cli/export_final_checks.h"
#include "run/baseline_duel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- variants and cases ---- */

static void fill_case(struct prepared_export *prepared, int c) {
    const struct export_run *run = &prepared->run;
    const int goal = export_run_goal(run, c);
    const struct case_outcome *preset = export_run_outcome(run, run->default_trials, c);
    struct export_case *to = &prepared->cases[c];
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
static void fill_units(struct prepared_export *prepared) {
    const struct measured_dispatch *dispatch = prepared->dispatch;
    prepared->variant_count = dispatch->unit_count;
    for (int u = 0; u < dispatch->unit_count; u++)
        prepared->variants[u] = (struct export_variant){
            .template = export_run_template(&prepared->run, dispatch->units[u].goal),
            .genome = dispatch->units[u].genome,
            .case_index = dispatch->units[u].case_index};
    for (int c = 0; c < prepared->run.config->case_count; c++)
        prepared->cases[c] = (struct export_case){.variant = dispatch->case_units[c]};
}

static void fill_cases(struct prepared_export *prepared) {
    const struct export_run *run = &prepared->run;
    const struct genome *genomes[CASES_MAX];
    const struct template *templates[CASES_MAX];
    for (int c = 0; c < run->config->case_count; c++) {
        genomes[c] = &run->genomes[export_run_goal(run, c)];
        templates[c] = export_run_template(run, export_run_goal(run, c));
    }
    if (prepared->dispatch != NULL)
        fill_units(prepared);
    else
        prepared->variant_count = export_assign_variants(
            templates, genomes, run->config->case_count, prepared->variants, prepared->cases);
    for (int c = 0; c < run->config->case_count; c++)
        fill_case(prepared, c);
}

/* ---- machine code ---- */

/* The machine code is compiled again: it is the code that was timed only if the compiler is the
   same. */
static void warn_about_compiler(const struct prepared_export *prepared, const struct nvrtc *nvrtc) {
    const char *recorded = prepared->run.keys[prepared->run.goals[0]].parts[KEY_NVRTC];
    if (strcmp(recorded, nvrtc_version(nvrtc)) != 0)
        log_warn("the run used NVRTC %s, and this is %s: the exported machine code may differ from "
                 "what was timed; `evotile replay %s` times it",
                 recorded, nvrtc_version(nvrtc), prepared->options->out);
}

static int compile_variant(struct prepared_export *prepared, struct nvrtc *nvrtc, int v,
                           struct error *error) {
    struct export_variant *variant = &prepared->variants[v];
    struct device_image *image = &prepared->images[v];
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
static int compile_default_genome(struct prepared_export *prepared, struct nvrtc *nvrtc,
                                  struct error *error) {
    const struct template *template = prepared->variants[0].template;
    const int first = prepared->variant_count;
    bool same = false;
    if (template->reference_kind != REFERENCE_DEFAULT_GENOME)
        return 0;
    prepared->default_genome = genome_default(template->space);
    prepared->reference_count =
        export_add_references(template, &prepared->default_genome, &prepared->variants[first]);
    for (int v = 0; v < first; v++)
        same = same || genome_equal(prepared->variants[v].genome, &prepared->default_genome);
    if (same)
        log_warn("the exported kernel is the default genome, which is also the reference: its "
                 "check compares it with itself");
    for (int v = first; v < first + prepared->reference_count; v++) {
        if (compile_variant(prepared, nvrtc, v, error) < 0)
            return -1;
        prepared->variants[v].key = prepared->variants[0].key;
    }
    return 0;
}

/* What a variant's trial recorded. */
static void describe_variant(struct prepared_export *prepared, int v) {
    const struct export_run *run = &prepared->run;
    struct export_variant *variant = &prepared->variants[v];
    const struct dispatch_unit *unit =
        prepared->dispatch != NULL ? &prepared->dispatch->units[v] : NULL;
    const bool own = unit != NULL && unit->outcome != NULL; /* no case gets it */
    const int goal = own ? unit->goal : export_run_goal(run, variant->case_index);
    const struct outcome *outcome = own ? unit->outcome : run->champions[goal]->outcome;
    variant->key = own ? &unit->key : &run->keys[goal];
    variant->resources = outcome->resources;
    variant->conditions = &outcome->conditions;
    variant->checks = outcome->checks[0] == '\0' ? "not checked as a champion (--unchecked)"
                                                 : outcome_checks(outcome);
    variant->uses = outcome->uses;
    variant->held_out = prepared->held_out[export_run_rival(run, goal)];
}

static int compile_variants(struct prepared_export *prepared, struct error *error) {
    struct nvrtc *nvrtc = nvrtc_open(error);
    const struct resource_budget budget = resource_budget_default();
    const struct template *template = prepared->variants[0].template;
    int result = nvrtc != NULL ? 0 : -1;
    if (nvrtc != NULL) {
        nvrtc_set_budget(nvrtc, &budget);
        warn_about_compiler(prepared, nvrtc);
    }
    for (int v = 0; v < prepared->variant_count && result == 0; v++) {
        describe_variant(prepared, v);
        result = compile_variant(prepared, nvrtc, v, error);
    }
    if (result == 0)
        result = compile_default_genome(prepared, nvrtc, error);
    if (result == 0)
        result = export_compile_launches(nvrtc, template, &template->reference,
                                         &prepared->reference, error);
    if (result == 0)
        result =
            export_compile_launches(nvrtc, template, &template->setup, &prepared->setup, error);
    nvrtc_close(nvrtc);
    return result;
}

/* ---- the request ---- */

/* An emulated device leaves out held-out cases that take too long, and does not record which. */
static int load_held_out(struct prepared_export *prepared, struct error *error) {
    const struct export_run *run = &prepared->run;
    if (run->config->held_out_count == 0 || prepared->options->unchecked || run->device.predicts)
        return 0;
    for (int i = 0; i < run->goal_count; i++) {
        struct template **held_out = &prepared->held_out[export_run_rival(run, run->goals[i])];
        const struct template_setting setting =
            config_held_out_setting(run->config, run->goals[i], &run->device);
        if (*held_out == NULL)
            *held_out = template_load(run->config->template_folder, &setting, error);
        if (*held_out == NULL)
            return -1;
    }
    return 0;
}

static int prepare_request(struct prepared_export *prepared, struct error *error) {
    const struct export_run *run = &prepared->run;
    const struct outcome *outcome = run->champions[run->goals[0]]->outcome;
    const struct baseline_duel *duel = run->duels[run->goals[0]];
    fill_cases(prepared);
    if (load_held_out(prepared, error) < 0 || compile_variants(prepared, error) < 0)
        return -1;
    snprintf(prepared->replay, sizeof prepared->replay, "evotile replay %s",
             prepared->options->out);
    prepared->request = (struct export_request){
        .template = prepared->variants[0].template,
        .reference_kernels = prepared->reference.kernels,
        .setup_kernels = prepared->setup.kernels,
        .setting = &run->setting,
        .variant_count = prepared->variant_count,
        .reference_count = prepared->reference_count,
        .variants = prepared->variants,
        .cases = prepared->cases,
        .dispatch = prepared->dispatch != NULL ? &prepared->dispatch->exported : NULL,
        .predicted = outcome->predicted,
        .score_us = run->config->objective != OBJECTIVE_JOINT    ? 0
                    : run->config->minimise == MINIMISED_LATENCY ? outcome->score_us
                                                                 : outcome_latency_us(outcome),
        .baseline = run->baselines != NULL ? run->baselines->name
                    : duel != NULL         ? duel->baseline
                                           : NULL,
        .replay = prepared->replay,
        .with = prepared->options->with,
        .force = prepared->options->force,
        .sign_key = prepared->options->sign_key,
    };
    return 0;
}

void prepared_export_free(struct prepared_export *prepared) {
    if (prepared == NULL)
        return;
    for (int v = 0; v < 2 * CASES_MAX; v++)
        nvrtc_image_release(&prepared->images[v]);
    for (int i = 0; i < SOLUTIONS_MAX; i++)
        template_free(prepared->held_out[i]);
    nvrtc_image_release(&prepared->reference);
    nvrtc_image_release(&prepared->setup);
    export_dispatch_free(prepared->dispatch);
    export_run_release(&prepared->run);
    free(prepared);
}

static int measure_dispatch(struct prepared_export *prepared, struct error *error) {
    prepared->dispatch =
        export_dispatch_measure(&prepared->run, &prepared->options->dispatch, error);
    return prepared->dispatch != NULL ? 0 : -1;
}

struct prepared_export *prepared_export_new(const struct export_options *options,
                                            const struct export_run *wanted, const char *folder,
                                            struct error *error) {
    struct prepared_export *prepared = xcalloc(1, sizeof *prepared);
    prepared->options = options;
    prepared->run = *wanted;
    prepared->run.folder = folder;
    if (export_run_read(&prepared->run, error) == 0 &&
        (!options->dispatch.given || measure_dispatch(prepared, error) == 0) &&
        (options->unchecked || export_check_champions(&prepared->run, error) == 0) &&
        prepare_request(prepared, error) == 0)
        return prepared;
    prepared_export_free(prepared);
    return NULL;
}

/* ---- printing ---- */

/* The variant of each case; and its solution, if the variants are of several. */
static void print_cases(const struct prepared_export *prepared) {
    const struct export_run *run = &prepared->run;
    const struct template *first = prepared->variants[0].template;
    bool several = false;
    for (int v = 0; v < prepared->variant_count; v++)
        several = several || prepared->variants[v].template != first;
    for (int c = 0; c < run->config->case_count; c++) {
        const int variant = prepared->cases[c].variant;
        char name[CASE_NAME_SIZE];
        template_print_shape(first, &run->config->cases[c], name);
        printf("%s: %.3f us%s, variant %d of %d%s%s\n", name,
               prepared->cases[c].outcome->warm.p50_us,
               run->champions[run->goals[0]]->outcome->predicted ? " predicted" : "", variant + 1,
               prepared->variant_count, several ? ", " : "",
               several ? prepared->variants[variant].template->solution : "");
    }
}

void prepared_export_print(const struct prepared_export *prepared) {
    print_cases(prepared);
    if (prepared->dispatch != NULL)
        export_dispatch_print(prepared->dispatch, &prepared->run);
}
