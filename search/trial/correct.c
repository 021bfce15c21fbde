/*  Which cases and inputs a candidate must compute correctly, and which more a champion must.

     every trial   each probe case on random numbers, twice, and on one of the template's stress
                   recipes; each case on `inputs` sets of random numbers, at least two: the first of
                   them twice, the second in the same buffers; the smallest case of each variant on
   one stress recipe, which changes from trial to trial a champion    the smallest case of each
   variant on all recipes; the held-out cases on random numbers and all recipes; each case on fresh
   random numbers, in flush memory with read-only inputs */
#include "trial/journey.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>

/* Ranges of a trial's input seeds by purpose: cases start at 0, each with up to 900 inputs. */
enum { PROBE_SEEDS = 500, HELD_OUT_SEEDS = 700, STRESS_INPUTS = 100, PROMOTION_INPUTS = 400 };

/* ---- a goal's probe cases ---- */

/* The template for the goal's probe cases. NULL without an error: it has none. */
static const struct template *probes_of(struct bench *bench, int goal,
                                        const struct template *template, struct error *error) {
    if (!bench->probes_known[goal]) {
        struct template_setting setting = config_setting(bench->config, goal, &bench->device->info);
        bench->probes[goal] = template_load_probes(template, &setting, error);
        bench->probes_known[goal] = error->kind == ERROR_NONE;
    }
    return bench->probes[goal];
}

/* The goal's variant that matches a case of another template; -1 if none does. */
static int variant_of(const struct template *template, const struct template *others, int other) {
    for (int c = 0; c < template->case_count; c++) {
        bool same = true;
        for (int d = 0; d < template->dimension_count; d++)
            same = same && (!template->dimensions[d].specialised ||
                            template->cases[c].values[d] == others->cases[other].values[d]);
        if (same)
            return template_variant(template, c);
    }
    return -1;
}

/* ---- self-test ---- */

int bench_answer(struct bench *bench, uint64_t *answer, struct error *error) {
    const struct template *template = compiler_template(bench->compiler, 0, error);
    if (template == NULL)
        return -1;
    const struct template *probes = probes_of(bench, 0, template, error);
    if (probes == NULL && error->kind != ERROR_NONE)
        return -1;
    const struct template *asked = probes != NULL ? probes : template;
    const struct genome genome = genome_default(asked->space);
    const struct verify_case one = {.device = bench->device,
                                    .judge = bench->judge,
                                    .reference = bench->reference,
                                    .plain = bench->plain,
                                    .template = asked,
                                    .genome = &genome};
    return verify_ourselves(&one, answer, error);
}

/* ---- one input of one case ---- */

/* The progress of a gate that checks many inputs of many cases. */
struct attempt {
    struct journey *journey;
    const char *gate;
    double start;
    int cases, inputs; /* checked so far */
    double worst;      /* relative L2 */
};

static int attempt_input(struct attempt *attempt, const struct verify_case *one,
                         const struct verify_input *input, struct judgement *found) {
    char reason[REASON_SIZE];
    char text[REASON_SIZE];
    enum verdict verdict;
    if (verify_input(one, input, &verdict, found, reason, attempt->journey->error) < 0)
        return -1;
    attempt->inputs += input->twice ? 2 : 1;
    attempt->worst = fmax(attempt->worst, found->errors.relative_l2);
    if (verdict == VERDICT_OK)
        return 0;
    snprintf(text, sizeof text, "%s%s%.400s", input->stress != NULL ? input->stress->name : "",
             input->stress != NULL ? " inputs: " : "", reason);
    return journey_fail(attempt->journey, attempt->gate, one->template, one->case_index,
                        attempt->start, verdict, text);
}

/* Checks the stress recipes first, first + step, ... that apply to the genome. */
static int attempt_stress(struct attempt *attempt, const struct verify_case *one, int first,
                          int step, uint64_t seed) {
    const struct template *template = one->template;
    struct judgement found;
    struct plan plan;
    if (template_plan(template, one->genome, one->case_index, &plan, attempt->journey->error) < 0)
        return -1;
    for (int r = first; r < template->stress_count; r += step) {
        const struct verify_input input = {.seed = seed + (uint64_t)r,
                                           .stress = &template->stresses[r]};
        if (!verify_bears(&plan, template, input.stress))
            continue;
        int status = attempt_input(attempt, one, &input, &found);
        if (status != 0)
            return status;
    }
    return 0;
}

