#include "outcome/minimised.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name, *unit, *predicted, *heading, *objective;
} words[MINIMISED_COUNT] = {
    [MINIMISED_LATENCY] = {"latency", "us", "predicted us", "score\nus", "us"},
    [MINIMISED_ENERGY] = {"energy", "mJ", "mJ", "score\nmJ", "mJ"},
    [MINIMISED_ENERGY_DELAY] = {"energy_delay", "mJ us", "mJ us", "score\nmJ us", "mJ us"},
    [MINIMISED_PARETO] = {"pareto", "mJ us", "mJ us", "score\nmJ us", "mJ us"},
    [MINIMISED_OPERATIONS] = {"us / operations", "us/Gop", "predicted us/Gop", "score\nus/Gop",
                              "operations / us"},
    [MINIMISED_BYTES] = {"us / bytes", "us/GB", "predicted us/GB", "score\nus/GB", "bytes / us"},
};

const char *minimised_name(enum minimised minimised) {
    return words[minimised].name;
}

bool minimised_parse(const char *name, enum minimised *minimised) {
    for (int i = 0; i < MINIMISED_COUNT; i++)
        if (strcmp(words[i].name, name) == 0) {
            *minimised = (enum minimised)i;
            return true;
        }
    return false;
}

const char *minimised_unit(enum minimised minimised) {
    return words[minimised].unit;
}

const char *minimised_predicted_unit(enum minimised minimised) {
    return words[minimised].predicted;
}

const char *minimised_objective(enum minimised minimised) {
    return words[minimised].objective;
}

bool minimised_needs_energy(enum minimised minimised) {
    return minimised == MINIMISED_ENERGY || minimised == MINIMISED_ENERGY_DELAY ||
           minimised == MINIMISED_PARETO;
}

bool minimised_counts_work(enum minimised minimised) {
    return minimised == MINIMISED_OPERATIONS || minimised == MINIMISED_BYTES;
}

double minimised_call_score(enum minimised minimised, double us, double work) {
    return minimised_counts_work(minimised) ? us / (work * 1e-9) : us;
}

double minimised_case_work(enum minimised minimised, const struct case_outcome *one) {
    switch (minimised) {
    case MINIMISED_OPERATIONS:
        return one->tflops * one->warm.p50_us * 1e6;
    case MINIMISED_BYTES:
        return one->gb_per_s * one->warm.p50_us * 1e3;
    default:
        return 1;
    }
}

static double call_score(const struct outcome *outcome, enum minimised minimised) {
    double scores[CASES_MAX];
    for (int c = 0; c < outcome->case_count; c++) {
        const struct case_outcome *one = &outcome->cases[c];
        scores[c] =
            minimised_call_score(minimised, one->warm.p50_us, minimised_case_work(minimised, one));
    }
    return outcome_mean(outcome, scores);
}

double minimised_rate(const struct outcome *outcome, enum minimised minimised) {
    return 1e9 / call_score(outcome, minimised);
}

const char *minimised_heading(enum minimised minimised) {
    return words[minimised].heading;
}

double minimised_score(const struct outcome *outcome, enum minimised minimised) {
    switch (minimised) {
    case MINIMISED_LATENCY:
        return outcome_latency_us(outcome);
    case MINIMISED_ENERGY:
        return outcome_energy_mj(outcome);
    case MINIMISED_OPERATIONS:
    case MINIMISED_BYTES:
        return call_score(outcome, minimised);
    default:
        return outcome_energy_mj(outcome) * outcome_latency_us(outcome);
    }
}

double minimised_score_error(const struct outcome *outcome, enum minimised minimised) {
    switch (minimised) {
    case MINIMISED_LATENCY:
    case MINIMISED_OPERATIONS:
    case MINIMISED_BYTES:
        return outcome_score_error(outcome);
    case MINIMISED_ENERGY:
        return outcome_energy_error(outcome);
    default:
        return hypot(outcome_energy_error(outcome), outcome_score_error(outcome));
    }
}

/* Standard deviations of what a replay differs by from its record: up to 6 % at 3 us and 3 % at 6
   us, and 0.3 to 0.7 % of a call of 8 to 60 us (docs/measurements/judging.md, "placement"). */
static const double placement_us = 0.06, placement_share = 0.003;

double minimised_repeat_error(const struct outcome *outcome, enum minimised minimised) {
    const double latency_us = outcome_latency_us(outcome);
    if (outcome->predicted)
        return 0;
    return hypot(minimised_score_error(outcome, minimised),
                 hypot(latency_us > 0 ? placement_us / latency_us : 0, placement_share));
}
