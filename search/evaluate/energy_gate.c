/* Energy as the last gate of a trial. It measures on its own, after all timing: a load of half a
   second heats the GPU, which the timing of the next case must not meet. */
#include "evaluate/evaluation.h"

#include "base/clock.h"

#include <math.h>

/* A batch is short, so that a change of the counter is seen soon after it happened, and long
   beside the host's time between two. */
static const double batch_us = 2000, graph_us = 500;
enum { GRAPH_CALLS_MAX = 100 };

/* Shorter calls leave the GPU partly idle within a graph, and their figure is the launches'. */
static const double call_us_min = 50;

struct batches {
    struct device *device;
    struct device_graph *graph;
    int launches, samples;
    bool ran;
    struct failure *failure;
};

/* graph_sample starts with one replay that it does not time, and that uses energy as well. */
static int run_batch(void *context, int64_t *calls) {
    struct batches *batches = context;
    double samples_us[SAMPLES_MAX];
    batches->failure->verdict = batches->device->backend->graph_sample(
        batches->device, batches->graph, batches->samples, samples_us, batches->failure->reason);
    batches->ran = true;
    *calls += (int64_t)(batches->samples + 1) * batches->launches;
    return batches->failure->verdict != VERDICT_OK;
}

/* Measures one case, and verifies that its calls computed their outputs meanwhile. */
static int measure_case(struct evaluation *evaluation, int c, struct failure *failure) {
    struct evaluator *evaluator = evaluation->evaluator;
    struct case_outcome *to = &evaluation->result->outcome.cases[c];
    double call_us = to->warm.p50_us;
    struct device_module *module = evaluation->modules[template_variant(evaluation->template, c)];
    struct verify_case one = evaluation_verify_case(evaluation, evaluation->template, c, module);
    struct measure_settings settings = evaluation_measure_settings(evaluation, c);
    settings.launches = (int)fmax(1, fmin(GRAPH_CALLS_MAX, graph_us / call_us));
    settings.sets = settings.sets < settings.launches ? settings.sets : settings.launches;
    struct batches batches = {
        .device = evaluator->device,
        .launches = settings.launches,
        .samples = (int)fmax(1, fmin(SAMPLES_MAX, batch_us / call_us / settings.launches - 1)),
        .failure = failure};
    const struct energy_load load = {.run = run_batch, .context = &batches};
    struct measurement *measurement = NULL;
    int status = measurement_new(&one, &settings, &measurement, failure, evaluation->error);
    if (status == 0) {
        batches.graph = measurement_graph(measurement);
        status = energy_measure(evaluator->energy_meter, &load,
                                evaluator->settings->timing.energy_ms, &to->energy);
    }
    if (status == 0 && batches.ran)
        status = measurement_check(measurement, failure, evaluation->error);
    measurement_free(measurement);
    return status;
}

static bool is_due(const struct evaluation *evaluation) {
    const struct evaluator *evaluator = evaluation->evaluator;
    const struct outcome *outcome = &evaluation->result->outcome;
    if (evaluator->energy_meter == NULL || evaluator->settings->timing.energy_ms <= 0 ||
        outcome->predicted ||
        !(evaluation->request->full || evaluation_would_be_champion(evaluation)))
        return false;
    for (int c = 0; c < outcome->case_count; c++)
        if (outcome->cases[c].warm.p50_us >= call_us_min)
            return true;
    return false;
}

static void report(struct evaluation *evaluation, int measured, double start) {
    const struct outcome *outcome = &evaluation->result->outcome;
    double mj = outcome_energy_mj(outcome);
    if (mj > 0)
        trial_add_gate(evaluation->result, "energy", true, clock_seconds() - start,
                       "%.4g mJ a call, +- %.1f %%, above the idle GPU's %.0f W", mj,
                       100 * outcome_energy_error(outcome), outcome->cases[0].energy.idle_watts);
    else
        trial_add_gate(evaluation->result, "energy", true, clock_seconds() - start,
                       "measured for %d of %d cases", measured, outcome->case_count);
}

int evaluation_measure_energy(struct evaluation *evaluation) {
    struct outcome *outcome = &evaluation->result->outcome;
    double start = clock_seconds();
    int measured = 0;
    if (!is_due(evaluation))
        return 0;
    for (int c = 0; c < outcome->case_count; c++) {
        struct failure failure = {0};
        if (outcome->cases[c].warm.p50_us < call_us_min)
            continue;
        int status = measure_case(evaluation, c, &failure);
        if (status == 1)
            return evaluation_fail(evaluation, "energy", evaluation->template, c, start, &failure);
        if (status < 0)
            return -1;
        measured += outcome->cases[c].energy.mj > 0;
    }
    report(evaluation, measured, start);
    return 0;
}
