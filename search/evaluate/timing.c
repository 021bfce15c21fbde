/* Timing a candidate on every case of its goal: the race; the full timing in one placement,
   which the search compares by; and the final timing in several placements, for a candidate that
   would become champion or was requested to be timed so. */
#include "evaluate/evaluation.h"

#include "base/clock.h"
#include "base/statistics.h"
#include "evaluate/roofline.h"

#include <math.h>

/* Cold samples of a candidate that is not champion: enough for its leaderboard figure at a fifth
   of the cost. */
enum { COLD_SAMPLES = 10 };

/* Maximum number of input sets over all placements of a case, which exist at the same time. */
enum { INPUT_SETS_MAX = 40 };

/* The race margin is 25 %, so a fifth of the warm-up suffices. */
static const double race_warmup = 0.2;

/* How every case is timed. Samples are divided among placements, which are created one after the
   other: fresh memory and, if the images are available, freshly loaded code. Earlier placements
   stay allocated, so that no two use the same addresses. */
struct timing_plan {
    const char *gate;
    int samples, cold_samples, placements;
    double warmup_us; /* per placement */
    bool check_after;
    bool final; /* of a champion: verified between the samples, too, and in the chain */
};

static bool is_device_lost(enum verdict verdict) {
    return verdict == VERDICT_CRASHED || verdict == VERDICT_TIMEOUT;
}

static struct work work_of(const struct template *template, const struct launch_plan *plan) {
    struct work work = {plan->operations, plan->bytes, 0};
    for (int t = 0; t < template->tensor_count; t++)
        if (plan->tensors[t].present && template->tensors[t].role == ROLE_OUTPUT)
            work.output_bytes += plan->tensors[t].bytes;
    return work;
}

static int check_floor(const struct evaluation *evaluation, const struct work *work, bool cold,
                       const struct latency *latency, struct failure *failure) {
    double floor_us = roofline_floor_us(&evaluation->evaluator->device->info, work, cold);
    if (latency->p50_us >= floor_us)
        return 0;
    failure->verdict = VERDICT_IMPOSSIBLE;
    snprintf(failure->reason, sizeof failure->reason,
             "%.3f us %s is below the roofline: this device needs at least %.3f us for a call's "
             "operations and bytes",
             latency->p50_us, cold ? "cold" : "warm", floor_us);
    return 1;
}

/* The number of placements: at most one per sample, and within the number of allocations that a
   device keeps red zones for. */
static int placements_of(const struct timing *timing) {
    int most = INPUT_SETS_MAX / timing->input_sets;
    most = most < timing->samples ? most : timing->samples;
    return timing->placements < most ? timing->placements : most;
}

/* The share of `samples` of the placement with this index. */
static int share_of_samples(int samples, int placements, int index) {
    return samples * (index + 1) / placements - samples * index / placements;
}

static int sample_placement(const struct timing_plan *timing_plan, int index,
                            struct measurement *measurement, struct case_outcome *to,
                            struct failure *failure) {
    int warm = share_of_samples(timing_plan->samples, timing_plan->placements, index);
    int cold = share_of_samples(timing_plan->cold_samples, timing_plan->placements, index);
    int status = measurement_warm(measurement, timing_plan->warmup_us, warm, &to->warm, failure);
    if (status == 0 && cold > 0)
        status = measurement_cold(measurement, cold, &to->cold, failure);
    return status;
}

/* One placement of a case. */
struct timed_placement {
    struct device_module *module; /* its own copy of the code; NULL: the evaluation's */
    struct measurement *measurement;
};

static int create_placement(struct evaluation *evaluation, int c, int index,
                            struct timed_placement *placement, struct failure *failure) {
    struct device *device = evaluation->evaluator->device;
    int variant = template_variant(evaluation->template, c);
    struct measure_settings settings = evaluation_measure_settings(evaluation, c);
    if (index == 0 && evaluation->raced != NULL) {
        placement->measurement = evaluation->raced;
        evaluation->raced = NULL;
        return 0;
    }
    if (index > 0 && device->backend->module_load(device, &evaluation->images[variant],
                                                  &placement->module, evaluation->error) < 0)
        return -1;
    struct verify_case one = evaluation_verify_case(
        evaluation, evaluation->template, c,
        placement->module != NULL ? placement->module : evaluation->modules[variant]);
    device->fresh_memory = index > 0;
    int status =
        measurement_new(&one, &settings, &placement->measurement, failure, evaluation->error);
    device->fresh_memory = false;
    return status;
}

