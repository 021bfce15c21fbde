/*  What a champion must pass after its timing:

     edge shapes      small shapes at the edges of its tiles
     thin shapes      if cases are too long for the device: their sizes, one at a time
     hard inputs      each case on all stress recipes
     held out         the held-out cases on random numbers and all recipes
     flush memory     each case on fresh random numbers, with read-only inputs
     long cases       blocks of cases that are too long (long_cases.c)
     race checker     small cases under the race checker (race_check.c) */
#include "base/clock.h"
#include "evaluate/edge_shapes.h"
#include "evaluate/gate_run.h"

#include <math.h>
#include <string.h>

/* Of edge shapes: how many there are; what they may cost (gate_run_cost): on an emulated device a
   fifth of what the trial has cost, but 10 ms to 0.5 s; on a GPU a second. */
enum { EDGE_SHAPES_EMULATED = 12, EDGE_SHAPES_GPU = 8, EDGE_SHARE = 5 };
#define EDGE_COST_EMULATED_MIN 2e6
#define EDGE_COST_EMULATED_MAX 1e8
#define EDGE_COST_GPU          1e11

/* What thin shapes may cost on an emulated device: some 1.2 s. */
static const double thin_cost_max = 2.5e8;

/* Loads the candidate's template for the held-out cases; evaluator->held_out stays NULL if there
   are none. */
static int load_held_out(struct evaluator *evaluator, const struct template *template,
                         struct error *error) {
    const struct evaluation_settings *settings = evaluator->settings;
    if (settings->held_out.case_count == 0 ||
        (evaluator->held_out != NULL &&
         strcmp(evaluator->held_out->solution, template->solution) == 0))
        return 0;
    struct template_setting setting =
        evaluation_setting(&settings->held_out, &evaluator->device->info);
    setting.solution = template->solution[0] != '\0' ? template->solution : NULL;
    template_free(evaluator->held_out);
    evaluator->held_out = template_load(settings->template_folder, &setting, error);
    return evaluator->held_out != NULL ? 0 : -1;
}

static int check_held_out(struct evaluation *evaluation) {
    struct evaluator *evaluator = evaluation->evaluator;
    struct gate_run run = gate_run_begin(evaluation, "held out", NULL);
    if (load_held_out(evaluator, evaluation->template, evaluation->error) < 0)
        return -1;
    run.template = evaluator->held_out;
    for (int c = 0; run.template != NULL && c < run.template->case_count; c++) {
        int status = gate_run_short_case(&run, c);
        if (status == 0)
            continue;
        if (status == 1)
            status = gate_run_random(&run, evaluation_seed(evaluation, HELD_OUT_SEEDS + c, 0));
        if (status == 0)
            status = gate_run_stress_recipes(
                &run, evaluation_seed(evaluation, HELD_OUT_SEEDS + c, STRESS_INPUTS));
        if (status != 0)
            return status;
        run.cases++;
    }
    if (run.cases > 0)
        gate_run_report(&run);
    return 0;
}

/* Checks shapes that the template's author did not think of, at most so many and while the budget
   lasts, on random numbers; *skipped: how many were too dear. That the reference is not finite
   there, as where a row has nothing to sum, is no error. */
static int check_shapes(struct gate_run *run, int seeds, int most, double *budget, int *skipped) {
    struct evaluation *evaluation = run->evaluation;
    int status = 0;
    *skipped = 0;
    for (int c = 0; c < run->template->case_count && run->cases < most && status == 0; c++) {
        struct verify_result found;
        const struct verify_input input = {.seed = evaluation_seed(evaluation, seeds + c, 0)};
        status = gate_run_case(run, c);
        double cost = status == 1 ? gate_run_cost(run) : 0;
        if (status == 1 && cost <= *budget) {
            *budget -= cost;
            status = gate_run_input(run, &input, &found);
            run->cases += status == 0;
        } else if (status == 1) {
            ++*skipped;
            status = 0;
        }
        if (status < 0 && evaluation->error->kind == ERROR_INPUT) {
            *evaluation->error = (struct error){0};
            status = 0;
        }
    }
    return status;
}

static struct template_setting setting_of(const struct evaluation *evaluation) {
    const struct evaluator *evaluator = evaluation->evaluator;
    return evaluation_setting(&evaluator->settings->goals[evaluation->request->goal],
                              &evaluator->device->info);
}

/* Checks small shapes at the edges of the genome's tiles within a share of what the trial has cost
   so far. */
