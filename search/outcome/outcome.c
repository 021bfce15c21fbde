#include "outcome/outcome.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "base/strbuf.h"

/* A verdict's name, its T4 "invalidity", the error that Kernel Tuner writes instead of a time, and
   how far a candidate came. */
static const struct {
    const char *name, *t4, *cache;
    enum verdict_reach reach;
} verdict_words[VERDICT_COUNT] = {
    [VERDICT_OK] = {"ok", "correct", NULL, REACHED_END},
    [VERDICT_INVALID] = {"invalid", "constraints", "InvalidConfig", REACHED_NOTHING},
    [VERDICT_COMPILE_FAILED] = {"compile_failed", "compile", "CompilationFailedConfig",
                                REACHED_NOTHING},
    [VERDICT_FILTERED] = {"filtered", "constraints", "InvalidConfig", REACHED_NOTHING},
    [VERDICT_OVER_LIMIT] = {"over_limit", "constraints", "InvalidConfig", REACHED_NOTHING},
    [VERDICT_LAUNCH_FAILED] = {"launch_failed", "runtime", "RuntimeFailedConfig", REACHED_COMPILER},
    [VERDICT_WRONG] = {"wrong", "correctness", "RuntimeFailedConfig", REACHED_RUN},
    [VERDICT_RACY] = {"racy", "correctness", "RuntimeFailedConfig", REACHED_RUN},
    [VERDICT_WROTE_OUTSIDE] = {"wrote_outside", "correctness", "RuntimeFailedConfig", REACHED_RUN},
    [VERDICT_CHANGED_INPUT] = {"changed_input", "correctness", "RuntimeFailedConfig", REACHED_RUN},
    [VERDICT_UNVERIFIED] = {"unverified", "correctness", "RuntimeFailedConfig", REACHED_COMPILER},
    [VERDICT_IMPOSSIBLE] = {"impossible", "correctness", "RuntimeFailedConfig", REACHED_RUN},
    [VERDICT_TOO_SLOW] = {"too_slow", "timeout", "RuntimeFailedConfig", REACHED_RUN},
    [VERDICT_TIMEOUT] = {"timeout", "timeout", "RuntimeFailedConfig", REACHED_COMPILER},
    [VERDICT_CRASHED] = {"crashed", "runtime", "RuntimeFailedConfig", REACHED_COMPILER},
    [VERDICT_LOST] = {"lost", "runtime", "RuntimeFailedConfig", REACHED_NOTHING},
};

const char *verdict_name(enum verdict verdict) {
    return verdict_words[verdict].name;
}

const char *verdict_t4_name(enum verdict verdict) {
    return verdict_words[verdict].t4;
}

const char *verdict_cache_name(enum verdict verdict) {
    return verdict_words[verdict].cache;
}

enum verdict_reach verdict_reach(enum verdict verdict) {
    return verdict_words[verdict].reach;
}

int verdict_parse(const char *name) {
    for (int verdict = 0; verdict < VERDICT_COUNT; verdict++)
        if (strcmp(verdict_words[verdict].name, name) == 0)
            return verdict;
    return -1;
}

void verdict_print_counts(const int64_t counts[VERDICT_COUNT], int64_t raced, char *text,
                          size_t size) {
    const char *comma = "";
    for (int v = 0; v < VERDICT_COUNT; v++) {
        if (counts[v] == 0)
            continue;
        text_append(text, size, "%s%lld %s", comma, (long long)counts[v], verdict_name(v));
        if (v == VERDICT_OK && raced > 0)
            text_append(text, size, " (%lld dropped by the race)", (long long)raced);
        comma = ", ";
    }
}

static void free_cases(struct outcome *outcome) {
    for (int c = 0; c < outcome->case_count; c++) {
        latency_release(&outcome->cases[c].warm);
        latency_release(&outcome->cases[c].cold);
    }
    free(outcome->cases);
}

bool conditions_power_limited(const struct conditions *conditions) {
    return conditions->slowdowns & 0x4; /* nvmlClocksEventReasonSwPowerCap */
}

const char *conditions_print(const struct conditions *conditions, char text[CONDITIONS_TEXT_SIZE]) {
    text[0] = '\0';
    if (conditions->sm_mhz_high <= 0)
        return text;
    const bool varied = conditions->sm_mhz_low < conditions->sm_mhz_high;
    if (varied && conditions->sm_mhz > 0)
        text_append(text, CONDITIONS_TEXT_SIZE, "%d MHz (%d to %d)", conditions->sm_mhz,
                    conditions->sm_mhz_low, conditions->sm_mhz_high);
    else if (varied)
        text_append(text, CONDITIONS_TEXT_SIZE, "%d to %d MHz", conditions->sm_mhz_low,
                    conditions->sm_mhz_high);
    else
        text_append(text, CONDITIONS_TEXT_SIZE, "%d MHz", conditions->sm_mhz_high);
    if (conditions->power_w > 0)
        text_append(text, CONDITIONS_TEXT_SIZE, ", up to %.0f W", conditions->power_w);
    if (conditions_power_limited(conditions))
        text_append(text, CONDITIONS_TEXT_SIZE, ", at the power limit");
    return text;
}

