/*  Which cases and inputs a candidate must compute correctly, and which more a champion must.

     every trial   each probe case on random numbers, twice, and on one of the template's stress
                   recipes; each case on `inputs` sets of random numbers, at least two: the first of
                   them twice, the second in the same buffers; the smallest case of each variant on
   one stress recipe, which changes from trial to trial a champion    the smallest case of each
   variant on all recipes; the held-out cases on random numbers and all recipes; each case on fresh
   random numbers, in flush memory with read-only inputs */
#include "evaluate/evaluation.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>

/* Ranges of a trial's input seeds by purpose: cases start at 0, each with up to 900 inputs. */
enum { PROBE_SEEDS = 500, HELD_OUT_SEEDS = 700, STRESS_INPUTS = 100, FINAL_CHECK_INPUTS = 400 };

/* ---- a goal's probe cases ---- */

/* The template for the goal's probe cases. NULL without an error: it has none. */
static const struct template *probe_template(struct evaluator *evaluator, int goal,
                                             const struct template *template, struct error *error) {
    if (!evaluator->probes_loaded[goal]) {
        struct template_setting setting =
            evaluation_setting(&evaluator->settings->goals[goal], &evaluator->device->info);
        evaluator->probes[goal] = template_load_probes(template, &setting, error);
        evaluator->probes_loaded[goal] = error->kind == ERROR_NONE;
    }
    return evaluator->probes[goal];
}

/* The goal's variant that matches a case of another template; -1 if none does. */
static int matching_variant(const struct template *template, const struct template *other_template,
                            int other_case) {
    for (int c = 0; c < template->case_count; c++) {
        bool same = true;
        for (int d = 0; d < template->dimension_count; d++)
            same = same &&
                   (!template->dimensions[d].specialised ||
                    template->cases[c].values[d] == other_template->cases[other_case].values[d]);
        if (same)
            return template_variant(template, c);
    }
    return -1;
}

/* ---- self-test ---- */

int evaluator_self_test(struct evaluator *evaluator, uint64_t *self_test_hash,
                        struct error *error) {
    const struct template *template = compiler_template(evaluator->compiler, 0, error);
    if (template == NULL)
        return -1;
    const struct template *probes = probe_template(evaluator, 0, template, error);
    if (probes == NULL && error->kind != ERROR_NONE)
        return -1;
    const struct template *tested_template = probes != NULL ? probes : template;
    const struct genome genome = genome_default(tested_template->space);
    const struct verify_case checked_case = {.device = evaluator->device,
                                             .comparator = evaluator->comparator,
                                             .reference = evaluator->reference,
                                             .plain = evaluator->plain,
                                             .template = tested_template,
                                             .genome = &genome};
    return verify_self_test(&checked_case, self_test_hash, error);
}

/* ---- one input of one case ---- */

/* The progress of a gate that checks many inputs of many cases. */
struct gate_run {
    struct evaluation *evaluation;
    const char *gate;
    double start;
    int cases, inputs; /* checked so far */
    double worst;      /* relative L2 */
};

static int check_input(struct gate_run *gate_run, const struct verify_case *checked_case,
                       const struct verify_input *input, struct verify_result *found) {
    char reason[REASON_SIZE];
    char text[REASON_SIZE];
    enum verdict verdict;
    if (verify_input(checked_case, input, &verdict, found, reason, gate_run->evaluation->error) < 0)
        return -1;
    gate_run->inputs += input->twice ? 2 : 1;
    gate_run->worst = fmax(gate_run->worst, found->errors.relative_l2);
    if (verdict == VERDICT_OK)
        return 0;
    snprintf(text, sizeof text, "%s%s%.400s", input->stress != NULL ? input->stress->name : "",
             input->stress != NULL ? " inputs: " : "", reason);
    return evaluation_fail(gate_run->evaluation, gate_run->gate, checked_case->template,
                           checked_case->case_index, gate_run->start, verdict, text);
}

/* Checks the stress recipes first, first + step, ... that apply to the genome. */
static int check_stress_recipes(struct gate_run *gate_run, const struct verify_case *checked_case,
                                int first, int step, uint64_t seed) {
    const struct template *template = checked_case->template;
    struct verify_result found;
    struct launch_plan plan;
    if (template_launch_plan(template, checked_case->genome, checked_case->case_index, &plan,
                             gate_run->evaluation->error) < 0)
        return -1;
    for (int r = first; r < template->stress_count; r += step) {
        const struct verify_input input = {.seed = seed + (uint64_t)r,
                                           .stress = &template->stresses[r]};
        if (!verify_applies_to(&plan, template, input.stress))
            continue;
        int status = check_input(gate_run, checked_case, &input, &found);
        if (status != 0)
            return status;
    }
    return 0;
}