/* ---- before timing ---- */

/* The stress recipe of a case, which changes from trial to trial and from case to case. */
static int turn_of(const struct journey *journey, const struct template *template, int index) {
    uint64_t turn = journey->request->seed + (uint64_t)index;
    return template->stress_count > 0 ? (int)(turn % (uint64_t) template->stress_count) : 0;
}

/* Checks each probe case on random numbers, twice, and on one stress recipe. */
static int verify_probes(struct journey *journey) {
    struct attempt attempt = {journey, "probe cases", clock_seconds(), 0, 0, 0};
    struct error none = {0};
    const struct template *probes =
        probes_of(journey->bench, journey->request->goal, journey->template, &none);
    if (probes == NULL) {
        *journey->error = none;
        return none.kind == ERROR_NONE ? 0 : -1;
    }
    for (int p = 0; p < probes->case_count; p++) {
        struct judgement found;
        int variant = variant_of(journey->template, probes, p);
        if (variant < 0)
            BUG("a probe case of no variant");
        if (!template_admits(probes, &journey->request->genome, p))
            continue;
        struct verify_case one = journey_case(journey, probes, p, journey->modules[variant]);
        const struct verify_input input = {.seed = journey_seed(journey, PROBE_SEEDS + p, 0),
                                           .twice = true};
        int status = attempt_input(&attempt, &one, &input, &found);
        if (status == 0 && probes->stress_count > 0)
            status =
                attempt_stress(&attempt, &one, turn_of(journey, probes, p), probes->stress_count,
                               journey_seed(journey, PROBE_SEEDS + p, STRESS_INPUTS));
        if (status != 0)
            return status;
        attempt.cases++;
    }
    trial_gate(journey->result, attempt.gate, true, clock_seconds() - attempt.start,
               "%d of %d correct on %d inputs", attempt.cases, probes->case_count, attempt.inputs);
    return 0;
}

/* Returns whether a case takes too long on an interpreting device. */
static bool too_long_to_run(const struct journey *journey, const struct plan *plan) {
    /* The instruction count depends on both: a byte moved costs about as much as sixteen
       tensor-core operations. */
    return journey->bench->device->info.predicts &&
           plan->operations + 16 * plan->bytes > INT64_C(100000000);
}

/* Returns whether a case has the fewest operations of its variant. That case represents the
   variant on stress recipes: on one of them in a trial, on all of them for a champion. */
static bool is_smallest(const struct journey *journey, int case_index) {
    const struct template *template = journey->template;
    struct plan own;
    struct plan other;
    struct error ignored;
    if (template_plan(template, &journey->request->genome, case_index, &own, &ignored) < 0)
        return false;
    for (int c = 0; c < template->case_count; c++)
        if (c != case_index &&
            template_variant(template, c) == template_variant(template, case_index) &&
            template_plan(template, &journey->request->genome, c, &other, &ignored) == 0 &&
            (other.operations < own.operations ||
             (other.operations == own.operations && c < case_index)))
            return false;
    return true;
}

static int verify_case(struct attempt *attempt, int c, bool stressed) {
    struct journey *journey = attempt->journey;
    struct case_outcome *outcome = &journey->result->outcome.cases[c];
    struct device_module *module = journey->modules[template_variant(journey->template, c)];
    struct verify_case one = journey_case(journey, journey->template, c, module);
    int status = 0;
    /* The first input's second run already uses new inputs in the same buffers, so one set fewer
       is needed. */
    int fresh = journey->bench->config->timing.inputs - 1;
    for (int i = 0; (i == 0 || i < fresh) && status == 0; i++) {
        const struct verify_input input = {.seed = journey_seed(journey, c, i), .twice = i == 0};
        struct judgement found;
        status = attempt_input(attempt, &one, &input, &found);
        errors_worst(&outcome->errors, &found.errors);
        errors_worst(&outcome->bound, &found.bound);
    }
    if (status == 0 && stressed)
        status =
            attempt_stress(attempt, &one, turn_of(journey, one.template, c),
                           one.template->stress_count, journey_seed(journey, c, STRESS_INPUTS));
    return status;
}

