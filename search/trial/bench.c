#include "trial/bench.h"

#include "base/clock.h"
#include "base/log.h"
#include "device/range.h"
#include "trial/calibrate.h"
#include "trial/journey.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* Compiles and loads the reference or the plain kernel. Takes ownership of `source`. */
static int load_program(struct bench *bench, const struct template *template, const char *name,
                        char *source, struct device_module **module, struct error *error) {
    char architecture[32];
    char reason[REASON_SIZE];
    struct device_image image;
    if (source == NULL)
        return -1;
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d",
             bench->device->info.compute_capability);
    const char *options[] = {architecture, "--std=c++17", "--ptxas-options=-v", "-lineinfo"};
    int status = nvrtc_compile(compiler_nvrtc(bench->compiler), name, source, options, 4, &image,
                               reason, error);
    free(source);
    if (status == 1)
        return error_input(error, "%s/%s does not compile: %s", template->folder, name, reason);
    if (status == 0) {
        status = bench->device->backend->module_load(bench->device, &image, module, error);
        nvrtc_image_release(&image);
    }
    return status;
}

static int load_programs(struct bench *bench, struct error *error) {
    const struct template *template = compiler_template(bench->compiler, 0, error);
    if (template == NULL ||
        load_program(bench, template, template->reference_source,
                     template_reference_source(template, error), &bench->reference, error) < 0)
        return -1;
    return load_program(bench, template, template->plain_source,
                        template_plain_source(template, error), &bench->plain, error);
}

/* A stray write that is not trapped may have hit the evaluator's own kernels. */
static bool is_exposed(const struct bench *bench) {
    return bench->device->backend->guards != NULL;
}

static int learn_answer(struct bench *bench, struct error *error) {
    uint64_t again;
    if (!is_exposed(bench))
        return 0;
    if (bench_answer(bench, &bench->answer, error) < 0 || bench_answer(bench, &again, error) < 0)
        return -1;
    if (again != bench->answer)
        return error_input(error,
                           "%s: the reference or the plain kernel gives a different result each "
                           "time: remove its atomics",
                           bench->config->template_folder);
    return 0;
}

/* Checks that the candidate wrote to no freed memory and that the evaluator's own kernels are
   unchanged. If they are not, nothing that they computed counts: the verdict becomes crashed,
   and the process is replaced as after a lost context. */
static int check_ourselves(struct bench *bench, struct trial_result *result, struct error *error) {
    static const char damaged[] =
        "after it ran, the evaluator's own kernels gave a different answer than before: it "
        "wrote to memory outside its tensors";
    char reason[REASON_SIZE];
    uint64_t answer;
    enum verdict verdict = result->outcome.verdict;
    if (!is_exposed(bench) || verdict == VERDICT_CRASHED || verdict == VERDICT_TIMEOUT)
        return 0;
    /* Checked for every verdict: damage that is not found now would be blamed on the next
       candidate. */
    enum verdict outside = bench->device->backend->guards(bench->device, true, reason);
    if (verdict == VERDICT_OK && outside != VERDICT_OK) {
        trial_gate(result, "self-test", false, 0, "%.150s", reason);
        trial_end(result, outside, reason);
        result->outcome.score_us = 0;
    }
    if (bench_answer(bench, &answer, error) < 0)
        return -1;
    if (answer == bench->answer)
        return 0;
    trial_gate(result, "self-test", false, 0, "%.150s", damaged);
    trial_end(result, VERDICT_CRASHED, damaged);
    result->outcome.score_us = 0;
    return 0;
}

struct bench *bench_new(const struct config *config, struct device *device,
                        struct compiler *compiler, struct error *error) {
    struct bench *bench = calloc(1, sizeof *bench);
    if (bench == NULL)
        BUG("out of memory");
    bench->config = config;
    bench->device = device;
    bench->compiler = compiler;
    if (!device->info.predicts && device->info.duel_margin == 0 &&
        calibrate_device(device, compiler_nvrtc(compiler), error) < 0) {
        free(bench);
        return NULL;
    }
    bench->watch = watch_new(&device->info, getppid());
    bench->judge = judge_new(device, compiler_nvrtc(compiler), error);
    if (bench->judge != NULL && load_programs(bench, error) == 0 && learn_answer(bench, error) == 0)
        return bench;
    bench_free(bench);
    return NULL;
}