double outcome_placement_spread(const struct outcome *outcome) {
    double largest = NAN;
    for (int c = 0; c < outcome->case_count; c++) {
        const struct placements *placements = &outcome->cases[c].placements;
        if (placements->count > 1 && placements->least_us > 0)
            largest = fmax(largest, placements->most_us / placements->least_us - 1);
    }
    return largest;
}

bool case_weight_is_valid(double weight) {
    return weight >= CASE_WEIGHT_MIN && weight <= CASE_WEIGHT_MAX; /* not NaN */
}

void outcome_set_weights(struct outcome *outcome, const double *weights) {
    for (int c = 0; c < outcome->case_count; c++)
        outcome->cases[c].weight = weights != NULL ? weights[c] : 0;
}

static double weight_of(const struct outcome *outcome, int number) {
    const double weight = outcome->cases[number].weight;
    return weight > 0 ? weight : 1;
}

double outcome_mean(const struct outcome *outcome, const double *figures) {
    double weights[CASES_MAX];
    for (int c = 0; c < outcome->case_count; c++) {
        if (!(figures[c] > 0 && isfinite(figures[c])))
            return NAN;
        weights[c] = weight_of(outcome, c);
    }
    return outcome->case_count > 0
               ? statistics_weighted_geometric_mean(figures, weights, outcome->case_count)
               : NAN;
}

/* The relative standard error of outcome_mean, by those of the figures. */
static double mean_error(const struct outcome *outcome, const double *errors) {
    double square = 0, total = 0;
    for (int c = 0; c < outcome->case_count; c++) {
        square += pow(weight_of(outcome, c) * errors[c], 2);
        total += weight_of(outcome, c);
    }
    return total > 0 ? sqrt(square) / total : 0;
}

double outcome_latency_us(const struct outcome *outcome) {
    double figures[CASES_MAX];
    for (int c = 0; c < outcome->case_count; c++)
        figures[c] = outcome->cases[c].warm.p50_us;
    return outcome_mean(outcome, figures);
}

double outcome_energy_mj(const struct outcome *outcome) {
    double figures[CASES_MAX];
    for (int c = 0; c < outcome->case_count; c++)
        figures[c] = outcome->cases[c].energy.mj;
    return outcome_mean(outcome, figures);
}

double outcome_energy_error(const struct outcome *outcome) {
    double errors[CASES_MAX];
    for (int c = 0; c < outcome->case_count; c++)
        errors[c] = outcome->cases[c].energy.error;
    return mean_error(outcome, errors);
}

const char *energy_print(const struct energy *energy, char text[ENERGY_TEXT_SIZE]) {
    text[0] = '\0';
    if (energy->mj > 0)
        snprintf(text, ENERGY_TEXT_SIZE, "%.4g mJ a call (+- %.1f %%), %.0f W of which %.0f W idle",
                 energy->mj, 100 * energy->error, energy->watts, energy->idle_watts);
    return text;
}

const char *outcome_checks(const struct outcome *outcome) {
    return outcome->checks[0] != '\0' ? outcome->checks : "not recorded";
}

void outcome_release(struct outcome *outcome) {
    free_cases(outcome);
    *outcome = (struct outcome){0};
}

void outcome_set_cases(struct outcome *outcome, int count) {
    free_cases(outcome);
    outcome->case_count = count;
    outcome->cases = count > 0 ? xcalloc((size_t)count, sizeof *outcome->cases) : NULL;
}

void outcome_move(struct outcome *to, struct outcome *from) {
    *to = *from;
    *from = (struct outcome){0};
}

double *latency_reserve(struct latency *latency, int count) {
    int total = latency->sample_count + count;
    if (total > SAMPLES_MAX)
        BUG("more than %d samples", SAMPLES_MAX);
    latency->samples_us =
        xrealloc(latency->samples_us, (size_t)total * sizeof *latency->samples_us);
    return latency->samples_us + latency->sample_count;
}

void latency_release(struct latency *latency) {
    free(latency->samples_us);
    *latency = (struct latency){0};
}

/* The relative standard error of the median, assuming normal samples: 1.2533 times that of a mean.
   The 10th and 90th percentiles are 2.5631 standard deviations apart; with few samples their
   distance is smaller by about (count - 1) / (count + 1). */
static double median_error(const struct latency *latency) {
    const double p10_to_p90 = 2.5631, median_to_mean_error = 1.2533;
    int count = latency->sample_count;
    if (count < 2 || !(latency->p50_us > 0))
        return 0;
    double deviation = (latency->p90_us - latency->p10_us) / p10_to_p90 * (count + 1) / (count - 1);
    return median_to_mean_error * deviation / sqrt(count) / latency->p50_us;
}

double outcome_score_error(const struct outcome *outcome) {
    const struct duel_outcome *duel = &outcome->duel;
    const double interval_half_width =
        2.5758; /* half width of a 99 % interval in standard deviations */
    double errors[CASES_MAX];
    if (outcome->verdict != VERDICT_OK || outcome->predicted)
        return 0;
    if ((duel->result == DUEL_LOST || duel->result == DUEL_UNDECIDED) && duel->low > 0)
        return log(duel->high / duel->low) / (2 * interval_half_width);
    for (int c = 0; c < outcome->case_count; c++)
        errors[c] = median_error(&outcome->cases[c].warm);
    return mean_error(outcome, errors);
}
