/* Timing a candidate on every case of its goal: the race; the full timing in one placement,
   which the search compares by; and the final timing in several placements, for a candidate that
   would become champion or was requested to be timed so. */
#include "trial/journey.h"

#include "base/clock.h"
#include "base/statistics.h"
#include "trial/roofline.h"

#include <math.h>

/* Cold samples of a candidate that is not champion: enough for its leaderboard figure at a fifth
   of the cost. */
enum { COLD_SAMPLES = 10 };

/* Maximum number of input sets over all placements of a case, which exist at the same time. */
enum { SETS_AT_ONCE = 40 };

/* The race margin is 25 %, so a fifth of the warm-up suffices. */
static const double race_warmup = 0.2;

/* How every case is timed. Samples are divided among placements, which are created one after the
   other: fresh memory and, if the images are available, freshly loaded code. Earlier placements
   stay allocated, so that no two use the same addresses. */
struct pace {
    const char *gate;
    int samples, cold_samples, placements;
    double warmup_us; /* per placement */
    bool check_after;
};

static bool is_lost(enum verdict verdict) {
    return verdict == VERDICT_CRASHED || verdict == VERDICT_TIMEOUT;
}

static struct work work_of(const struct template *template, const struct plan *plan) {
    struct work work = {plan->operations, plan->bytes, 0};
    for (int t = 0; t < template->tensor_count; t++)
        if (plan->tensors[t].present && template->tensors[t].role == ROLE_OUTPUT)
            work.output_bytes += plan->tensors[t].bytes;
    return work;
}

static enum verdict check_floor(const struct journey *journey, const struct work *work, bool cold,
                                const struct latency *latency, char *reason) {
    double floor_us = roofline_floor_us(&journey->bench->device->info, work, cold);
    if (latency->p50_us >= floor_us)
        return VERDICT_OK;
    snprintf(reason, REASON_SIZE,
             "%.3f us %s is below the roofline: this device needs at least %.3f us for a call's "
             "operations and bytes",
             latency->p50_us, cold ? "cold" : "warm", floor_us);
    return VERDICT_IMPOSSIBLE;
}

/* The number of placements: at most one per sample, and within the number of allocations that a
   device keeps red zones for. */
static int placements_of(const struct timing *timing) {
    int most = SETS_AT_ONCE / timing->input_sets;
    most = most < timing->samples ? most : timing->samples;
    return timing->placements < most ? timing->placements : most;
}

/* The share of `samples` of the placement with this index. */
static int share(int samples, int placements, int index) {
    return samples * (index + 1) / placements - samples * index / placements;
}

static enum verdict take(const struct pace *pace, int index, struct measurement *measurement,
                         struct case_outcome *to, char *reason) {
    int warm = share(pace->samples, pace->placements, index);
    int cold = share(pace->cold_samples, pace->placements, index);
    enum verdict verdict = measurement_warm(measurement, pace->warmup_us, warm, &to->warm, reason);
    if (verdict == VERDICT_OK && cold > 0)
        verdict = measurement_cold(measurement, cold, &to->cold, reason);
    return verdict;
}

/* One placement of a case. */
struct placed {
    struct device_module *module; /* its own copy of the code; NULL: the evaluation's */
    struct measurement *measurement;
};

static int place(struct journey *journey, int c, int index, struct placed *placed,
                 enum verdict *verdict, char *reason) {
    struct device *device = journey->bench->device;
    int variant = template_variant(journey->template, c);
    struct measure_settings settings = journey_settings(journey, c);
    *verdict = VERDICT_OK;
    if (index == 0 && journey->raced != NULL) {
        placed->measurement = journey->raced;
        journey->raced = NULL;
        return 0;
    }
    if (index > 0 && journey->images != NULL &&
        device->backend->module_load(device, &journey->images[variant], &placed->module,
                                     journey->error) < 0)
        return -1;
    struct verify_case one =
        journey_case(journey, journey->template, c,
                     placed->module != NULL ? placed->module : journey->modules[variant]);
    device->fresh_memory = index > 0;
    int status =
        measurement_new(&one, &settings, &placed->measurement, verdict, reason, journey->error);
    device->fresh_memory = false;
    return status;
}

static void displace(struct journey *journey, struct placed *placed, enum verdict verdict) {
    struct device *device = journey->bench->device;
    measurement_free(placed->measurement);
    if (placed->module != NULL && !is_lost(verdict))
        device->backend->module_unload(device, placed->module);
}

/* Computes throughput figures from a case's samples and checks them against the roofline floor. */
static enum verdict rate(const struct journey *journey, const struct plan *plan,
                         struct case_outcome *to, char *reason) {
    const struct device_info *info = &journey->bench->device->info;
    struct work work = work_of(journey->template, plan);
    to->tflops = (double)work.operations / to->warm.p50_us * 1e-6;
    to->gb_per_s = (double)work.bytes / to->warm.p50_us * 1e-3;
    if (info->predicts)
        return VERDICT_OK;
    to->ceiling =
        roofline_share(info, &work, journey->bench->config->timing.input_sets, to->warm.p50_us);
    enum verdict verdict = check_floor(journey, &work, false, &to->warm, reason);
    if (verdict == VERDICT_OK && to->cold.sample_count > 0)
        verdict = check_floor(journey, &work, true, &to->cold, reason);
    return verdict;
}

/* With a single case, the full timing continues with the race's measurement. */
static bool keeps(const struct journey *journey, const struct pace *pace) {
    return !pace->check_after && !journey->bench->device->info.predicts &&
           journey->template->case_count == 1;
}