static void release_placement(struct evaluation *evaluation, struct timed_placement *placement,
                              enum verdict verdict) {
    struct device *device = evaluation->evaluator->device;
    measurement_free(placement->measurement);
    if (placement->module != NULL && !is_device_lost(verdict))
        device->backend->module_unload(device, placement->module);
}

/* Computes throughput figures from a case's samples and checks them against the roofline floor. */
static int compute_rates(const struct evaluation *evaluation, const struct launch_plan *plan,
                         struct case_outcome *to, struct failure *failure) {
    const struct device_info *info = &evaluation->evaluator->device->info;
    struct work work = work_of(evaluation->template, plan);
    to->tflops = (double)work.operations / to->warm.p50_us * 1e-6;
    to->gb_per_s = (double)work.bytes / to->warm.p50_us * 1e-3;
    if (info->predicts)
        return 0;
    to->ceiling = roofline_share(info, &work, evaluation->evaluator->settings->timing.input_sets,
                                 to->warm.p50_us);
    int status = check_floor(evaluation, &work, false, &to->warm, failure);
    if (status == 0 && to->cold.sample_count > 0)
        status = check_floor(evaluation, &work, true, &to->cold, failure);
    return status;
}

/* With a single case, the full timing continues with the race's measurement. */
static bool keeps_race_measurement(const struct evaluation *evaluation,
                                   const struct timing_plan *timing_plan) {
    return !timing_plan->check_after && !evaluation->evaluator->device->info.predicts &&
           evaluation->template->case_count == 1;
}

/* Verifies what the timed calls computed, and that they would compute it again. */
static int check_placement(const struct timing_plan *timing_plan, struct measurement *measurement,
                           bool first, struct failure *failure, struct error *error) {
    bool chain = first && timing_plan->final;
    int status = measurement_check(measurement, failure, error);
    if (status == 0)
        status = measurement_replay(measurement, !chain, failure, error);
    return status == 0 && chain ? measurement_chain(measurement, failure, error) : status;
}

/* Adds the median of a placement's samples, which are the last of the case. */
static void add_placement(struct placements *placements, const struct latency *warm, int first) {
    double median = statistics_median(warm->samples_us + first, warm->sample_count - first);
    placements->least_us = placements->count > 0 ? fmin(placements->least_us, median) : median;
    placements->most_us = fmax(placements->most_us, median);
    placements->count++;
}

static int time_case(struct evaluation *evaluation, const struct timing_plan *timing_plan, int c,
                     struct failure *failure) {
    struct timed_placement placement[PLACEMENTS_MAX] = {{NULL, NULL}};
    struct case_outcome *to = &evaluation->result->outcome.cases[c];
    int status = 0;
    to->warm.sample_count = to->cold.sample_count = 0;
    to->placements = (struct placements){0};
    for (int i = 0; i < timing_plan->placements && status == 0; i++) {
        const int first = to->warm.sample_count;
        status = create_placement(evaluation, c, i, &placement[i], failure);
        if (status == 0)
            status = sample_placement(timing_plan, i, placement[i].measurement, to, failure);
        if (status == 0 && timing_plan->placements > 1)
            add_placement(&to->placements, &to->warm, first);
        if (status == 0 && timing_plan->final)
            status = measurement_replay(placement[i].measurement, true, failure, evaluation->error);
    }
    if (status == 0)
        status = compute_rates(evaluation, measurement_plan(placement[0].measurement), to, failure);
    for (int i = 0; i < timing_plan->placements; i++) {
        if (timing_plan->check_after && status == 0)
            status = check_placement(timing_plan, placement[i].measurement, i == 0, failure,
                                     evaluation->error);
        if (i == 0 && status == 0 && keeps_race_measurement(evaluation, timing_plan))
            evaluation->raced = placement[i].measurement;
        else
            release_placement(evaluation, &placement[i], failure->verdict);
    }
    return status;
}

/* Times every case. Sets their figures, their geometric mean as the score and, in `least_us`,
   the geometric mean of the fastest samples. */
