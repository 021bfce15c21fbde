/* Energy as the last gate of a trial. It measures on its own, after all timing: a load of half a
   second heats the GPU, which the timing of the next case must not meet. */
#include "evaluate/evaluation.h"

#include "base/clock.h"

#include <math.h>

/* A batch is long beside the host's time between two; a graph beside the time between two graphs.
 */
static const double batch_us = 20000, graph_us = 500;
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
    settings.call_us = 0;
    settings.rests = false;
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

enum minimised evaluation_minimises(const struct evaluation *evaluation) {
    const struct trial_request *request = evaluation->request;
    const enum minimised minimised = evaluation->evaluator->settings->minimise;
    return request->full ||
                   (minimised_needs_energy(minimised) && evaluation->result->outcome.predicted)
               ? MINIMISED_LATENCY
               : minimised;
}

/* Adds the gate; `measured`: of so many cases. */
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

/* Measures every case whose calls take at least `least_us`. */
static int measure_cases(struct evaluation *evaluation, double least_us) {
    struct outcome *outcome = &evaluation->result->outcome;
    double start = clock_seconds();
    int measured = 0;
    for (int c = 0; c < outcome->case_count; c++) {
        struct failure failure = {0};
        if (outcome->cases[c].warm.p50_us < least_us)
            continue;
        int status = measure_case(evaluation, c, &failure);
        if (status == 1)
            return evaluation_fail(evaluation, "energy", evaluation->template, c, start, &failure);
        if (status < 0)
            return -1;
        measured += outcome->cases[c].energy.mj > 0;
    }
    report(evaluation, measured, start);
    evaluation->evaluator->energy_s += clock_seconds() - start;
    return 0;
}

/* Where a search compares latencies, energy takes a tenth of its time at most: while champions
   follow one another, most are not measured. */
static const double share_of_search = 0.1;

static bool has_time_for_energy(const struct evaluation *evaluation) {
    const struct evaluator *evaluator = evaluation->evaluator;
    return evaluation->request->full ||
           evaluator->energy_s <= share_of_search * (clock_seconds() - evaluator->started_s);
}

int evaluation_measure_energy(struct evaluation *evaluation) {
    const struct evaluator *evaluator = evaluation->evaluator;
    const struct outcome *outcome = &evaluation->result->outcome;
    bool any_long = false;
    for (int c = 0; c < outcome->case_count; c++)
        any_long = any_long || outcome->cases[c].warm.p50_us >= call_us_min;
    if (evaluator->energy_meter == NULL || evaluator->settings->timing.energy_ms <= 0 ||
        template_prepares_calls(evaluation->template) || outcome->predicted || !any_long ||
        minimised_needs_energy(evaluation_minimises(evaluation)) ||
        !(evaluation->request->full || evaluation_would_be_champion(evaluation)) ||
        !has_time_for_energy(evaluation))
        return 0;
    return measure_cases(evaluation, call_us_min);
}

/* ---- energy as the score ---- */

/* Lower scores differ from the champion's by more than chance in one trial of 40 if they are below
   it by two standard errors. The champion's figure has about the candidate's own error: the same
   meter took both. Two processes differ by more than these errors say, which the least difference
   allows for. */
static double clear_difference(const struct evaluation *evaluation) {
    const double least = 0.01;
    return fmax(least, 2 * sqrt(2) *
                           minimised_score_error(&evaluation->result->outcome,
                                                 evaluation_minimises(evaluation)));
}

/* Compares with the champion, in place of a duel. */
static void compare_with_champion(struct evaluation *evaluation) {
    const struct trial_request *request = evaluation->request;
    struct outcome *outcome = &evaluation->result->outcome;
    const double champion = request->champion_us, clear = clear_difference(evaluation);
    if (champion <= 0)
        return;
    if (request->opponent.present)
        evaluation->result->opponent = request->opponent.trial;
    trial_add_gate(evaluation->result, "score", true, 0,
                   "%.4g %s, %.3f of the champion's; below %.3f it is better", outcome->score_us,
                   minimised_unit(evaluation_minimises(evaluation)), outcome->score_us / champion,
                   1 - clear);
    if (outcome->score_us >= champion * (1 - clear))
        outcome->score_us = fmax(outcome->score_us, nextafter(champion, INFINITY));
}

int evaluation_score_energy(struct evaluation *evaluation) {
    struct outcome *outcome = &evaluation->result->outcome;
    const struct evaluator *evaluator = evaluation->evaluator;
    if (!minimised_needs_energy(evaluation_minimises(evaluation)))
        return 0;
    if (evaluator->energy_meter == NULL)
        return error_input(evaluation->error,
                           "\"minimise\": \"%s\" needs a GPU that counts its energy, and %s does "
                           "not: use another --device, or remove the key",
                           minimised_name(evaluator->settings->minimise),
                           evaluator->device->info.name);
    if (template_prepares_calls(evaluation->template))
        return error_input(
            evaluation->error,
            "\"minimise\": \"%s\" cannot be measured for %s, whose outputs are filled "
            "or cleared before every call, which needs energy as well: remove the key",
            minimised_name(evaluator->settings->minimise), evaluation->template->name);
    int status = measure_cases(evaluation, 0);
    if (status != 0)
        return status;
    double score = minimised_score(outcome, evaluation_minimises(evaluation));
    if (!(score > 0)) {
        trial_set_verdict(evaluation->result, VERDICT_TOO_SLOW,
                          "the GPU's energy counter gave no figure: a call takes too long, or the "
                          "counter stands still");
        return 1;
    }
    outcome->score_us = score;
    compare_with_champion(evaluation);
    return 0;
}

double evaluation_rescore_energy(const struct evaluation *evaluation, double accepted) {
    const double champion = evaluation->request->champion_us;
    double score = minimised_score(&evaluation->result->outcome, evaluation_minimises(evaluation));
    return score > 0 && (champion <= 0 || score < champion) ? score : accepted;
}
