/*  Which cases and inputs a candidate must compute correctly before it is timed:

     every trial      each probe case on random numbers, twice, and on one of the template's stress
                      recipes; each case on `inputs` sets of random numbers, at least two: the first
                      of them twice, the second in the same buffers; one case on one stress recipe,
                      which change from trial to trial
     under a tool     each small case once

   What a champion must pass is in final_checks.c. */
#include "base/clock.h"
#include "evaluate/gate_run.h"

/* ---- before timing ---- */

/* Checks each probe case on random numbers, twice, and on one stress recipe. */
static int verify_probes(struct evaluation *evaluation) {
    struct evaluator *evaluator = evaluation->evaluator;
    int goal = evaluation->request->goal;
    struct gate_run run = gate_run_begin(evaluation, "probe cases", NULL);
    if (evaluator_load_probes(evaluator, goal, evaluation->template, evaluation->error) < 0)
        return -1;
    run.template = evaluator->probes[goal];
    if (run.template == NULL)
        return 0;
    for (int p = 0; p < run.template->case_count; p++) {
        int status = gate_run_case(&run, p);
        if (status == 0)
            continue;
        if (status == 1)
            status = gate_run_random(&run, evaluation_seed(evaluation, PROBE_SEEDS + p, 0));
        if (status == 0)
            status =
                gate_run_stress_turn(&run, evaluation->request->seed + (uint64_t)p,
                                     evaluation_seed(evaluation, PROBE_SEEDS + p, STRESS_INPUTS));
        if (status != 0)
            return status;
        run.cases++;
    }
    trial_add_gate(evaluation->result, run.gate, true, clock_seconds() - run.start,
                   "%d of %d %s on %d inputs", run.cases, run.template->case_count,
                   template_passed(run.template, run.template->case_count != 1), run.inputs);
    return 0;
}

static int verify_case(struct gate_run *run, int c) {
    static const struct errors exact = {.relative_l2 = EXACT_BOUND, .row_relative_l2 = EXACT_BOUND};
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
        status = gate_run_input(run, &input, &found);
        errors_max(&outcome->errors, &found.errors);
        errors_max(&outcome->bound, &found.bound);
        if (status == 0)
            errors_max(&outcome->bound, &exact);
    }
    return status;
}

/* Checks one stress recipe at one of the cases that are checked: with consecutive seeds, each
   recipe at each case in turn. */
static int verify_hard_case(struct gate_run *run) {
    struct evaluation *evaluation = run->evaluation;
    int checked[CASES_MAX], count = 0;
    for (int c = 0; c < evaluation->template->case_count; c++) {
        int status = gate_run_short_case(run, c);
        if (status < 0)
            return -1;
        if (status == 1)
            checked[count++] = c;
    }
    if (count == 0)
        return 0;
    uint64_t seed = evaluation->request->seed;
    int c = checked[seed % (uint64_t)count];
    return gate_run_case(run, c) < 0
               ? -1
               : gate_run_stress_turn(run, seed / (uint64_t)count,
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
    struct gate_run run = gate_run_begin(evaluation, "cases", evaluation->template);
    struct outcome *outcome = &evaluation->result->outcome;
    int count = evaluation->template->case_count;
    for (int c = 0; c < count; c++) {
        int status = gate_run_short_case(&run, c);
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
    char share[NAME_SIZE] = "";
    if (run.excess > 0)
        snprintf(share, sizeof share, ", at most %.2g of the tolerance", run.excess);
    trial_add_gate(evaluation->result, run.gate, true, clock_seconds() - run.start,
                   "%d of %d %s on %d inputs, error %.2e%s%s%s", run.cases, count,
                   template_passed(run.template, count != 1), run.inputs, run.worst, share,
                   outcome->limited_range ? ", limited range" : "",
                   run.cases < count ? "; the rest take too long on this device" : "");
    return 0;
}

int evaluation_check_correctness(struct evaluation *evaluation) {
    int status = verify_probes(evaluation);
    return status == 0 ? verify_cases(evaluation) : status;
}

/* ---- under a tool ---- */

int evaluation_run_under_tool(struct evaluation *evaluation) {
    bool profiled = evaluation->request->profiled;
    /* The emulated device sees every store. A profiler would list the kernels that poison. */
    const enum poisoned poisoned = profiled || evaluation->evaluator->device->info.predicts
                                       ? POISONED_NOTHING
                                       : POISONED_OUTPUTS;
    struct gate_run run =
        gate_run_begin(evaluation, profiled ? "cases" : "small cases", evaluation->template);
    struct evaluator *evaluator = evaluation->evaluator;
    int goal = evaluation->request->goal;
    if (!profiled &&
        evaluator_load_probes(evaluator, goal, evaluation->template, evaluation->error) < 0)
        return -1;
    if (!profiled && evaluator->probes[goal] != NULL)
        run.template = evaluator->probes[goal];
    for (int p = 0; p < run.template->case_count; p++) {
        const struct verify_input input = {.seed = evaluation_seed(evaluation, PROBE_SEEDS + p, 0),
                                           .poisoned = poisoned};
        struct verify_result found;
        int status = gate_run_case(&run, p);
        if (status == 0)
            continue;
        if (status == 1)
            status = gate_run_input(&run, &input, &found);
        if (status != 0)
            return status;
        run.cases++;
    }
    trial_add_gate(evaluation->result, run.gate, true, clock_seconds() - run.start, "%d of %d %s",
                   run.cases, run.template->case_count,
                   template_passed(run.template, run.template->case_count != 1));
    return 0;
}
