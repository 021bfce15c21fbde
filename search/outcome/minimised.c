#include "outcome/minimised.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name, *unit, *heading;
} words[MINIMISED_COUNT] = {
    [MINIMISED_LATENCY] = {"latency", "us", "score\nus"},
    [MINIMISED_ENERGY] = {"energy", "mJ", "score\nmJ"},
    [MINIMISED_ENERGY_DELAY] = {"energy_delay", "mJ us", "score\nmJ us"},
    [MINIMISED_PARETO] = {"pareto", "mJ us", "score\nmJ us"},
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

const char *minimised_heading(enum minimised minimised) {
    return words[minimised].heading;
}

double minimised_score(const struct outcome *outcome, enum minimised minimised) {
    switch (minimised) {
    case MINIMISED_LATENCY:
        return outcome_latency_us(outcome);
    case MINIMISED_ENERGY:
        return outcome_energy_mj(outcome);
    default:
        return outcome_energy_mj(outcome) * outcome_latency_us(outcome);
    }
}

double minimised_score_error(const struct outcome *outcome, enum minimised minimised) {
    switch (minimised) {
    case MINIMISED_LATENCY:
        return outcome_score_error(outcome);
    case MINIMISED_ENERGY:
        return outcome_energy_error(outcome);
    default:
        return hypot(outcome_energy_error(outcome), outcome_score_error(outcome));
    }
}