static int time_case(struct journey *journey, const struct pace *pace, int c, enum verdict *verdict,
                     char *reason) {
    struct placed placed[PLACEMENTS_MAX] = {{NULL, NULL}};
    struct case_outcome *to = &journey->result->outcome.cases[c];
    int status = 0;
    to->warm.sample_count = to->cold.sample_count = 0;
    *verdict = VERDICT_OK;
    for (int i = 0; i < pace->placements && status == 0 && *verdict == VERDICT_OK; i++) {
        status = place(journey, c, i, &placed[i], verdict, reason);
        if (status == 0 && *verdict == VERDICT_OK)
            *verdict = take(pace, i, placed[i].measurement, to, reason);
    }
    if (status == 0 && *verdict == VERDICT_OK)
        *verdict = rate(journey, measurement_plan(placed[0].measurement), to, reason);
    for (int i = 0; i < pace->placements; i++) {
        if (pace->check_after && status == 0 && *verdict == VERDICT_OK)
            status = measurement_check(placed[i].measurement, verdict, reason, journey->error);
        if (i == 0 && status == 0 && *verdict == VERDICT_OK && keeps(journey, pace))
            journey->raced = placed[i].measurement;
        else
            displace(journey, &placed[i], *verdict);
    }
    return status;
}

/* Times every case. Sets their figures, their geometric mean as the score and, in `least_us`,
   the geometric mean of the fastest samples. */
static int time_cases(struct journey *journey, const struct pace *pace, double *least_us) {
    struct outcome *outcome = &journey->result->outcome;
    double start = clock_seconds();
    double medians[CASES_MAX];
    double least[CASES_MAX];
    double cold[CASES_MAX];
    for (int c = 0; c < journey->template->case_count; c++) {
        const struct case_outcome *it = &outcome->cases[c];
        char reason[REASON_SIZE];
        enum verdict verdict;
        if (time_case(journey, pace, c, &verdict, reason) < 0)
            return -1;
        if (verdict != VERDICT_OK)
            return journey_fail(journey, pace->gate, journey->template, c, start, verdict, reason);
        medians[c] = it->warm.p50_us;
        cold[c] = it->cold.p50_us;
        least[c] = statistics_percentile(it->warm.samples_us, it->warm.sample_count, 0);
    }
    int count = journey->template->case_count;
    outcome->score_us = statistics_geometric_mean(medians, count);
    *least_us = statistics_geometric_mean(least, count);
    if (pace->cold_samples > 0)
        trial_gate(journey->result, pace->gate, true, clock_seconds() - start,
                   "%.3f us warm, %.3f us cold, %d and %d samples per case in %d placement%s",
                   outcome->score_us, statistics_geometric_mean(cold, count), pace->samples,
                   pace->cold_samples, pace->placements, pace->placements == 1 ? "" : "s");
    else
        trial_gate(journey->result, pace->gate, true, clock_seconds() - start,
                   "%.3f us%s, %d samples per case", outcome->score_us,
                   outcome->predicted ? " predicted" : " warm", pace->samples);
    return 0;
}

/* Genomes within the default shared-memory limit have a leaderboard of their own and race
   against its best score. */
static double to_beat_us(const struct journey *journey) {
    const struct trial_request *request = journey->request;
    bool raised = journey->result->outcome.resources.smem_bytes > SMEM_UNRAISED;
    return request->unraised_us > 0 && !raised ? request->unraised_us : request->champion_us;
}

static int race(struct journey *journey, double warmup_us) {
    const struct timing *timing = &journey->bench->config->timing;
    const struct pace pace = {.gate = "race",
                              .samples = timing->race_samples,
                              .placements = 1,
                              .warmup_us = race_warmup * warmup_us};
    double least_us;
    int status = time_cases(journey, &pace, &least_us);
    /* The least of five samples is below the true median with probability 31/32. */
    journey->result->outcome.raced =
        status == 0 && least_us > to_beat_us(journey) * (1 + timing->race_margin);
    return status;
}

/* Full timing in all placements, or in one placement with fewer cold samples. */
static int time_fully(struct journey *journey, const char *gate, bool everywhere) {
    const struct timing *timing = &journey->bench->config->timing;
    double least_us;
    const struct pace pace = {.gate = gate,
                              .samples = timing->samples,
                              .cold_samples = everywhere || timing->samples < COLD_SAMPLES
                                                  ? timing->samples
                                                  : COLD_SAMPLES,
                              .placements = everywhere ? placements_of(timing) : 1,
                              .warmup_us = 1000 * timing->warmup_ms,
                              .check_after = true};
    return time_cases(journey, &pace, &least_us);
}

int journey_time(struct journey *journey) {
    const struct timing *timing = &journey->bench->config->timing;
    const struct trial_request *request = journey->request;
    struct outcome *outcome = &journey->result->outcome;
    int status = 0;
    outcome->predicted = journey->bench->device->info.predicts;
    if (outcome->predicted) {
        const struct pace prediction = {.gate = "prediction", .samples = 1, .placements = 1};
        double least_us;
        return time_cases(journey, &prediction, &least_us);
    }
    if (!request->full && request->champion_us > 0)
        status = race(journey, 1000 * timing->warmup_ms);
    if (status != 0 || outcome->raced) {
        measurement_free(journey->raced);
        journey->raced = NULL;
        return status;
    }
    return time_fully(journey, "timing", request->full);
}

int journey_crown(struct journey *journey) {
    struct outcome *outcome = &journey->result->outcome;
    if (outcome->predicted || journey->request->full || !journey_would_reign(journey))
        return 0;
    int status = time_fully(journey, "final timing", true);
    if (status == 0)
        outcome->score_us = journey_score(journey, outcome->score_us);
    return status;
}
