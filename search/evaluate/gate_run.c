#include "evaluate/gate_run.h"

#include "base/clock.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

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

struct gate_run gate_run_begin(struct evaluation *evaluation, const char *gate,
                               const struct template *template) {
    return (struct gate_run){
        .evaluation = evaluation, .gate = gate, .template = template, .start = clock_seconds()};
}

int gate_run_case(struct gate_run *run, int c) {
    struct evaluation *evaluation = run->evaluation;
    const struct genome *genome = &evaluation->request->genome;
    int variant = evaluation_matching_variant(evaluation->template, run->template, c);
    if (variant < 0 || !template_genome_is_valid(run->template, genome, c) ||
        !template_reference_applies(run->template, c))
        return 0;
    run->one = evaluation_verify_case(evaluation, run->template, c, evaluation->modules[variant]);
    run->one.in_full = run->in_full;
    return template_launch_plan(run->template, genome, c, &run->plan, evaluation->error) < 0 ? -1
                                                                                             : 1;
}

int gate_run_short_case(struct gate_run *run, int c) {
    int status = gate_run_case(run, c);
    return status == 1 && evaluation_case_is_long(run->evaluation, &run->plan) ? 0 : status;
}

/* It counts the reference and the plain kernel, which compute without tensor cores: there a thread
   costs as much as 640 operations, in the candidate some 64. Within a factor of 2 for the shipped
   templates. */
double gate_run_cost(const struct gate_run *run) {
    double cost = 3 * (double)run->plan.operations + 16 * (double)run->plan.bytes;
    struct launch_plan *reference = xmalloc(sizeof *reference);
    const struct launch_plan *plans[] = {&run->plan, reference};
    struct error ignored = {0};
    if (template_reference_launch_plan(run->template, run->one.case_index, reference, &ignored) < 0)
        reference->launch_count = 0;
    for (int p = 0; p < 2; p++)
        for (int i = 0; i < plans[p]->launch_count; i++) {
            const struct planned_launch launch = planned_launch(plans[p], i);
            cost += (p == 0 ? 64.0 : 2 * 640.0) * launch.grid[0] * launch.grid[1] * launch.grid[2] *
                    launch.block[0] * launch.block[1] * launch.block[2];
        }
    free(reference);
    return cost;
}

int gate_run_input(struct gate_run *run, const struct verify_input *input,
                   struct verify_result *found) {
    struct failure failure;
    int status = verify_input(&run->one, input, found, run->evaluation->error);
    if (status < 0)
        return -1;
    run->inputs += input->twice ? 2 : 1;
    run->evaluation->inputs++;
    run->evaluation->cost += (input->twice ? 2 : 1) * gate_run_cost(run);
    run->worst = fmax(run->worst, found->errors.relative_l2);
    run->excess = fmax(run->excess, found->excess);
    if (run->template == run->evaluation->template)
        evaluation_note_call(run->evaluation, run->one.case_index, found->call_us);
    if (status == 0)
        return 0;
    failure.verdict = found->failure.verdict;
    snprintf(failure.reason, sizeof failure.reason, "%s%s%.400s",
             input->stress != NULL ? input->stress->name : "",
             input->stress != NULL ? " inputs: " : "", found->failure.reason);
    return evaluation_fail(run->evaluation, run->gate, run->template, run->one.case_index,
                           run->start, &failure);
}

int gate_run_random(struct gate_run *run, uint64_t seed) {
    struct verify_result found;
    return gate_run_input(run, &(struct verify_input){.seed = seed, .twice = true}, &found);
}

static int check_stress(struct gate_run *run, int recipe, uint64_t seed) {
    struct verify_result found;
    const struct verify_input input = {.seed = seed + (uint64_t)recipe,
                                       .stress = &run->template->stresses[recipe]};
    return gate_run_input(run, &input, &found);
}

static bool recipe_applies(const struct gate_run *run, int recipe) {
    return verify_applies_to(&run->plan, run->template, &run->template->stresses[recipe]);
}

int gate_run_stress_recipes(struct gate_run *run, uint64_t seed) {
    int status = 0;
    for (int r = 0; r < run->template->stress_count && status == 0; r++)
        if (recipe_applies(run, r))
            status = check_stress(run, r, seed);
    return status;
}

int gate_run_stress_turn(struct gate_run *run, uint64_t turn, uint64_t seed) {
    int count = run->template->stress_count;
    for (int i = 0; i < count; i++) {
        int recipe = (int)((turn + (uint64_t)i) % (uint64_t)count);
        if (recipe_applies(run, recipe))
            return check_stress(run, recipe, seed);
    }
    return 0;
}

void gate_run_report(const struct gate_run *run) {
    trial_add_gate(run->evaluation->result, run->gate, true, clock_seconds() - run->start,
                   "%d case%s %s on %d inputs, error %.2e", run->cases, run->cases == 1 ? "" : "s",
                   template_passed(run->evaluation->template, run->cases != 1), run->inputs,
                   run->worst);
}
