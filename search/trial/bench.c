#include "trial/bench.h"

#include "base/clock.h"
#include "base/log.h"
#include "trial/journey.h"

#include <math.h>
#include <string.h>

static int load_reference(struct bench *bench, struct error *error) {
    char architecture[32];
    char reason[REASON_SIZE];
    struct device_image image;
    const struct template *template = compiler_template(bench->compiler, 0, error);
    if (template == NULL)
        return -1;
    char *source = template_reference_source(template, error);
    if (source == NULL)
        return -1;
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d",
             bench->device->info.compute_capability);
    const char *options[] = {architecture, "--std=c++17", "--ptxas-options=-v", "-lineinfo"};
    int status = nvrtc_compile(compiler_nvrtc(bench->compiler), template->reference_source, source,
                               options, 4, &image, reason, error);
    free(source);
    if (status == 1)
        return error_input(error, "%s/%s does not compile: %s", template->folder,
                           template->reference_source, reason);
    if (status == 0) {
        status =
            bench->device->backend->module_load(bench->device, &image, &bench->reference, error);
        nvrtc_image_release(&image);
    }
    return status;
}

struct bench *bench_new(const struct config *config, struct device *device,
                        struct compiler *compiler, struct error *error) {
    struct bench *bench = calloc(1, sizeof *bench);
    if (bench == NULL)
        BUG("out of memory");
    bench->config = config;
    bench->device = device;
    bench->compiler = compiler;
    bench->watch = watch_new(&device->info);
    int others = watch_others(bench->watch);
    if (others > 0)
        log_warn("%d other process%s on this GPU: figures will be off; end %s, or take another "
                 "GPU with --device",
                 others, others == 1 ? " computes" : "es compute", others == 1 ? "it" : "them");
    bench->judge = judge_new(device, compiler_nvrtc(compiler), error);
    if (bench->judge != NULL && load_reference(bench, error) == 0)
        return bench;
    bench_free(bench);
    return NULL;
}

void bench_free(struct bench *bench) {
    if (bench == NULL)
        return;
    bench_close_guest(bench);
    for (int g = 0; g < CASES_MAX; g++)
        template_free(bench->probes[g]);
    if (bench->reference != NULL)
        bench->device->backend->module_unload(bench->device, bench->reference);
    judge_free(bench->judge);
    watch_free(bench->watch);
    free(bench);
}

/* NULL without an error: the template has no probe cases. */
static const struct template *probes_of(struct bench *bench, int goal,
                                        const struct template *template, struct error *error) {
    if (!bench->probes_known[goal]) {
        struct template_setting setting = config_setting(bench->config, goal, &bench->device->info);
        bench->probes[goal] = template_load_probes(template, &setting, error);
        bench->probes_known[goal] = true;
    }
    return bench->probes[goal];
}

int journey_load(struct journey *journey, const struct device_image images[CASES_MAX]) {
    struct device *device = journey->bench->device;
    struct error refused;
    double start = clock_seconds();
    for (int c = 0; c < journey->template->case_count; c++) {
        uint64_t mark = 0;
        if (images[c].cubin == NULL)
            continue;
        if (device->backend->module_load(device, &images[c], &journey->modules[c], &refused) < 0) {
            trial_gate(journey->result, "load", false, clock_seconds() - start, "%.150s",
                       refused.text);
            trial_end(journey->result, VERDICT_LAUNCH_FAILED, refused.text);
            return 1;
        }
        if (device->backend->global_u64(device, journey->modules[c], TEMPLATE_MARK_SYMBOL, &mark,
                                        journey->error) < 0)
            return -1;
        if (mark != template_genome_mark(&journey->request->genome))
            return error_set(
                journey->error,
                "the compiled kernel is another genome's: the kernel cache is damaged, "
                "remove it");
    }
    trial_gate(journey->result, "load", true, clock_seconds() - start, "genome's mark read back");
    return 0;
}