/* ---- before timing ---- */

/* The stress recipe of a case, which changes from trial to trial and from case to case. */
static int stress_turn(const struct evaluation *evaluation, const struct template *template,
                       int index) {
    uint64_t turn = evaluation->request->seed + (uint64_t)index;
    return template->stress_count > 0 ? (int)(turn % (uint64_t) template->stress_count) : 0;
}

/* Checks each probe case on random numbers, twice, and on one stress recipe. */
static int verify_probes(struct evaluation *evaluation) {
    struct gate_run gate_run = {evaluation, "probe cases", clock_seconds(), 0, 0, 0};
    struct error load_error = {0};
    const struct template *probes = probe_template(evaluation->evaluator, evaluation->request->goal,
                                                   evaluation->template, &load_error);
    if (probes == NULL) {
        *evaluation->error = load_error;
        return load_error.kind == ERROR_NONE ? 0 : -1;
    }
    for (int p = 0; p < probes->case_count; p++) {
        struct verify_result found;
        int variant = matching_variant(evaluation->template, probes, p);
        if (variant < 0)
            BUG("a probe case of no variant");
        if (!template_genome_is_valid(probes, &evaluation->request->genome, p))
            continue;
        struct verify_case checked_case =
            evaluation_verify_case(evaluation, probes, p, evaluation->modules[variant]);
        const struct verify_input input = {.seed = evaluation_seed(evaluation, PROBE_SEEDS + p, 0),
                                           .twice = true};
        int status = check_input(&gate_run, &checked_case, &input, &found);
        if (status == 0 && probes->stress_count > 0)
            status = check_stress_recipes(
                &gate_run, &checked_case, stress_turn(evaluation, probes, p), probes->stress_count,
                evaluation_seed(evaluation, PROBE_SEEDS + p, STRESS_INPUTS));
        if (status != 0)
            return status;
        gate_run.cases++;
    }
    trial_add_gate(evaluation->result, gate_run.gate, true, clock_seconds() - gate_run.start,
                   "%d of %d correct on %d inputs", gate_run.cases, probes->case_count,
                   gate_run.inputs);
    return 0;
}

/* Returns whether a case takes too long on an interpreting device. */
static bool is_too_long(const struct evaluation *evaluation, const struct launch_plan *plan) {
    /* The instruction count depends on both: a byte moved costs about as much as sixteen
       tensor-core operations. */
    return evaluation->evaluator->device->info.predicts &&
           plan->operations + 16 * plan->bytes > INT64_C(100000000);
}

/* Returns whether a case has the fewest operations of its variant. That case represents the
   variant on stress recipes: on one of them in a trial, on all of them for a champion. */
static bool is_smallest(const struct evaluation *evaluation, int case_index) {
    const struct template *template = evaluation->template;
    struct launch_plan own_plan;
    struct launch_plan other_case;
    struct error ignored;
    if (template_launch_plan(template, &evaluation->request->genome, case_index, &own_plan,
                             &ignored) < 0)
        return false;
    for (int c = 0; c < template->case_count; c++)
        if (c != case_index &&
            template_variant(template, c) == template_variant(template, case_index) &&
            template_launch_plan(template, &evaluation->request->genome, c, &other_case,
                                 &ignored) == 0 &&
            (other_case.operations < own_plan.operations ||
             (other_case.operations == own_plan.operations && c < case_index)))
            return false;
    return true;
}

static int verify_case(struct gate_run *gate_run, int c, bool stressed) {
    struct evaluation *evaluation = gate_run->evaluation;
    struct case_outcome *outcome = &evaluation->result->outcome.cases[c];
    struct device_module *module = evaluation->modules[template_variant(evaluation->template, c)];
    struct verify_case checked_case =
        evaluation_verify_case(evaluation, evaluation->template, c, module);
    int status = 0;
    /* The first input's second run already uses new inputs in the same buffers, so one set fewer
       is needed. */
    int fresh = evaluation->evaluator->settings->timing.inputs - 1;
    for (int i = 0; (i == 0 || i < fresh) && status == 0; i++) {
        const struct verify_input input = {.seed = evaluation_seed(evaluation, c, i),
                                           .twice = i == 0};
        struct verify_result found;
        status = check_input(gate_run, &checked_case, &input, &found);
        errors_max(&outcome->errors, &found.errors);
        errors_max(&outcome->bound, &found.bound);
    }
    if (status == 0 && stressed)
        status = check_stress_recipes(
            gate_run, &checked_case, stress_turn(evaluation, checked_case.template, c),
            checked_case.template->stress_count, evaluation_seed(evaluation, c, STRESS_INPUTS));
    return status;
}