void bench_warn_of_others(const struct bench *bench) {
    int others = watch_others(bench->watch);
    if (others > 0)
        log_warn("%d other process%s on this GPU: timings will be off; end %s, or use another "
                 "GPU with --device",
                 others, others == 1 ? " computes" : "es compute", others == 1 ? "it" : "them");
}

void bench_free(struct bench *bench) {
    if (bench == NULL)
        return;
    bench_close_guest(bench);
    bench_close_visitor(bench);
    bench_forget_champion(bench);
    for (int g = 0; g < CASES_MAX; g++)
        template_free(bench->probes[g]);
    template_free(bench->held_out);
    if (bench->reference != NULL)
        bench->device->backend->module_unload(bench->device, bench->reference);
    if (bench->plain != NULL)
        bench->device->backend->module_unload(bench->device, bench->plain);
    judge_free(bench->judge);
    watch_free(bench->watch);
    free(bench);
}

/* A return value of load_images beside those of a gate: a kernel has another genome's mark. */
enum { MISMARKED = 2 };

static int load(struct journey *journey, const struct device_image images[CASES_MAX]) {
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
            return MISMARKED;
    }
    trial_gate(journey->result, "load", true, clock_seconds() - start, "genome mark matches");
    return 0;
}

int journey_load(struct journey *journey, const struct device_image images[CASES_MAX]) {
    static const char mismarked[] =
        "the compiled kernel has another genome's mark, even when compiled without the cache";
    struct device_image anew[CASES_MAX];
    int status = load(journey, images);
    if (status != MISMARKED)
        return status;
    journey->images = NULL;
    log_warn("a cached kernel was another genome's: recompiled without the cache");
    journey_unload(journey);
    status = compiler_build_anew(journey->bench->compiler, journey->request, anew, journey->result,
                                 journey->error);
    if (status != 0)
        return status;
    status = load(journey, anew);
    for (int c = 0; c < CASES_MAX; c++)
        nvrtc_image_release(&anew[c]);
    if (status != MISMARKED)
        return status;
    trial_gate(journey->result, "load", false, 0, "%s", mismarked);
    trial_end(journey->result, VERDICT_COMPILE_FAILED, mismarked);
    return 1;
}

