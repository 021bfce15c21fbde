#include "evaluate/long_calls.h"

#include "base/memory.h"
#include "base/statistics.h"

#include <math.h>
#include <string.h>

/* Long calls are sampled in so many rounds over the placements, so that a clock that changes slowly
   affects all alike. */
enum { ROUNDS = 4 };

/* Two halves of the samples that differ by more were taken in different states of the GPU. */
static const double state_change = 0.03;
enum { STATE_ATTEMPTS = 2 };

void timed_case_add_placement(struct timed_case *timed, const double *samples_us, int count) {
    struct placements *placements = &timed->to->placements;
    double median = statistics_median(samples_us, count);
    placements->least_us = placements->count > 0 ? fmin(placements->least_us, median) : median;
    placements->most_us = fmax(placements->most_us, median);
    placements->count++;
}

/* Takes samples in rounds over all placements until they suffice; placement i of round r has
   samples (r * placements + i) * each and those behind it. */
static int sample_rounds(struct timed_case *timed, int each, struct failure *failure) {
    struct latency *warm = &timed->to->warm;
    int status = 0;
    const enum timing_stage stage = timed->final ? STAGE_FINAL : STAGE_FULL;
    warm->sample_count = 0;
    for (int r = 0; r < ROUNDS && status == 0; r++) {
        if (timed->count == 1 && budget_suffices(stage, warm->samples_us, warm->sample_count))
            break;
        for (int i = 0; i < timed->count && status == 0; i++)
            status = measurement_warm(timed->placements[i].measurement, 0, each, warm, failure);
    }
    return status;
}

/* The time under steady load, as a multiple of that without, from which on load changes a figure;
   and from which on it changes those of two near candidates by as much as a duel finds. */
static const double changes = 1.01, matters = 1.06;

static bool is_slowed(const struct evaluation *evaluation, double by) {
    const struct evaluator *evaluator = evaluation->evaluator;
    double ratio = evaluator->timings[evaluation->request->goal].load_ratio;
    return evaluator->settings->timing.regime == REGIME_SUSTAINED && (ratio == 0 || ratio > by);
}

bool evaluation_load_changes(const struct evaluation *evaluation) {
    return is_slowed(evaluation, changes);
}

bool evaluation_load_matters(const struct evaluation *evaluation) {
    return is_slowed(evaluation, matters);
}

/* Loads the GPU until it is in the state that it keeps. The samples before that, as many as a race
   has, are those of a GPU without load. */
static int load_steadily(struct timed_case *timed, int samples, struct latency *before,
                         struct failure *failure) {
    int status = measurement_warm(timed->placements[0].measurement, 0, samples, before, failure);
    for (int i = 0; i < timed->count && status == 0; i++)
        status = measurement_load(timed->placements[i].measurement,
                                  timed->budget.warmup_us / timed->count, failure);
    return status;
}

/* Takes as many samples as a race has; whether the least of them is too slow. */
static int find_hopeless(struct timed_case *timed, int samples, struct failure *failure) {
    struct latency *warm = &timed->to->warm;
    warm->sample_count = 0;
    int status = measurement_warm(timed->placements[0].measurement, 0, samples, warm, failure);
    timed->hopeless = status == 0 && statistics_percentile(warm->samples_us, warm->sample_count,
                                                           0) > timed->hopeless_us;
    return status;
}

/* Whether the samples were all taken in one state of the GPU. */
static bool in_one_state(const struct latency *warm) {
    int half = warm->sample_count / 2;
    if (half < ROUNDS / 2)
        return true;
    double first = statistics_median(warm->samples_us, half);
    double second = statistics_median(warm->samples_us + half, warm->sample_count - half);
    return fabs(second / first - 1) <= state_change;
}

static void add_placements(struct timed_case *timed, int each) {
    const struct latency *warm = &timed->to->warm;
    double *samples_us = xmalloc((size_t)warm->sample_count * sizeof *samples_us);
    for (int i = 0; i < timed->count; i++) {
        int count = 0;
        for (int from = i * each; from < warm->sample_count; from += timed->count * each) {
            memcpy(samples_us + count, warm->samples_us + from, (size_t)each * sizeof *samples_us);
            count += each;
        }
        timed_case_add_placement(timed, samples_us, count);
    }
    free(samples_us);
}

/* Samples all placements warm, in one state of the GPU if that lasts long enough. */
static int sample_warm(struct timed_case *timed, int race_samples, struct failure *failure) {
    const int slots = ROUNDS * timed->count, each = (timed->budget.samples + slots - 1) / slots;
    struct latency *warm = &timed->to->warm;
    struct latency before = {0};
    int status = load_steadily(timed, race_samples, &before, failure);
    if (status == 0 && isfinite(timed->hopeless_us))
        status = find_hopeless(timed, race_samples, failure);
    for (int attempt = 1; status == 0 && !timed->hopeless; attempt++) {
        status = sample_rounds(timed, each, failure);
        if (status != 0 || in_one_state(warm) || attempt == STATE_ATTEMPTS)
            break;
        status = load_steadily(timed, 0, &before, failure);
    }
    if (status == 0)
        timed->load_ratio = fmin(fmax(1, warm->p50_us / before.p50_us), LOAD_RATIO_MAX);
    if (status == 0 && timed->count > 1)
        add_placements(timed, each);
    latency_release(&before);
    return status;
}

int long_calls_sample(struct evaluation *evaluation, struct timed_case *timed,
                      struct failure *failure) {
    int status = sample_warm(timed, evaluation->evaluator->settings->timing.race_samples, failure);
    for (int i = 0; i < timed->count && status == 0 && !timed->hopeless; i++) {
        struct measurement *measurement = timed->placements[i].measurement;
        int cold = timed_case_share(timed->budget.cold_samples, timed->count, i);
        if (cold > 0)
            status = measurement_cold(measurement, cold, &timed->to->cold, failure);
        if (status == 0 && timed->final)
            status = measurement_replay(measurement, true, failure, evaluation->error);
    }
    return status;
}