static int time_cases(struct evaluation *evaluation, const struct timing_plan *timing_plan,
                      double *least_us) {
    struct outcome *outcome = &evaluation->result->outcome;
    double start = clock_seconds();
    double medians[CASES_MAX];
    double least[CASES_MAX];
    double cold[CASES_MAX];
    for (int c = 0; c < evaluation->template->case_count; c++) {
        const struct case_outcome *it = &outcome->cases[c];
        struct failure failure = {0};
        int status = time_case(evaluation, timing_plan, c, &failure);
        if (status != 0)
            return status < 0 ? -1
                              : evaluation_fail(evaluation, timing_plan->gate, evaluation->template,
                                                c, start, &failure);
        medians[c] = it->warm.p50_us;
        cold[c] = it->cold.p50_us;
        least[c] = statistics_percentile(it->warm.samples_us, it->warm.sample_count, 0);
    }
    int count = evaluation->template->case_count;
    outcome->score_us = statistics_geometric_mean(medians, count);
    *least_us = statistics_geometric_mean(least, count);
    if (timing_plan->cold_samples > 0)
        trial_add_gate(evaluation->result, timing_plan->gate, true, clock_seconds() - start,
                       "%.3f us warm, %.3f us cold, %d and %d samples per case in %d placement%s",
                       outcome->score_us, statistics_geometric_mean(cold, count),
                       timing_plan->samples, timing_plan->cold_samples, timing_plan->placements,
                       timing_plan->placements == 1 ? "" : "s");
    else
        trial_add_gate(evaluation->result, timing_plan->gate, true, clock_seconds() - start,
                       "%.3f us%s, %d samples per case", outcome->score_us,
                       outcome->predicted ? " predicted" : " warm", timing_plan->samples);
    return 0;
}

/* Genomes within the default shared-memory limit have a leaderboard of their own and race
   against its best score. */
static double score_to_beat_us(const struct evaluation *evaluation) {
    const struct trial_request *request = evaluation->request;
    bool above_default = evaluation->result->outcome.resources.smem_bytes > SMEM_DEFAULT_LIMIT;
    return request->within_default_smem_us > 0 && !above_default ? request->within_default_smem_us
                                                                 : request->champion_us;
}

static int run_race(struct evaluation *evaluation, double warmup_us) {
    const struct timing *timing = &evaluation->evaluator->settings->timing;
    const struct timing_plan timing_plan = {.gate = "race",
                                            .samples = timing->race_samples,
                                            .placements = 1,
                                            .warmup_us = race_warmup * warmup_us};
    double least_us;
    int status = time_cases(evaluation, &timing_plan, &least_us);
    /* The least of five samples is below the true median with probability 31/32. */
    evaluation->result->outcome.raced =
        status == 0 && least_us > score_to_beat_us(evaluation) * (1 + timing->race_margin);
    return status;
}

/* Full timing in all placements, or in one placement with fewer cold samples. */
static int run_full_timing(struct evaluation *evaluation, const char *gate, bool all_placements) {
    const struct timing *timing = &evaluation->evaluator->settings->timing;
    double least_us;
    const struct timing_plan timing_plan = {
        .gate = gate,
        .samples = timing->samples,
        .cold_samples =
            all_placements || timing->samples < COLD_SAMPLES ? timing->samples : COLD_SAMPLES,
        .placements = all_placements ? placements_of(timing) : 1,
        .warmup_us = 1000 * timing->warmup_ms,
        .check_after = true,
        .final = all_placements};
    return time_cases(evaluation, &timing_plan, &least_us);
}

int evaluation_time(struct evaluation *evaluation) {
    const struct timing *timing = &evaluation->evaluator->settings->timing;
    const struct trial_request *request = evaluation->request;
    struct outcome *outcome = &evaluation->result->outcome;
    int status = 0;
    outcome->predicted = evaluation->evaluator->device->info.predicts;
    if (outcome->predicted) {
        const struct timing_plan prediction = {.gate = "prediction", .samples = 1, .placements = 1};
        double least_us;
        return time_cases(evaluation, &prediction, &least_us);
    }
    /* A candidate that is slower than the champion may still need less energy. */
    if (!request->full && request->champion_us > 0 &&
        evaluation_minimises(evaluation) == MINIMISED_LATENCY)
        status = run_race(evaluation, 1000 * timing->warmup_ms);
    if (status != 0 || outcome->raced) {
        measurement_free(evaluation->raced);
        evaluation->raced = NULL;
        return status;
    }
    return run_full_timing(evaluation, "timing", request->full);
}

int evaluation_time_champion(struct evaluation *evaluation) {
    struct outcome *outcome = &evaluation->result->outcome;
    if (outcome->predicted || evaluation->request->full ||
        !evaluation_would_be_champion(evaluation))
        return 0;
    const double accepted = outcome->score_us;
    int status = run_full_timing(evaluation, "final timing", true);
    if (status == 0)
        outcome->score_us = evaluation_minimises(evaluation) == MINIMISED_LATENCY
                                ? evaluation_score(evaluation, outcome->score_us)
                                : evaluation_rescore_energy(evaluation, accepted);
    return status;
}
