/*  Which cases and inputs a candidate must compute correctly, and which more a champion must.

     every trial   each probe case on random numbers, twice, and on one of the template's stress
                   recipes; each case on `inputs` sets of random numbers, at least two: the first of
                   them twice, the second in the same buffers; one case on one stress recipe, which
                   change from trial to trial
     a champion    small shapes at the edges of its tiles; each case on all recipes; the held-out
                   cases on random numbers and all recipes; each case on fresh random numbers, in
                   flush memory with read-only inputs; blocks of cases that are too long
                   (long_cases.c); small cases under the race checker (race_check.c) */
#include "evaluate/evaluation.h"

#include "base/clock.h"
#include "base/memory.h"
#include "evaluate/edge_shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Ranges of a trial's input seeds by purpose: cases start at 0, each with up to 900 inputs. */
enum { PROBE_SEEDS = 500, HELD_OUT_SEEDS = 700, STRESS_INPUTS = 100, FINAL_CHECK_INPUTS = 400 };
/* Of edge shapes: the seeds of their inputs; how many there are; what they may cost (input_cost):
   on an emulated device a fifth of what the trial has cost, but 10 ms to 0.5 s; on a GPU a second.
 */
enum { EDGE_SEEDS = 600, EDGE_SHAPES_EMULATED = 12, EDGE_SHAPES_GPU = 8, EDGE_SHARE = 5 };
#define EDGE_COST_EMULATED_MIN 2e6
#define EDGE_COST_EMULATED_MAX 1e8
#define EDGE_COST_GPU          1e11

/* Loads the template for the held-out cases; evaluator->held_out stays NULL if there are none. */
static int load_held_out(struct evaluator *evaluator, struct error *error) {
    const struct evaluation_settings *settings = evaluator->settings;
    if (settings->held_out.case_count == 0 || evaluator->held_out != NULL)
        return 0;
    const struct template_setting setting =
        evaluation_setting(&settings->held_out, &evaluator->device->info);
    evaluator->held_out = template_load(settings->template_folder, &setting, error);
    return evaluator->held_out != NULL ? 0 : -1;
}

