#include "evaluate/timing_budget.h"

#include "base/statistics.h"

#include <math.h>

static const double sample_us = 200;

/* What a stage of a long call may cost, by stage. */
static const double warm_us[STAGE_COUNT] = {2e4, 6e4, 2e5};
static const double cold_us[STAGE_COUNT] = {0, 1e4, 5e4};

/* A race of slower calls has no other warm-up than the first call. */
static const double slow_call_us = 1000;

/* The warm-up of a race, as a share: its margin is 25 %. */
static const double race_warmup = 0.2;

/* Cold samples of a candidate that is not champion: enough for its figure on the board at a fifth
   of the cost. */
enum { COLD_SAMPLES = 10 };

enum { LONG_SAMPLES_MIN = 5, LONG_COLD_SAMPLES_MIN = 2, SUFFICIENT_SAMPLES_MIN = 10 };
static const double sufficient[STAGE_COUNT] = {0.005, 0.005, 0.002};

int budget_launches(int launches, double call_us) {
    int fitting = (int)fmin(fmax(1, ceil(sample_us / call_us)), launches);
    return call_us < LONG_CALL_US ? launches : fitting;
}

static int within(double budget_us, double call_us, int least, int most) {
    int fitting = (int)fmin(budget_us / call_us, most);
    least = least < most ? least : most;
    return fitting > least ? fitting : least;
}

struct timing_budget timing_budget(const struct timing *timing, enum timing_stage stage,
                                   double call_us, bool steady) {
    const bool is_long = call_us >= LONG_CALL_US;
    struct timing_budget budget = {.samples = timing->samples,
                                   .cold_samples = timing->samples,
                                   .warmup_us = 1000 * timing->warmup_ms};
    if (stage == STAGE_RACE) {
        budget.samples = timing->race_samples;
        budget.cold_samples = 0;
        budget.warmup_us *= is_long && call_us >= slow_call_us ? 0 : race_warmup;
    }
    if (stage == STAGE_FULL && timing->samples > COLD_SAMPLES)
        budget.cold_samples = COLD_SAMPLES;
    if (!is_long)
        return budget;
    double a_sample_us = call_us * budget_launches(timing->launches, call_us);
    budget.samples = within(warm_us[stage], a_sample_us, stage == STAGE_RACE ? 1 : LONG_SAMPLES_MIN,
                            budget.samples);
    budget.cold_samples =
        within(cold_us[stage], call_us, LONG_COLD_SAMPLES_MIN, budget.cold_samples);
    if (steady && stage != STAGE_RACE)
        budget.warmup_us = fmax(budget.warmup_us, stage == STAGE_FULL ? BUDGET_SETTLED_AFTER_US
                                                                      : BUDGET_STEADY_AFTER_US);
    return budget;
}

bool budget_suffices(enum timing_stage stage, const double *samples_us, int count) {
    double low;
    double high;
    if (count < SUFFICIENT_SAMPLES_MIN)
        return false;
    statistics_median_interval(samples_us, count, &low, &high);
    return high - low <= sufficient[stage] * statistics_median(samples_us, count);
}