/* The real resources, from the device: of the launch with the most shared memory. */
static int check_resources(struct journey *journey) {
    struct device *device = journey->bench->device;
    struct outcome *outcome = &journey->result->outcome;
    int spilled = outcome->resources.spill_bytes;
    struct plan plan;
    char reason[REASON_SIZE];
    for (int c = 0; c < journey->template->case_count; c++) {
        struct device_module *module = journey->modules[template_variant(journey->template, c)];
        if (template_plan(journey->template, &journey->request->genome, c, &plan, journey->error) <
            0)
            return -1;
        for (int i = 0; i < plan.launch_count; i++) {
            const struct planned_launch *launch = &plan.launches[i];
            int threads = (int)(launch->block[0] * launch->block[1] * launch->block[2]);
            int ctas = (int)(launch->grid[0] * launch->grid[1] * launch->grid[2]);
            struct resources resources = {.spill_bytes = spilled};
            if (device->backend->resources(device, module, launch->kernel, threads,
                                           launch->smem_bytes, &resources, journey->error) < 0)
                return -1;
            if ((c == 0 && i == 0) || resources.smem_bytes > outcome->resources.smem_bytes)
                outcome->resources = resources;
            if (i == 0 || ctas > outcome->cases[c].ctas)
                outcome->cases[c].ctas = ctas;
            if (resources.smem_bytes > journey->bench->config->smem_limit_bytes ||
                resources.ctas_per_sm == 0) {
                snprintf(reason, sizeof reason,
                         "%s takes %d bytes of shared memory and %d registers a thread for %d "
                         "threads; the limit is %d bytes%s",
                         launch->kernel, resources.smem_bytes, resources.registers, threads,
                         journey->bench->config->smem_limit_bytes,
                         resources.ctas_per_sm == 0 ? ", and no block fits a multiprocessor" : "");
                trial_gate(journey->result, "resources", false, 0, "%.150s", reason);
                trial_end(journey->result, VERDICT_OVER_LIMIT, reason);
                return 1;
            }
        }
    }
    trial_gate(journey->result, "resources", true, 0, "%d bytes shared, %d registers, %d CTAs/SM",
               outcome->resources.smem_bytes, outcome->resources.registers,
               outcome->resources.ctas_per_sm);
    return 0;
}

struct verify_case journey_case(const struct journey *journey, const struct template *template,
                                int case_index, struct device_module *module) {
    return (struct verify_case){
        .device = journey->bench->device,
        .judge = journey->bench->judge,
        .reference = journey->bench->reference,
        .template = template,
        .genome = &journey->request->genome,
        .case_index = case_index,
        .module = module,
        .deadline_s = journey->deadline_s,
    };
}

uint64_t journey_seed(const struct journey *journey, int case_index, int input) {
    uint64_t seed = journey->request->seed;
    return (seed * 1000 + (uint64_t)case_index) * 1000 + (uint64_t)input;
}

struct measure_settings journey_settings(const struct journey *journey, int case_index) {
    const struct timing *timing = &journey->bench->config->timing;
    return (struct measure_settings){.sets = timing->input_sets,
                                     .launches = timing->launches,
                                     .warmup_us = 1000 * timing->warmup_ms,
                                     .seed = journey_seed(journey, case_index, 900),
                                     .watch = journey->bench->watch};
}

/* The case of the goal whose variant a probe case has. */
static int variant_of_probe(const struct template *template, const struct template *probes,
                            int probe) {
    for (int c = 0; c < template->case_count; c++) {
        bool same = true;
        for (int d = 0; d < template->dimension_count; d++)
            same = same && (!template->dimensions[d].specialised ||
                            template->cases[c].values[d] == probes->cases[probe].values[d]);
        if (same)
            return template_variant(template, c);
    }
    BUG("a probe case of no variant");
}

int journey_fail(struct journey *journey, const char *gate, const struct template *template,
                 int case_index, double start, enum verdict verdict, const char *reason) {
    char name[CASE_NAME_SIZE];
    char text[REASON_SIZE];
    template_print_shape(template, &template->cases[case_index], name);
    snprintf(text, sizeof text, "%s: %.400s", name, reason);
    trial_gate(journey->result, gate, false, clock_seconds() - start, "%.150s", text);
    trial_end(journey->result, verdict, text);
    return 1;
}

static int verify_probes(struct journey *journey) {
    double start = clock_seconds();
    int tried = 0;
    struct error none = {0};
    const struct template *probes =
        probes_of(journey->bench, journey->request->goal, journey->template, &none);
    if (probes == NULL) {
        *journey->error = none;
        return none.kind == ERROR_NONE ? 0 : -1;
    }
    for (int p = 0; p < probes->case_count; p++) {
        struct errors errors;
        char reason[REASON_SIZE];
        enum verdict verdict;
        if (!template_admits(probes, &journey->request->genome, p))
            continue;
        int variant = variant_of_probe(journey->template, probes, p);
        struct verify_case one = journey_case(journey, probes, p, journey->modules[variant]);
        if (verify_input(&one, journey_seed(journey, 500 + p, 0), true, &verdict, &errors, reason,
                         journey->error) < 0)
            return -1;
        if (verdict != VERDICT_OK)
            return journey_fail(journey, "probe cases", probes, p, start, verdict, reason);
        tried++;
    }
    trial_gate(journey->result, "probe cases", true, clock_seconds() - start, "%d of %d correct",
               tried, probes->case_count);
    return 0;
}