static int check_edge_shapes(struct evaluation *evaluation) {
    const struct template_setting setting = setting_of(evaluation);
    const bool emulated = evaluation->evaluator->device->info.predicts;
    double budget = emulated ? fmin(fmax(evaluation->cost / EDGE_SHARE, EDGE_COST_EMULATED_MIN),
                                    EDGE_COST_EMULATED_MAX)
                             : EDGE_COST_GPU;
    struct error ignored = {0};
    struct template *edges = edge_shapes_load(evaluation->template, &evaluation->request->genome,
                                              &setting, evaluation->request->seed, &ignored);
    if (edges == NULL)
        return 0;
    struct gate_run run = gate_run_begin(evaluation, "edge shapes", edges);
    int skipped;
    int status = check_shapes(&run, EDGE_SEEDS, emulated ? EDGE_SHAPES_EMULATED : EDGE_SHAPES_GPU,
                              &budget, &skipped);
    if (status == 0 && run.cases > 0)
        gate_run_report(&run);
    template_free(edges);
    return status;
}

/* Returns whether a case of the goal is too long for the device, or -1. */
static int has_long_case(struct evaluation *evaluation) {
    struct gate_run run = gate_run_begin(evaluation, "", evaluation->template);
    for (int c = 0; c < evaluation->template->case_count; c++) {
        int status = gate_run_case(&run, c);
        if (status < 0 || (status == 1 && evaluation_case_is_long(evaluation, &run.plan)))
            return status;
    }
    return 0;
}

/* Checks the sizes of cases that are too long, one at a time: the whole of a small grid, so that
   nothing is left out, and blocks may depend on each other. Each at the largest size that the
   genome is valid for and that is cheap enough. */
static int check_thin_shapes(struct evaluation *evaluation) {
    const struct template_setting setting = setting_of(evaluation);
    int status = has_long_case(evaluation);
    bool more = status == 1;
    double budget = thin_cost_max;
    struct gate_run run = gate_run_begin(evaluation, "thin shapes", NULL);
    status = status < 0 ? -1 : 0;
    for (int halvings = 0; more && status == 0; halvings++) {
        int skipped;
        struct error ignored = {0};
        struct template *thin =
            thin_shapes_load(evaluation->template, &setting, halvings, &ignored);
        if (thin == NULL)
            break;
        run.template = thin;
        status = check_shapes(&run, THIN_SEEDS, CASES_MAX, &budget, &skipped);
        more = skipped > 0 || run.cases == 0;
        template_free(thin);
    }
    if (status == 0 && run.cases > 0)
        gate_run_report(&run);
    return status;
}

/* Checks all stress recipes at every case. */
static int check_hard_inputs(struct evaluation *evaluation) {
    struct gate_run run = gate_run_begin(evaluation, "hard inputs", evaluation->template);
    run.in_full = true;
    for (int c = 0; c < evaluation->template->case_count; c++) {
        int status = gate_run_short_case(&run, c);
        if (status == 0)
            continue;
        if (status == 1)
            status = gate_run_stress_recipes(
                &run, evaluation_seed(evaluation, c, FINAL_CHECK_INPUTS + STRESS_INPUTS));
        if (status != 0)
            return status;
        run.cases++;
    }
    if (run.inputs > 0)
        gate_run_report(&run);
    return 0;
}

/* Checks each case on fresh seeds, first with unmapped memory before the tensors, then behind
   them; once if the device traps every stray access anyway. */
static int check_flush_memory(struct evaluation *evaluation) {
    struct gate_run run = gate_run_begin(evaluation, "flush memory", evaluation->template);
    run.in_full = true;
    const struct device *device = evaluation->evaluator->device;
    enum placement last =
        device->backend->memory_new_flush != NULL ? PLACED_AT_END : PLACED_AT_START;
    bool read_only = true;
    for (int c = 0; c < evaluation->template->case_count; c++) {
        int status = gate_run_short_case(&run, c);
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
            status = gate_run_input(&run, &input, &found);
            if (status != 0)
                return status;
            read_only = read_only && found.inputs_read_only;
        }
        run.cases++;
    }
    trial_add_gate(
        evaluation->result, run.gate, true, clock_seconds() - run.start,
        "%d case%s %s on %d fresh inputs, tensors beside unmapped memory, %s", run.cases,
        run.cases == 1 ? "" : "s", template_passed(run.template, run.cases != 1), run.inputs,
        read_only ? "inputs read-only" : "inputs writable: the driver has no read-only mappings");
    return 0;
}

bool evaluation_would_be_champion(const struct evaluation *evaluation) {
    const struct trial_request *request = evaluation->request;
    const struct outcome *outcome = &evaluation->result->outcome;
    return request->promote ||
           (!request->no_promote && !outcome->raced &&
            (request->champion_us <= 0 || outcome->score_us < request->champion_us));
}

int evaluation_run_final_checks(struct evaluation *evaluation) {
    static int (*const checks[])(struct evaluation *) = {
        check_edge_shapes,  check_thin_shapes,           check_hard_inputs,      check_held_out,
        check_flush_memory, evaluation_check_long_cases, evaluation_check_races,
    };
    if (!evaluation_would_be_champion(evaluation))
        return 0;
    int status = 0;
    for (size_t i = 0; i < sizeof checks / sizeof *checks && status == 0; i++)
        status = checks[i](evaluation);
    evaluation->result->final_checks = status == 0;
    return status;
}