int evaluation_matching_variant(const struct template *template,
                                const struct template *other_template, int other_case) {
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

bool evaluation_case_is_long(const struct evaluation *evaluation, const struct launch_plan *plan) {
    /* The instruction count depends on both: a byte moved costs about as much as sixteen
       tensor-core operations. */
    return evaluation->evaluator->device->info.predicts &&
           plan->operations + 16 * plan->bytes > INT64_C(100000000);
}

/* ---- one case ---- */

/* The progress of a gate that checks many inputs of many cases, and the case that is checked. */
struct gate_run {
    struct evaluation *evaluation;
    const char *gate;
    const struct template *template; /* of the cases: the goal's own, its probes or held out */
    double start;
    int cases, inputs; /* checked so far */
    double worst;      /* relative L2 */
    struct verify_case one;
    struct launch_plan plan; /* of that case */
};

static struct gate_run begin_gate(struct evaluation *evaluation, const char *gate,
                                  const struct template *template) {
    return (struct gate_run){
        .evaluation = evaluation, .gate = gate, .template = template, .start = clock_seconds()};
}

/* Makes a case the one that is checked. Returns 1; 0 if the candidate has no kernel for it; -1. */
static int begin_case(struct gate_run *run, int c) {
    struct evaluation *evaluation = run->evaluation;
    const struct genome *genome = &evaluation->request->genome;
    int variant = evaluation_matching_variant(evaluation->template, run->template, c);
    if (variant < 0 || !template_genome_is_valid(run->template, genome, c))
        return 0;
    run->one = evaluation_verify_case(evaluation, run->template, c, evaluation->modules[variant]);
    return template_launch_plan(run->template, genome, c, &run->plan, evaluation->error) < 0 ? -1
                                                                                             : 1;
}

/* The same, without cases that take too long on an interpreting device. */
static int begin_short_case(struct gate_run *run, int c) {
    int status = begin_case(run, c);
    return status == 1 && evaluation_case_is_long(run->evaluation, &run->plan) ? 0 : status;
}

/* What verifying one input costs, in operations; on an emulated device some 5 ns each. It counts
   the reference and the plain kernel, which compute without tensor cores: there a thread costs as
   much as 640 operations, in the candidate some 64. Within a factor of 2 for the shipped
   templates. */
static double input_cost(const struct gate_run *run) {
    double cost = 3 * (double)run->plan.operations + 16 * (double)run->plan.bytes;
    struct launch_plan *reference = xmalloc(sizeof *reference);
    const struct launch_plan *plans[] = {&run->plan, reference};
    struct error ignored = {0};
    if (template_reference_launch_plan(run->template, run->one.case_index, reference, &ignored) < 0)
        reference->launch_count = 0;
    for (int p = 0; p < 2; p++)
        for (int i = 0; i < plans[p]->launch_count; i++) {
            const struct planned_launch *launch = &plans[p]->launches[i];
            cost += (p == 0 ? 64.0 : 2 * 640.0) * launch->grid[0] * launch->grid[1] *
                    launch->grid[2] * launch->block[0] * launch->block[1] * launch->block[2];
        }
    free(reference);
    return cost;
}

static int check_input(struct gate_run *run, const struct verify_input *input,
                       struct verify_result *found) {
    struct failure failure;
    int status = verify_input(&run->one, input, found, run->evaluation->error);
    if (status < 0)
        return -1;
    run->inputs += input->twice ? 2 : 1;
    run->evaluation->inputs++;
    run->evaluation->cost += (input->twice ? 2 : 1) * input_cost(run);
    run->worst = fmax(run->worst, found->errors.relative_l2);
    if (status == 0)
        return 0;
    failure.verdict = found->failure.verdict;
    snprintf(failure.reason, sizeof failure.reason, "%s%s%.400s",
             input->stress != NULL ? input->stress->name : "",
             input->stress != NULL ? " inputs: " : "", found->failure.reason);
    return evaluation_fail(run->evaluation, run->gate, run->template, run->one.case_index,
                           run->start, &failure);
}

/* Checks one input of random numbers, and repeats it. */
static int check_random(struct gate_run *run, uint64_t seed) {
    struct verify_result found;
    return check_input(run, &(struct verify_input){.seed = seed, .twice = true}, &found);
}

static int check_stress(struct gate_run *run, int recipe, uint64_t seed) {
    struct verify_result found;
    const struct verify_input input = {.seed = seed + (uint64_t)recipe,
                                       .stress = &run->template->stresses[recipe]};
    return check_input(run, &input, &found);
}

static bool recipe_applies(const struct gate_run *run, int recipe) {
    return verify_applies_to(&run->plan, run->template, &run->template->stresses[recipe]);
}

/* Checks all stress recipes that apply to the genome and the case. */
static int check_stress_recipes(struct gate_run *run, uint64_t seed) {
    int status = 0;
    for (int r = 0; r < run->template->stress_count && status == 0; r++)
        if (recipe_applies(run, r))
            status = check_stress(run, r, seed);
    return status;
}

/* Checks one stress recipe that applies, which changes with `turn`. */
static int check_stress_turn(struct gate_run *run, uint64_t turn, uint64_t seed) {
    int count = run->template->stress_count;
    for (int i = 0; i < count; i++) {
        int recipe = (int)((turn + (uint64_t)i) % (uint64_t)count);
        if (recipe_applies(run, recipe))
            return check_stress(run, recipe, seed);
    }
    return 0;
}

/* Adds the gate of cases that all passed. */
static void report_cases(const struct gate_run *run) {
    trial_add_gate(run->evaluation->result, run->gate, true, clock_seconds() - run->start,
                   "%d case%s correct on %d inputs, error %.2e", run->cases,
                   run->cases == 1 ? "" : "s", run->inputs, run->worst);
}

/* ---- before timing ---- */

/* Checks each probe case on random numbers, twice, and on one stress recipe. */
static int verify_probes(struct evaluation *evaluation) {
    struct evaluator *evaluator = evaluation->evaluator;
    int goal = evaluation->request->goal;
    struct gate_run run = begin_gate(evaluation, "probe cases", NULL);
    if (evaluator_load_probes(evaluator, goal, evaluation->template, evaluation->error) < 0)
        return -1;
    run.template = evaluator->probes[goal];
    if (run.template == NULL)
        return 0;
    for (int p = 0; p < run.template->case_count; p++) {
        int status = begin_case(&run, p);
        if (status == 0)
            continue;
        if (status == 1)
            status = check_random(&run, evaluation_seed(evaluation, PROBE_SEEDS + p, 0));
        if (status == 0)
            status = check_stress_turn(&run, evaluation->request->seed + (uint64_t)p,
                                       evaluation_seed(evaluation, PROBE_SEEDS + p, STRESS_INPUTS));
        if (status != 0)
            return status;
        run.cases++;
    }
    trial_add_gate(evaluation->result, run.gate, true, clock_seconds() - run.start,
                   "%d of %d correct on %d inputs", run.cases, run.template->case_count,
                   run.inputs);
    return 0;
}

static int verify_case(struct gate_run *run, int c) {
    struct evaluation *evaluation = run->evaluation;
    struct case_outcome *outcome = &evaluation->result->outcome.cases[c];
    int status = 0;
    /* The first input's second run already uses new inputs in the same buffers, so one set fewer
       is needed. */
    int fresh = evaluation->evaluator->settings->timing.inputs - 1;
    for (int i = 0; (i == 0 || i < fresh) && status == 0; i++) {
        const struct verify_input input = {.seed = evaluation_seed(evaluation, c, i),
                                           .twice = i == 0};
        struct verify_result found;
        status = check_input(run, &input, &found);
        errors_max(&outcome->errors, &found.errors);
        errors_max(&outcome->bound, &found.bound);
    }
    return status;
}

/* Checks one stress recipe at one of the cases that are checked: with consecutive seeds, each
   recipe at each case in turn. */
static int verify_hard_case(struct gate_run *run) {
    struct evaluation *evaluation = run->evaluation;
    int checked[CASES_MAX], count = 0;
    for (int c = 0; c < evaluation->template->case_count; c++) {
        int status = begin_short_case(run, c);
        if (status < 0)
            return -1;
        if (status == 1)
            checked[count++] = c;
    }
    if (count == 0)
        return 0;
    uint64_t seed = evaluation->request->seed;
    int c = checked[seed % (uint64_t)count];
    return begin_case(run, c) < 0
               ? -1
               : check_stress_turn(run, seed / (uint64_t)count,
                                   evaluation_seed(evaluation, c, STRESS_INPUTS));
}

/* Ends a trial in which nothing was verified: what was not looked at is not right. */
static int fail_unverified(struct evaluation *evaluation, double start) {
    static const char reason[] =
        "nothing was verified: every case takes too long on an emulated device, and no probe case "
        "fits: add small \"probe_cases\" to template.json";
    trial_add_gate(evaluation->result, "cases", false, clock_seconds() - start, "%.150s", reason);
    trial_set_verdict(evaluation->result, VERDICT_UNVERIFIED, reason);
    return 1;
}

static int verify_cases(struct evaluation *evaluation) {
    struct gate_run run = begin_gate(evaluation, "cases", evaluation->template);
    struct outcome *outcome = &evaluation->result->outcome;
    int count = evaluation->template->case_count;
    for (int c = 0; c < count; c++) {
        int status = begin_short_case(&run, c);
        outcome->limited_range = outcome->limited_range || run.plan.limited_range;
        if (status == 0)
            continue;
        if (status == 1)
            status = verify_case(&run, c);
        if (status != 0)
            return status;
        run.cases++;
    }
    int status = verify_hard_case(&run);
    if (status != 0)
        return status;
    if (evaluation->inputs == 0)
        return fail_unverified(evaluation, run.start);
    trial_add_gate(evaluation->result, run.gate, true, clock_seconds() - run.start,
                   "%d of %d correct on %d inputs, error %.2e%s%s", run.cases, count, run.inputs,
                   run.worst, outcome->limited_range ? ", limited range" : "",
                   run.cases < count ? "; the rest take too long on this device" : "");
    return 0;
}

int evaluation_check_correctness(struct evaluation *evaluation) {
    int status = verify_probes(evaluation);
    return status == 0 ? verify_cases(evaluation) : status;
}

/* ---- final checks of a champion ---- */

static int check_held_out(struct evaluation *evaluation) {
    struct evaluator *evaluator = evaluation->evaluator;
    struct gate_run run = begin_gate(evaluation, "held out", NULL);
    if (load_held_out(evaluator, evaluation->error) < 0)
        return -1;
    run.template = evaluator->held_out;
    for (int c = 0; run.template != NULL && c < run.template->case_count; c++) {
        int status = begin_short_case(&run, c);
        if (status == 0)
            continue;
        if (status == 1)
            status = check_random(&run, evaluation_seed(evaluation, HELD_OUT_SEEDS + c, 0));
        if (status == 0)
            status = check_stress_recipes(
                &run, evaluation_seed(evaluation, HELD_OUT_SEEDS + c, STRESS_INPUTS));
        if (status != 0)
            return status;
        run.cases++;
    }
    if (run.cases > 0)
        report_cases(&run);
    return 0;
}

/* Checks small shapes at the edges of the genome's tiles, on random numbers, within a share of what
   the trial has cost so far. */
static int check_edge_shapes(struct evaluation *evaluation) {
    const struct evaluator *evaluator = evaluation->evaluator;
    const struct template_setting setting = evaluation_setting(
        &evaluator->settings->goals[evaluation->request->goal], &evaluator->device->info);
    const bool emulated = evaluator->device->info.predicts;
    double budget = emulated ? fmin(fmax(evaluation->cost / EDGE_SHARE, EDGE_COST_EMULATED_MIN),
                                    EDGE_COST_EMULATED_MAX)
                             : EDGE_COST_GPU;
    struct gate_run run = begin_gate(evaluation, "edge shapes", NULL);
    struct error ignored = {0};
    struct template *edges = edge_shapes_load(evaluation->template, &evaluation->request->genome,
                                              &setting, evaluation->request->seed, &ignored);
    const int most = emulated ? EDGE_SHAPES_EMULATED : EDGE_SHAPES_GPU;
    int status = 0;
    run.template = edges;
    for (int c = 0; edges != NULL && c < edges->case_count && run.cases < most && status == 0;
         c++) {
        struct verify_result found;
        const struct verify_input input = {.seed = evaluation_seed(evaluation, EDGE_SEEDS + c, 0)};
        status = begin_case(&run, c);
        if (status == 1 && input_cost(&run) <= budget) {
            budget -= input_cost(&run);
            status = check_input(&run, &input, &found);
            run.cases += status == 0;
        } else if (status == 1)
            status = 0;
        /* The template's author did not think of this shape: that its reference is not finite
           there, as where a row has nothing to sum, is no error. */
        if (status < 0 && evaluation->error->kind == ERROR_INPUT) {
            *evaluation->error = (struct error){0};
            status = 0;
        }
    }
    if (status == 0 && run.cases > 0)
        report_cases(&run);
    template_free(edges);
    return status;
}

/* Checks all stress recipes at every case. */
static int check_hard_inputs(struct evaluation *evaluation) {
    struct gate_run run = begin_gate(evaluation, "hard inputs", evaluation->template);
    for (int c = 0; c < evaluation->template->case_count; c++) {
        int status = begin_short_case(&run, c);
        if (status == 0)
            continue;
        if (status == 1)
            status = check_stress_recipes(
                &run, evaluation_seed(evaluation, c, FINAL_CHECK_INPUTS + STRESS_INPUTS));
        if (status != 0)
            return status;
        run.cases++;
    }
    if (run.inputs > 0)
        report_cases(&run);
    return 0;
}

/* Checks each case on fresh seeds, first with unmapped memory before the tensors, then behind
   them; once if the device traps every stray access anyway. */
static int check_flush_memory(struct evaluation *evaluation) {
    struct gate_run run = begin_gate(evaluation, "flush memory", evaluation->template);
    const struct device *device = evaluation->evaluator->device;
    enum placement last =
        device->backend->memory_new_flush != NULL ? PLACED_AT_END : PLACED_AT_START;
    bool read_only = true;
    for (int c = 0; c < evaluation->template->case_count; c++) {
        int status = begin_short_case(&run, c);
        if (status < 0)
            return -1;
        if (status == 0)
            continue;
        for (enum placement placement = PLACED_AT_START; placement <= last; placement++) {
            const struct verify_input input = {
                .seed = evaluation_seed(evaluation, c, FINAL_CHECK_INPUTS + (int)placement),
                .twice = true,
                .carried_over = true,
                .placement = placement};
            struct verify_result found;
            status = check_input(&run, &input, &found);
            if (status != 0)
                return status;
            read_only = read_only && found.inputs_read_only;
        }
        run.cases++;
    }
    trial_add_gate(evaluation->result, run.gate, true, clock_seconds() - run.start,
                   "%d case%s correct on %d fresh inputs, tensors beside unmapped memory, %s",
                   run.cases, run.cases == 1 ? "" : "s", run.inputs,
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
    int status = check_edge_shapes(evaluation);
    if (status == 0)
        status = check_hard_inputs(evaluation);
    if (status == 0)
        status = check_held_out(evaluation);
    if (status == 0)
        status = check_flush_memory(evaluation);
    if (status == 0)
        status = evaluation_check_long_cases(evaluation);
    return status == 0 ? evaluation_check_races(evaluation) : status;
}

/* ---- under a tool ---- */

int evaluation_run_under_tool(struct evaluation *evaluation) {
    bool profiled = evaluation->request->profiled;
    struct gate_run run =
        begin_gate(evaluation, profiled ? "cases" : "small cases", evaluation->template);
    struct evaluator *evaluator = evaluation->evaluator;
    int goal = evaluation->request->goal;
    if (!profiled &&
        evaluator_load_probes(evaluator, goal, evaluation->template, evaluation->error) < 0)
        return -1;
    if (!profiled && evaluator->probes[goal] != NULL)
        run.template = evaluator->probes[goal];
    for (int p = 0; p < run.template->case_count; p++) {
        const struct verify_input input = {.seed = evaluation_seed(evaluation, PROBE_SEEDS + p, 0),
                                           .unpoisoned = true};
        struct verify_result found;
        int status = begin_case(&run, p);
        if (status == 0)
            continue;
        if (status == 1)
            status = check_input(&run, &input, &found);
        if (status != 0)
            return status;
        run.cases++;
    }
    trial_add_gate(evaluation->result, run.gate, true, clock_seconds() - run.start,
                   "%d of %d correct", run.cases, run.template->case_count);
    return 0;
}