static int verify_cases(struct evaluation *evaluation) {
    struct gate_run gate_run = {evaluation, "cases", clock_seconds(), 0, 0, 0};
    struct outcome *outcome = &evaluation->result->outcome;
    struct launch_plan plan;
    for (int c = 0; c < evaluation->template->case_count; c++) {
        if (template_launch_plan(evaluation->template, &evaluation->request->genome, c, &plan,
                                 evaluation->error) < 0)
            return -1;
        outcome->limited_range = outcome->limited_range || plan.limited_range;
        if (is_too_long(evaluation, &plan))
            continue;
        int status = verify_case(&gate_run, c, is_smallest(evaluation, c));
        if (status != 0)
            return status;
        gate_run.cases++;
    }
    trial_add_gate(evaluation->result, gate_run.gate, true, clock_seconds() - gate_run.start,
                   "%d of %d correct on %d inputs, error %.2e%s%s", gate_run.cases,
                   evaluation->template->case_count, gate_run.inputs, gate_run.worst,
                   outcome->limited_range ? ", limited range" : "",
                   gate_run.cases < evaluation->template->case_count
                       ? "; the rest take too long on this device"
                       : "");
    return 0;
}

int evaluation_check_correctness(struct evaluation *evaluation) {
    int status = verify_probes(evaluation);
    return status == 0 ? verify_cases(evaluation) : status;
}

/* ---- final checks of a champion ---- */

/* The template for the held-out cases. NULL without an error: there are none. */
static const struct template *held_out_template(struct evaluator *evaluator, struct error *error) {
    if (evaluator->settings->held_out.case_count > 0 && evaluator->held_out == NULL) {
        const struct template_setting setting =
            evaluation_setting(&evaluator->settings->held_out, &evaluator->device->info);
        evaluator->held_out = template_load(evaluator->settings->template_folder, &setting, error);
    }
    return evaluator->held_out;
}

static int check_held_out(struct evaluation *evaluation) {
    struct gate_run gate_run = {evaluation, "held out", clock_seconds(), 0, 0, 0};
    struct error load_error = {0};
    struct verify_result found;
    struct launch_plan plan;
    const struct template *held_out = held_out_template(evaluation->evaluator, &load_error);
    if (load_error.kind != ERROR_NONE) {
        *evaluation->error = load_error;
        return -1;
    }
    for (int c = 0; held_out != NULL && c < held_out->case_count; c++) {
        int variant = matching_variant(evaluation->template, held_out, c);
        if (variant < 0 || !template_genome_is_valid(held_out, &evaluation->request->genome, c))
            continue;
        if (template_launch_plan(held_out, &evaluation->request->genome, c, &plan,
                                 evaluation->error) < 0)
            return -1;
        if (is_too_long(evaluation, &plan))
            continue;
        struct verify_case checked_case =
            evaluation_verify_case(evaluation, held_out, c, evaluation->modules[variant]);
        const struct verify_input input = {
            .seed = evaluation_seed(evaluation, HELD_OUT_SEEDS + c, 0), .twice = true};
        int status = check_input(&gate_run, &checked_case, &input, &found);
        if (status == 0)
            status = check_stress_recipes(
                &gate_run, &checked_case, 0, 1,
                evaluation_seed(evaluation, HELD_OUT_SEEDS + c, STRESS_INPUTS));
        if (status != 0)
            return status;
        gate_run.cases++;
    }
    if (gate_run.cases > 0)
        trial_add_gate(evaluation->result, gate_run.gate, true, clock_seconds() - gate_run.start,
                       "%d case%s correct on %d inputs, error %.2e", gate_run.cases,
                       gate_run.cases == 1 ? "" : "s", gate_run.inputs, gate_run.worst);
    return 0;
}

/* Checks all stress recipes on the smallest case of each variant. */
static int check_hard_inputs(struct evaluation *evaluation) {
    struct gate_run gate_run = {evaluation, "hard inputs", clock_seconds(), 0, 0, 0};
    struct launch_plan plan;
    for (int c = 0; c < evaluation->template->case_count; c++) {
        struct device_module *module =
            evaluation->modules[template_variant(evaluation->template, c)];
        struct verify_case checked_case =
            evaluation_verify_case(evaluation, evaluation->template, c, module);
        if (template_launch_plan(evaluation->template, &evaluation->request->genome, c, &plan,
                                 evaluation->error) < 0)
            return -1;
        if (is_too_long(evaluation, &plan) || !is_smallest(evaluation, c))
            continue;
        int status = check_stress_recipes(
            &gate_run, &checked_case, 0, 1,
            evaluation_seed(evaluation, c, FINAL_CHECK_INPUTS + STRESS_INPUTS));
        if (status != 0)
            return status;
        gate_run.cases++;
    }
    if (gate_run.inputs > 0)
        trial_add_gate(evaluation->result, gate_run.gate, true, clock_seconds() - gate_run.start,
                       "%d case%s correct on %d inputs, error %.2e", gate_run.cases,
                       gate_run.cases == 1 ? "" : "s", gate_run.inputs, gate_run.worst);
    return 0;
}

