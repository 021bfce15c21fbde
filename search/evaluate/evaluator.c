#include "evaluate/evaluator.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "device/nvtx.h"
#include "evaluate/checks.h"
#include "evaluate/evaluation.h"
#include "evaluate/reference_program.h"
#include "ptx/uses.h"

#include <math.h>
#include <string.h>

/* Loads what compares large cases, if the goal has one. */
static int load_sampled_blocks(struct evaluator *evaluator, const struct template *template,
                               const struct genome *genome, struct error *error) {
    struct launch_plan plan;
    bool large = false;
    for (int c = 0; c < template->case_count; c++) {
        if (template_launch_plan(template, genome, c, &plan, error) < 0)
            return -1;
        large = large || (double)plan.operations > SAMPLED_OPERATIONS;
    }
    return large && template->plain_kind != PLAIN_NONE &&
                   template->reference_kind == REFERENCE_KERNEL && !evaluator->device->info.predicts
               ? sampled_blocks_load(&evaluator->sampled, evaluator->device,
                                     compiler_nvrtc(evaluator->compiler), template, error)
               : 0;
}

/* Checks that the candidate wrote to no freed memory and that the evaluator's own kernels are
   unchanged. If they are not, nothing that they computed counts: the verdict becomes crashed,
   and the process is replaced as after a lost context. */
static int check_self_test(struct evaluator *evaluator, struct trial_result *result,
                           struct error *error) {
    static const char kernels_changed[] =
        "after it ran, the evaluator's own kernels gave a different answer than before: it "
        "wrote to memory outside its tensors";
    char reason[REASON_SIZE];
    uint64_t self_test_hash;
    enum verdict verdict = result->outcome.verdict;
    if (!evaluator_needs_self_test(evaluator) || verdict == VERDICT_CRASHED ||
        verdict == VERDICT_TIMEOUT)
        return 0;
    /* Checked for every verdict: damage that is not found now would be blamed on the next
       candidate. */
    enum verdict outside =
        evaluator->device->backend->check_red_zones(evaluator->device, true, reason);
    if (verdict == VERDICT_OK && outside != VERDICT_OK) {
        trial_add_gate(result, "self-test", false, 0, "%.150s", reason);
        trial_set_verdict(result, outside, reason);
        result->outcome.score_us = 0;
    }
    if (evaluator_self_test(evaluator, &self_test_hash, error) < 0)
        return -1;
    if (self_test_hash == evaluator->self_test_hash)
        return 0;
    trial_add_gate(result, "self-test", false, 0, "%.150s", kernels_changed);
    trial_set_verdict(result, VERDICT_CRASHED, kernels_changed);
    result->outcome.score_us = 0;
    return 0;
}

/* Returns 0 with a verdict if the candidate damaged the evaluator's own kernels, which makes any
   template look unfit; else -1. */
static int blame_candidate(struct evaluator *evaluator, struct trial_result *result) {
    struct error ignored = {0};
    return check_self_test(evaluator, result, &ignored) == 0 &&
                   result->outcome.verdict != VERDICT_OK
               ? 0
               : -1;
}

void evaluator_warn_if_gpu_shared(const struct evaluator *evaluator) {
    int others = clock_monitor_other_processes(evaluator->clock_monitor);
    if (others > 0)
        log_warn("%d other process%s on this GPU: timings will be off; end %s, or use another "
                 "GPU with --device",
                 others, others == 1 ? " computes" : "es compute", others == 1 ? "it" : "them");
}

/* A return value of load_images beside those of a gate: a kernel has another genome's mark. */
enum { LOAD_WRONG_GENOME = 2 };

static int load_images(struct evaluation *evaluation, const struct device_image images[CASES_MAX]) {
    struct device *device = evaluation->evaluator->device;
    struct error refused;
    double start = clock_seconds();
    for (int c = 0; c < evaluation->template->case_count; c++) {
        uint64_t mark = 0;
        if (images[c].cubin == NULL)
            continue;
        if (device->backend->module_load(device, &images[c], &evaluation->modules[c], &refused) <
            0) {
            trial_add_gate(evaluation->result, "load", false, clock_seconds() - start, "%.150s",
                           refused.text);
            trial_set_verdict(evaluation->result, VERDICT_LAUNCH_FAILED, refused.text);
            return 1;
        }
        if (device->backend->global_u64(device, evaluation->modules[c], TEMPLATE_TAG_SYMBOL, &mark,
                                        evaluation->error) < 0)
            return -1;
        if (mark != template_genome_tag(&evaluation->request->genome))
            return LOAD_WRONG_GENOME;
    }
    trial_add_gate(evaluation->result, "load", true, clock_seconds() - start,
                   "genome mark matches");
    return 0;
}