/* Reads the actual resources from the device and records those of the launch with the most
   shared memory; checks them against the limits. */
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
            int limit = config_smem_limit(journey->bench->config, &device->info);
            if (resources.smem_bytes > limit || resources.ctas_per_sm == 0) {
                snprintf(reason, sizeof reason,
                         "%s uses %d bytes of shared memory and %d registers per thread for %d "
                         "threads; the limit is %d bytes%s",
                         launch->kernel, resources.smem_bytes, resources.registers, threads, limit,
                         resources.ctas_per_sm == 0 ? ", and no block fits on a multiprocessor"
                                                    : "");
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

/* An interpreter takes up to some 20 ns per operation, which the GPU's deadline does not allow
   for. */
static double deadline_of(const struct journey *journey, const struct template *template,
                          int case_index) {
    struct plan plan;
    struct error unheard;
    if (!journey->bench->device->info.predicts ||
        template_plan(template, &journey->request->genome, case_index, &plan, &unheard) < 0)
        return journey->deadline_s;
    return journey->deadline_s + 1e-7 * (double)plan.operations;
}

struct verify_case journey_case(const struct journey *journey, const struct template *template,
                                int case_index, struct device_module *module) {
    return (struct verify_case){
        .device = journey->bench->device,
        .judge = journey->bench->judge,
        .reference = journey->bench->reference,
        .plain = journey->bench->plain,
        .template = template,
        .genome = &journey->request->genome,
        .case_index = case_index,
        .module = module,
        .deadline_s = deadline_of(journey, template, case_index),
    };
}

uint64_t journey_seed(const struct journey *journey, int case_index, int input) {
    uint64_t seed = journey->request->seed;
    return (seed * 1000 + (uint64_t)case_index) * 1000 + (uint64_t)input;
}

struct measure_settings journey_settings(const struct journey *journey, int case_index) {
    const struct timing *timing = &journey->bench->config->timing;
    /* An input set that no call of the graph uses would be compared by outputs that were never
       written. */
    int sets = timing->input_sets < timing->launches ? timing->input_sets : timing->launches;
    return (struct measure_settings){.sets = sets,
                                     .launches = timing->launches,
                                     .seed = journey_seed(journey, case_index, 900),
                                     .watch = journey->bench->watch};
}

int journey_fail(struct journey *journey, const char *gate, const struct template *template,
                 int case_index, double start, enum verdict verdict, const char *reason) {
    char name[CASE_NAME_SIZE];
    char text[REASON_SIZE];
    template_print_shape(template, &template->cases[case_index], name);
    snprintf(text, sizeof text, "%s: %.*s", name, REASON_SIZE - CASE_NAME_SIZE - 2, reason);
    trial_gate(journey->result, gate, false, clock_seconds() - start, "%.150s", text);
    trial_end(journey->result, verdict, text);
    return 1;
}

int journey_verify(struct journey *journey) {
    double start = clock_seconds();
    int status = check_resources(journey);
    if (status == 0)
        status = (journey->request->watched ? journey_watched : journey_correct)(journey);
    journey->result->outcome.verify_s = clock_seconds() - start;
    return status;
}

void journey_unload(struct journey *journey) {
    for (int c = 0; c < CASES_MAX; c++) {
        if (journey->modules[c] != NULL)
            journey->bench->device->backend->module_unload(journey->bench->device,
                                                           journey->modules[c]);
        journey->modules[c] = NULL;
    }
}

/* Runs one gate inside an NVTX range of that name, which Nsight Systems shows. */
static int go(struct journey *journey, const char *name, int (*step)(struct journey *)) {
    range_begin(name, journey->request->number);
    int status = step(journey);
    range_end();
    return status;
}

static int travel(struct journey *journey, const struct device_image *images) {
    static const struct {
        const char *name;
        int (*step)(struct journey *);
    } timing[] = {{"time", journey_time},
                  {"duel", journey_duel},
                  {"final checks", promotion_check},
                  {"final timing", journey_crown}};
    struct outcome *outcome = &journey->result->outcome;
    journey->images = images;
    int status = journey_load(journey, images);
    if (status == 0)
        status = go(journey, "verify", journey_verify);
    if (journey->request->watched)
        return status;
    double start = clock_seconds();
    watch_begin(journey->bench->watch);
    for (size_t i = 0; i < sizeof timing / sizeof *timing && status == 0; i++)
        status = go(journey, timing[i].name, timing[i].step);
    outcome->conditions = watch_conditions(journey->bench->watch);
    outcome->measure_s = clock_seconds() - start;
    if (status != 0)
        outcome->score_us = 0;
    return status;
}

int bench_try(struct bench *bench, const struct trial_request *request,
              const struct device_image images[CASES_MAX], struct trial_result *result,
              struct error *error) {
    struct device *device = bench->device;
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
    outcome_set_cases(&result->outcome, journey.template->case_count);
    device->fresh_memory = request->watched && !request->profiled; /* else reads of uninitialised
                                                                      memory would be missed */
    int status = travel(&journey, images);
    enum verdict verdict = result->outcome.verdict;
    /* A lost context has already unloaded its modules; an emulated device is never lost. */
    if (device->info.predicts || (verdict != VERDICT_CRASHED && verdict != VERDICT_TIMEOUT))
        journey_unload(&journey);
    if (status < 0)
        return -1;
    return check_ourselves(bench, result, error);
}