/* Checks each case on fresh seeds, first with unmapped memory before the tensors, then behind
   them; once if the device traps every stray access anyway. */
static int check_flush_memory(struct evaluation *evaluation) {
    struct gate_run gate_run = {evaluation, "flush memory", clock_seconds(), 0, 0, 0};
    const struct device *device = evaluation->evaluator->device;
    enum placement last =
        device->backend->memory_new_flush != NULL ? PLACED_AT_END : PLACED_AT_START;
    struct verify_result found;
    struct launch_plan plan;
    bool read_only = true;
    for (int c = 0; c < evaluation->template->case_count; c++) {
        struct device_module *module =
            evaluation->modules[template_variant(evaluation->template, c)];
        struct verify_case checked_case =
            evaluation_verify_case(evaluation, evaluation->template, c, module);
        if (template_launch_plan(evaluation->template, &evaluation->request->genome, c, &plan,
                                 evaluation->error) < 0)
            return -1;
        if (is_too_long(evaluation, &plan))
            continue;
        for (enum placement placement = PLACED_AT_START; placement <= last; placement++) {
            const struct verify_input input = {
                .seed = evaluation_seed(evaluation, c, FINAL_CHECK_INPUTS + (int)placement),
                .twice = true,
                .placement = placement};
            int status = check_input(&gate_run, &checked_case, &input, &found);
            if (status != 0)
                return status;
            read_only = read_only && found.inputs_read_only;
        }
        gate_run.cases++;
    }
    trial_add_gate(evaluation->result, gate_run.gate, true, clock_seconds() - gate_run.start,
                   "%d case%s correct on %d fresh inputs, tensors beside unmapped memory, %s",
                   gate_run.cases, gate_run.cases == 1 ? "" : "s", gate_run.inputs,
                   read_only ? "inputs read-only"
                             : "inputs writable: the driver has no read-only mappings");
    return 0;
}

bool evaluation_would_be_champion(const struct evaluation *evaluation) {
    const struct trial_request *request = evaluation->request;
    const struct outcome *outcome = &evaluation->result->outcome;
    return request->promote || (!outcome->raced && (request->champion_us <= 0 ||
                                                    outcome->score_us < request->champion_us));
}

int evaluation_run_final_checks(struct evaluation *evaluation) {
    if (!evaluation_would_be_champion(evaluation))
        return 0;
    int status = check_hard_inputs(evaluation);
    if (status == 0)
        status = check_held_out(evaluation);
    return status == 0 ? check_flush_memory(evaluation) : status;
}

/* ---- under a tool ---- */

int evaluation_run_under_tool(struct evaluation *evaluation) {
    bool profiled = evaluation->request->profiled;
    struct gate_run gate_run = {
        evaluation, profiled ? "cases" : "small cases", clock_seconds(), 0, 0, 0};
    struct error load_error = {0};
    struct verify_result found;
    const struct template *probes =
        profiled ? NULL
                 : probe_template(evaluation->evaluator, evaluation->request->goal,
                                  evaluation->template, &load_error);
    if (load_error.kind != ERROR_NONE) {
        *evaluation->error = load_error;
        return -1;
    }
    if (probes == NULL)
        probes = evaluation->template;
    for (int p = 0; p < probes->case_count; p++) {
        int variant = matching_variant(evaluation->template, probes, p);
        if (!template_genome_is_valid(probes, &evaluation->request->genome, p))
            continue;
        struct verify_case checked_case =
            evaluation_verify_case(evaluation, probes, p, evaluation->modules[variant]);
        const struct verify_input input = {.seed = evaluation_seed(evaluation, PROBE_SEEDS + p, 0),
                                           .unpoisoned = true};
        int status = check_input(&gate_run, &checked_case, &input, &found);
        if (status != 0)
            return status;
        gate_run.cases++;
    }
    trial_add_gate(evaluation->result, gate_run.gate, true, clock_seconds() - gate_run.start,
                   "%d of %d correct", gate_run.cases, probes->case_count);
    return 0;
}