static void record_uses(const struct evaluation *evaluation) {
    struct outcome *outcome = &evaluation->result->outcome;
    for (int c = 0; c < CASES_MAX && evaluation->images != NULL; c++)
        if (evaluation->images[c].ptx != NULL)
            ptx_list_uses(evaluation->images[c].ptx, outcome->uses, sizeof outcome->uses);
}

int evaluation_load(struct evaluation *evaluation, const struct device_image images[CASES_MAX]) {
    static const char wrong_genome[] =
        "the compiled kernel has another genome's mark, even when compiled without the cache";
    int status = load_images(evaluation, images);
    if (status != LOAD_WRONG_GENOME)
        return status;
    log_warn("a cached kernel was another genome's: recompiled without the cache");
    evaluation_unload(evaluation);
    status = compiler_rebuild(evaluation->evaluator->compiler, evaluation->request,
                              evaluation->rebuilt, evaluation->result, evaluation->error);
    if (status != 0)
        return status;
    evaluation->images = evaluation->rebuilt;
    status = load_images(evaluation, evaluation->rebuilt);
    if (status != LOAD_WRONG_GENOME)
        return status;
    trial_add_gate(evaluation->result, "load", false, 0, "%s", wrong_genome);
    trial_set_verdict(evaluation->result, VERDICT_COMPILE_FAILED, wrong_genome);
    return 1;
}

/* An interpreter takes up to some 20 ns per operation, which the GPU's deadline does not allow
   for. */
static double call_deadline_s(const struct evaluation *evaluation, const struct template *template,
                              int case_index) {
    struct launch_plan plan;
    struct error ignored;
    if (!evaluation->evaluator->device->info.predicts ||
        template_launch_plan(template, &evaluation->request->genome, case_index, &plan, &ignored) <
            0)
        return evaluation->deadline_s;
    return evaluation->deadline_s + 1e-7 * (double)plan.operations;
}

struct verify_case evaluation_verify_case(const struct evaluation *evaluation,
                                          const struct template *template, int case_index,
                                          struct device_module *module) {
    return (struct verify_case){
        .device = evaluation->evaluator->device,
        .comparator = evaluation->evaluator->comparator,
        .reference = evaluator_reference(evaluation->evaluator, evaluation->request->goal,
                                         evaluation->template, template, case_index),
        .plain = evaluation->evaluator->plain,
        .program = evaluation->evaluator->program,
        .template = template,
        .genome = &evaluation->request->genome,
        .case_index = case_index,
        .module = module,
        .deadline_s = call_deadline_s(evaluation, template, case_index),
        .sampled = template == evaluation->template ? &evaluation->evaluator->sampled : NULL,
        .goal = evaluation->request->goal,
        .diagnostics = evaluation->result->diagnostics,
    };
}

uint64_t evaluation_seed(const struct evaluation *evaluation, int case_index, int input) {
    uint64_t seed = evaluation->request->seed;
    return (seed * 1000 + (uint64_t)case_index) * 1000 + (uint64_t)input;
}

struct measure_settings evaluation_measure_settings(const struct evaluation *evaluation,
                                                    int case_index) {
    const struct timing *timing = &evaluation->evaluator->settings->timing;
    double call_us = evaluation->call_us[case_index];
    return (struct measure_settings){.sets = timing->input_sets,
                                     .launches = timing->launches,
                                     .call_us = call_us > 0 ? call_us : INFINITY,
                                     .rests = timing->regime == REGIME_BOOST,
                                     .seed = evaluation_seed(evaluation, case_index, 900),
                                     .clock_monitor = evaluation->evaluator->clock_monitor};
}

void evaluation_note_call(struct evaluation *evaluation, int case_index, double call_us) {
    double *least_us = &evaluation->call_us[case_index];
    *least_us = *least_us > 0 ? fmin(*least_us, call_us) : call_us;
}

int evaluation_fail(struct evaluation *evaluation, const char *gate,
                    const struct template *template, int case_index, double start,
                    const struct failure *failure) {
    char name[CASE_NAME_SIZE];
    char text[REASON_SIZE];
    template_print_shape(template, &template->cases[case_index], name);
    snprintf(text, sizeof text, "%s: %.*s", name, REASON_SIZE - CASE_NAME_SIZE - 2,
             failure->reason);
    trial_add_gate(evaluation->result, gate, false, clock_seconds() - start, "%.150s", text);
    trial_set_verdict(evaluation->result, failure->verdict, text);
    return 1;
}

int evaluation_verify(struct evaluation *evaluation) {
    double start = clock_seconds();
    int status = evaluation_check_resources(evaluation);
    if (status == 0 && evaluation->request->level != LEVEL_STATIC)
        status = (evaluation->request->under_tool ? evaluation_run_under_tool
                                                  : evaluation_check_correctness)(evaluation);
    evaluation->result->outcome.verify_s = clock_seconds() - start;
    return status;
}