static int verify_cases(struct journey *journey) {
    struct attempt attempt = {journey, "cases", clock_seconds(), 0, 0, 0};
    struct outcome *outcome = &journey->result->outcome;
    struct plan plan;
    for (int c = 0; c < journey->template->case_count; c++) {
        if (template_plan(journey->template, &journey->request->genome, c, &plan, journey->error) <
            0)
            return -1;
        outcome->limited_range = outcome->limited_range || plan.limited_range;
        if (too_long_to_run(journey, &plan))
            continue;
        int status = verify_case(&attempt, c, is_smallest(journey, c));
        if (status != 0)
            return status;
        attempt.cases++;
    }
    trial_gate(journey->result, attempt.gate, true, clock_seconds() - attempt.start,
               "%d of %d correct on %d inputs, error %.2e%s%s", attempt.cases,
               journey->template->case_count, attempt.inputs, attempt.worst,
               outcome->limited_range ? ", limited range" : "",
               attempt.cases < journey->template->case_count
                   ? "; the rest take too long on this device"
                   : "");
    return 0;
}

int journey_correct(struct journey *journey) {
    int status = verify_probes(journey);
    return status == 0 ? verify_cases(journey) : status;
}

/* ---- final checks of a champion ---- */

/* The template for the held-out cases. NULL without an error: the config has none. */
static const struct template *held_out_of(struct bench *bench, struct error *error) {
    if (bench->config->held_out_count > 0 && bench->held_out == NULL)
        bench->held_out = config_load_held_out(bench->config, &bench->device->info, error);
    return bench->held_out;
}

static int promote_held_out(struct journey *journey) {
    struct attempt attempt = {journey, "held out", clock_seconds(), 0, 0, 0};
    struct error none = {0};
    struct judgement found;
    struct plan plan;
    const struct template *held_out = held_out_of(journey->bench, &none);
    if (none.kind != ERROR_NONE) {
        *journey->error = none;
        return -1;
    }
    for (int c = 0; held_out != NULL && c < held_out->case_count; c++) {
        int variant = variant_of(journey->template, held_out, c);
        if (variant < 0 || !template_admits(held_out, &journey->request->genome, c))
            continue;
        if (template_plan(held_out, &journey->request->genome, c, &plan, journey->error) < 0)
            return -1;
        if (too_long_to_run(journey, &plan))
            continue;
        struct verify_case one = journey_case(journey, held_out, c, journey->modules[variant]);
        const struct verify_input input = {.seed = journey_seed(journey, HELD_OUT_SEEDS + c, 0),
                                           .twice = true};
        int status = attempt_input(&attempt, &one, &input, &found);
        if (status == 0)
            status = attempt_stress(&attempt, &one, 0, 1,
                                    journey_seed(journey, HELD_OUT_SEEDS + c, STRESS_INPUTS));
        if (status != 0)
            return status;
        attempt.cases++;
    }
    if (attempt.cases > 0)
        trial_gate(journey->result, attempt.gate, true, clock_seconds() - attempt.start,
                   "%d case%s correct on %d inputs, error %.2e", attempt.cases,
                   attempt.cases == 1 ? "" : "s", attempt.inputs, attempt.worst);
    return 0;
}

/* Checks all stress recipes on the smallest case of each variant. */
static int promote_stress(struct journey *journey) {
    struct attempt attempt = {journey, "hard inputs", clock_seconds(), 0, 0, 0};
    struct plan plan;
    for (int c = 0; c < journey->template->case_count; c++) {
        struct device_module *module = journey->modules[template_variant(journey->template, c)];
        struct verify_case one = journey_case(journey, journey->template, c, module);
        if (template_plan(journey->template, &journey->request->genome, c, &plan, journey->error) <
            0)
            return -1;
        if (too_long_to_run(journey, &plan) || !is_smallest(journey, c))
            continue;
        int status = attempt_stress(&attempt, &one, 0, 1,
                                    journey_seed(journey, c, PROMOTION_INPUTS + STRESS_INPUTS));
        if (status != 0)
            return status;
        attempt.cases++;
    }
    if (attempt.inputs > 0)
        trial_gate(journey->result, attempt.gate, true, clock_seconds() - attempt.start,
                   "%d case%s correct on %d inputs, error %.2e", attempt.cases,
                   attempt.cases == 1 ? "" : "s", attempt.inputs, attempt.worst);
    return 0;
}