/* What a device that interprets can run of a real case in bearable time. */
static bool too_long_to_run(const struct journey *journey, const struct plan *plan) {
    return journey->bench->device->info.predicts && plan->operations > INT64_C(100000000);
}

static int verify_cases(struct journey *journey) {
    double start = clock_seconds();
    int tried = 0;
    double worst = 0;
    for (int c = 0; c < journey->template->case_count; c++) {
        struct errors *errors = &journey->result->outcome.cases[c].errors;
        struct device_module *module = journey->modules[template_variant(journey->template, c)];
        struct verify_case one = journey_case(journey, journey->template, c, module);
        struct plan plan;
        if (template_plan(journey->template, &journey->request->genome, c, &plan, journey->error) <
            0)
            return -1;
        if (too_long_to_run(journey, &plan))
            continue;
        tried++;
        for (int input = 0; input < journey->bench->config->timing.inputs; input++) {
            struct errors found;
            char reason[REASON_SIZE];
            enum verdict verdict;
            if (verify_input(&one, journey_seed(journey, c, input), input == 0, &verdict, &found,
                             reason, journey->error) < 0)
                return -1;
            if (verdict != VERDICT_OK)
                return journey_fail(journey, "cases", journey->template, c, start, verdict, reason);
            errors->relative_l2 = fmax(errors->relative_l2, found.relative_l2);
            errors->row_relative_l2 = fmax(errors->row_relative_l2, found.row_relative_l2);
            errors->max_absolute = fmax(errors->max_absolute, found.max_absolute);
        }
        worst = fmax(worst, errors->relative_l2);
    }
    if (tried < journey->template->case_count)
        trial_gate(journey->result, "cases", true, clock_seconds() - start,
                   "%d of %d correct, error %.2e; the rest are too long for this device", tried,
                   journey->template->case_count, worst);
    else
        trial_gate(journey->result, "cases", true, clock_seconds() - start,
                   "%d of %d correct, error %.2e", tried, journey->template->case_count, worst);
    return 0;
}

int journey_verify(struct journey *journey) {
    double start = clock_seconds();
    int status = check_resources(journey);
    if (status == 0)
        status = verify_probes(journey);
    if (status == 0)
        status = verify_cases(journey);
    journey->result->outcome.verify_s = clock_seconds() - start;
    return status;
}

void journey_unload(struct journey *journey) {
    for (int c = 0; c < CASES_MAX; c++)
        if (journey->modules[c] != NULL)
            journey->bench->device->backend->module_unload(journey->bench->device,
                                                           journey->modules[c]);
}

static int travel(struct journey *journey, const struct device_image *images) {
    struct outcome *outcome = &journey->result->outcome;
    int status = journey_load(journey, images);
    if (status == 0)
        status = journey_verify(journey);
    double start = clock_seconds();
    watch_begin(journey->bench->watch);
    if (status == 0)
        status = journey_time(journey);
    if (status == 0)
        status = journey_duel(journey);
    outcome->conditions = watch_conditions(journey->bench->watch);
    outcome->measure_s = clock_seconds() - start;
    if (status != 0)
        outcome->score_us = 0;
    return status;
}

int bench_try(struct bench *bench, const struct trial_request *request,
              const struct device_image images[CASES_MAX], struct trial_result *result,
              struct error *error) {
    struct journey journey = {
        .bench = bench,
        .request = request,
        .template = compiler_template(bench->compiler, request->goal, error),
        .result = result,
        .error = error,
        .deadline_s = fmax(1.0, 100e-6 * request->champion_us),
    };
    if (journey.template == NULL)
        return -1;
    result->outcome.case_count = journey.template->case_count;
    int status = travel(&journey, images);
    enum verdict verdict = result->outcome.verdict;
    /* A context that is lost takes its modules along. */
    if (verdict != VERDICT_CRASHED && verdict != VERDICT_TIMEOUT)
        journey_unload(&journey);
    return status < 0 ? -1 : 0;
}