void evaluation_unload(struct evaluation *evaluation) {
    for (int c = 0; c < CASES_MAX; c++) {
        if (evaluation->modules[c] != NULL)
            evaluation->evaluator->device->backend->module_unload(evaluation->evaluator->device,
                                                                  evaluation->modules[c]);
        evaluation->modules[c] = NULL;
        nvrtc_image_release(&evaluation->rebuilt[c]);
    }
}

/* Runs one gate inside an NVTX range of that name, which Nsight Systems shows. */
static int run_gate(struct evaluation *evaluation, const char *name,
                    int (*run)(struct evaluation *)) {
    nvtx_begin(name, evaluation->request->number);
    int status = run(evaluation);
    nvtx_end();
    return status;
}

static int run_gates(struct evaluation *evaluation, const struct device_image *images) {
    static const struct {
        const char *name;
        int (*run)(struct evaluation *);
    } timing[] = {{"time", evaluation_time},
                  {"energy", evaluation_score_energy},
                  {"duel", evaluation_duel},
                  {"final checks", evaluation_run_final_checks},
                  {"final timing", evaluation_time_champion},
                  {"energy", evaluation_measure_energy}};
    struct outcome *outcome = &evaluation->result->outcome;
    evaluation->images = images;
    int status = evaluation_load(evaluation, images);
    if (status == 0)
        status = run_gate(evaluation, "verify", evaluation_verify);
    if (status == 0 && evaluation->request->level == LEVEL_CORRECT)
        status = run_gate(evaluation, "final checks", evaluation_run_final_checks);
    if (evaluation->request->under_tool || evaluation->request->level != LEVEL_TIMED)
        return status;
    double start = clock_seconds();
    clock_monitor_reset(evaluation->evaluator->clock_monitor);
    for (size_t i = 0; i < sizeof timing / sizeof *timing && status == 0; i++)
        status = run_gate(evaluation, timing[i].name, timing[i].run);
    outcome->conditions = clock_monitor_conditions(evaluation->evaluator->clock_monitor);
    outcome->measure_s = clock_seconds() - start;
    if (status != 0)
        outcome->score_us = 0;
    return status;
}

/* At most the time of the champion's call, by a score in another unit at 100 W: one that is too
   long only lets a candidate that hangs wait longer. */
static double champion_call_us(const struct evaluation *evaluation) {
    const double us_per_mj = 10, score = evaluation->request->champion_us;
    double us = score;
    switch (evaluation_minimises(evaluation)) {
    case MINIMISED_LATENCY:
        return score;
    case MINIMISED_OPERATIONS:
    case MINIMISED_BYTES:
        for (int c = 0; c < evaluation->template->case_count; c++)
            us = fmax(c > 0 ? us : 0, score / evaluation_call_score(evaluation, c, 1));
        return us;
    case MINIMISED_ENERGY:
        return us_per_mj * score;
    default:
        return sqrt(us_per_mj * score);
    }
}

int evaluator_run(struct evaluator *evaluator, const struct trial_request *request,
                  const struct device_image images[CASES_MAX], struct trial_result *result,
                  struct error *error) {
    struct device *device = evaluator->device;
    struct evaluation evaluation = {
        .evaluator = evaluator,
        .request = request,
        .template = compiler_template(evaluator->compiler, request->goal, error),
        .result = result,
        .error = error,
    };
    if (evaluation.template == NULL)
        return -1;
    evaluation.deadline_s = fmax(1.0, 100e-6 * champion_call_us(&evaluation));
    if (evaluator_load_default(evaluator, request->goal, error) < 0 ||
        (!request->under_tool && request->level != LEVEL_STATIC &&
         (evaluator_check_default(evaluator, request->goal, error) < 0 ||
          evaluator_compare_references(evaluator, request->goal, &request->genome, error) < 0 ||
          load_sampled_blocks(evaluator, evaluation.template, &request->genome, error) < 0)))
        return -1;
    outcome_set_cases(&result->outcome, evaluation.template->case_count);
    outcome_set_weights(&result->outcome, evaluator->settings->weights);
    device->fresh_memory = request->under_tool && !request->profiled; /* else reads of uninitialised
                                                                      memory would be missed */
    int status = run_gates(&evaluation, images);
    enum verdict verdict = result->outcome.verdict;
    if (!result->outcome.raced) /* a loser's trial stays cheap */
        record_uses(&evaluation);
    /* A lost context has already unloaded its modules; an emulated device is never lost. */
    if (device->info.predicts || (verdict != VERDICT_CRASHED && verdict != VERDICT_TIMEOUT))
        evaluation_unload(&evaluation);
    if (status == 0 || status == 1) {
        status = check_self_test(evaluator, result, error);
        checks_record(result, evaluation.inputs, request->seed, &device->info,
                      evaluator->settings->timing.regime);
        return status;
    }
    return error->kind == ERROR_INPUT ? blame_candidate(evaluator, result) : -1;
}