/* Checks each case on fresh seeds, first with unmapped memory before the tensors, then behind
   them; once if the device traps every stray access anyway. */
static int promote_flush(struct journey *journey) {
    struct attempt attempt = {journey, "flush memory", clock_seconds(), 0, 0, 0};
    const struct device *device = journey->bench->device;
    enum placement last =
        device->backend->memory_new_flush != NULL ? PLACED_AT_END : PLACED_AT_START;
    struct judgement found;
    struct plan plan;
    bool read_only = true;
    for (int c = 0; c < journey->template->case_count; c++) {
        struct device_module *module = journey->modules[template_variant(journey->template, c)];
        struct verify_case one = journey_case(journey, journey->template, c, module);
        if (template_plan(journey->template, &journey->request->genome, c, &plan, journey->error) <
            0)
            return -1;
        if (too_long_to_run(journey, &plan))
            continue;
        for (enum placement placement = PLACED_AT_START; placement <= last; placement++) {
            const struct verify_input input = {
                .seed = journey_seed(journey, c, PROMOTION_INPUTS + (int)placement),
                .twice = true,
                .placement = placement};
            int status = attempt_input(&attempt, &one, &input, &found);
            if (status != 0)
                return status;
            read_only = read_only && found.inputs_read_only;
        }
        attempt.cases++;
    }
    trial_gate(journey->result, attempt.gate, true, clock_seconds() - attempt.start,
               "%d case%s correct on %d fresh inputs, tensors beside unmapped memory, %s",
               attempt.cases, attempt.cases == 1 ? "" : "s", attempt.inputs,
               read_only ? "inputs read-only"
                         : "inputs writable: the driver has no read-only mappings");
    return 0;
}

bool journey_would_reign(const struct journey *journey) {
    const struct trial_request *request = journey->request;
    const struct outcome *outcome = &journey->result->outcome;
    return request->promote || (!outcome->raced && (request->champion_us <= 0 ||
                                                    outcome->score_us < request->champion_us));
}

int promotion_check(struct journey *journey) {
    if (!journey_would_reign(journey))
        return 0;
    int status = promote_stress(journey);
    if (status == 0)
        status = promote_held_out(journey);
    return status == 0 ? promote_flush(journey) : status;
}

/* ---- under a tool ---- */

int journey_watched(struct journey *journey) {
    bool profiled = journey->request->profiled;
    struct attempt attempt = {journey, profiled ? "cases" : "small cases", clock_seconds(), 0, 0,
                              0};
    struct error none = {0};
    struct judgement found;
    const struct template *probes =
        profiled ? NULL
                 : probes_of(journey->bench, journey->request->goal, journey->template, &none);
    if (none.kind != ERROR_NONE) {
        *journey->error = none;
        return -1;
    }
    if (probes == NULL)
        probes = journey->template;
    for (int p = 0; p < probes->case_count; p++) {
        int variant = variant_of(journey->template, probes, p);
        if (!template_admits(probes, &journey->request->genome, p))
            continue;
        struct verify_case one = journey_case(journey, probes, p, journey->modules[variant]);
        const struct verify_input input = {.seed = journey_seed(journey, PROBE_SEEDS + p, 0),
                                           .unpoisoned = true};
        int status = attempt_input(&attempt, &one, &input, &found);
        if (status != 0)
            return status;
        attempt.cases++;
    }
    trial_gate(journey->result, attempt.gate, true, clock_seconds() - attempt.start,
               "%d of %d correct", attempt.cases, probes->case_count);
    return 0;
}
