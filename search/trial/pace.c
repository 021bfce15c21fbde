/* Timing a candidate on every case of its goal: race, then full timing. */
#include "trial/journey.h"

#include "base/clock.h"
#include "base/statistics.h"
#include "trial/roofline.h"

#include <math.h>

/* How a block of timing goes. */
struct pace {
    const char *gate;
    int samples, cold_samples;
    bool check_after;
};

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
             "%.3f us %s: the operations and bytes of a call take this device at least %.3f us",
             latency->p50_us, cold ? "cold" : "warm", floor_us);
    return VERDICT_IMPOSSIBLE;
}

static enum verdict take(struct journey *journey, struct measurement *measurement,
                         const struct pace *pace, struct case_outcome *to, char *reason) {
    const struct device_info *info = &journey->bench->device->info;
    struct work work = work_of(journey->template, measurement_plan(measurement));
    enum verdict verdict = measurement_warm(measurement, pace->samples, &to->warm, reason);
    if (verdict == VERDICT_OK && pace->cold_samples > 0)
        verdict = measurement_cold(measurement, pace->cold_samples, &to->cold, reason);
    if (verdict != VERDICT_OK)
        return verdict;
    to->tflops = (double)work.operations / to->warm.p50_us * 1e-6;
    to->gb_per_s = (double)work.bytes / to->warm.p50_us * 1e-3;
    if (info->predicts)
        return VERDICT_OK;
    to->ceiling =
        roofline_share(info, &work, journey->bench->config->timing.input_sets, to->warm.p50_us);
    verdict = check_floor(journey, &work, false, &to->warm, reason);
    if (verdict == VERDICT_OK && pace->cold_samples > 0)
        verdict = check_floor(journey, &work, true, &to->cold, reason);
    return verdict;
}

static int time_case(struct journey *journey, const struct pace *pace, int c, enum verdict *verdict,
                     char *reason) {
    struct device_module *module = journey->modules[template_variant(journey->template, c)];
    struct verify_case one = journey_case(journey, journey->template, c, module);
    struct measure_settings settings = journey_settings(journey, c);
    struct measurement *measurement;
    if (measurement_new(&one, &settings, &measurement, verdict, reason, journey->error) < 0)
        return -1;
    if (*verdict != VERDICT_OK)
        return 0;
    int status = 0;
    *verdict = take(journey, measurement, pace, &journey->result->outcome.cases[c], reason);
    if (*verdict == VERDICT_OK && pace->check_after)
        status = measurement_check(measurement, verdict, reason, journey->error);
    measurement_free(measurement);
    return status;
}

/* Leaves the figures of every case, their geometric mean as the score and in `least_us` the mean of
   the fastest samples. */
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
                   "%.3f us warm, %.3f us cold, %d samples of each a case", outcome->score_us,
                   statistics_geometric_mean(cold, count), pace->samples);
    else
        trial_gate(journey->result, pace->gate, true, clock_seconds() - start,
                   "%.3f us%s, %d samples a case", outcome->score_us,
                   outcome->predicted ? " predicted" : " warm", pace->samples);
    return 0;
}

int journey_time(struct journey *journey) {
    const struct timing *timing = &journey->bench->config->timing;
    struct outcome *outcome = &journey->result->outcome;
    double champion_us = journey->request->champion_us;
    double least_us;
    outcome->predicted = journey->bench->device->info.predicts;
    if (outcome->predicted)
        return time_cases(journey, &(struct pace){"prediction", 1, 0, false}, &least_us);
    if (!journey->request->full && champion_us > 0) {
        const struct pace race = {"race", timing->race_samples, 0, false};
        int status = time_cases(journey, &race, &least_us);
        if (status != 0)
            return status;
        /* Of five samples the least is below the true median in 31 of 32 cases. */
        outcome->raced = least_us > champion_us * (1 + timing->race_margin);
        if (outcome->raced)
            return 0;
    }
    const struct pace full = {"timing", timing->samples, timing->samples, true};
    return time_cases(journey, &full, &least_us);
}
