#include "evaluate/duel.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/statistics.h"

#include <math.h>
#include <string.h>

enum {
    SEGMENT_SAMPLES_MAX = 8,
    SETTLED_SAMPLES_MAX = 128,
    ROUND_ATTEMPTS = 3,
    BOOTSTRAP_RESAMPLES = 2000,
    SEGMENTS = 4
};
/* A GPU at its power limit changes its clock by half a percent every few milliseconds: segments of
   settled sides are longer. */
static const double segment_us = 320, settled_segment_us = 40e3;
static const double confidence = 0.99;

/* One side's samples of one case, over all rounds. */
struct sample_list {
    int count, capacity;
    double *samples_us;
};

struct duel {
    struct duel_settings settings;
    int case_count;
    int rounds;            /* that duel_decide saw */
    int counts[CASES_MAX]; /* blocks so far */
    struct sample_list sample_list[CASES_MAX][DUEL_SIDES];
    double log_ratios[CASES_MAX]
                     [DUEL_ROUNDS * DUEL_BLOCKS_MAX]; /* logarithm of each block's ratio */
    double gpu_us;
    const void *settled; /* the side that runs at its own clock; NULL: none */
};

struct duel *duel_new(const struct duel_settings *settings, int case_count) {
    struct duel *duel = xcalloc(1, sizeof *duel);
    if (settings->blocks < 1 || settings->blocks > DUEL_BLOCKS_MAX || case_count > CASES_MAX)
        BUG("a duel of %d blocks in %d cases", settings->blocks, case_count);
    duel->settings = *settings;
    duel->case_count = case_count;
    return duel;
}

void duel_free(struct duel *duel) {
    if (duel == NULL)
        return;
    for (int c = 0; c < CASES_MAX; c++)
        for (int side = 0; side < DUEL_SIDES; side++)
            free(duel->sample_list[c][side].samples_us);
    free(duel);
}

static void append_samples(struct sample_list *sample_list, const double *samples_us, int count) {
    if (sample_list->count + count > sample_list->capacity) {
        sample_list->capacity = 2 * sample_list->capacity + count;
        sample_list->samples_us =
            xrealloc(sample_list->samples_us,
                     (size_t)sample_list->capacity * sizeof *sample_list->samples_us);
    }
    memcpy(sample_list->samples_us + sample_list->count, samples_us,
           (size_t)count * sizeof *samples_us);
    sample_list->count += count;
}

int duel_launches(double call_us, int sets) {
    double fitting = fmax(1, fmin(floor(segment_us / call_us), DUEL_LAUNCHES_MAX));
    return (int)(fitting >= sets ? floor(fitting / sets) * sets : fitting);
}

/* ---- blocks ---- */

/* One side's samples within a round. */
struct duel_side_samples {
    const struct duel_sampler *sampler;
    double replay_us;                           /* of the graph, about */
    int samples;                                /* of a segment */
    int count;                                  /* in the current block so far */
    double samples_us[2 * SETTLED_SAMPLES_MAX]; /* of both segments of a block */
};

static enum verdict sample_side(const struct duel_sampler *sampler, int count, double *samples,
                                char *reason) {
    struct device *device = sampler->device;
    return sampler->graph != NULL
               ? device->backend->graph_sample(device, sampler->graph, count, samples, reason)
               : sampler->sample(sampler->context, count, samples, reason);
}

static enum verdict take_samples(struct duel *duel, const struct duel_side_samples *side,
                                 int launches, double *samples_us, char *reason) {
    enum verdict verdict = sample_side(side->sampler, side->samples, samples_us, reason);
    if (verdict != VERDICT_OK)
        return verdict;
    /* One more replay runs than is timed. */
    double spent_us = samples_us[0] * launches * (side->samples + 1);
    duel->gpu_us += spent_us;
    if (duel->settings.rests)
        clock_wait(1e-6 * spent_us);
    return VERDICT_OK;
}

/* Runs one side until the GPU has the clock that this side alone leads to. The replay before the
   samples of a segment is load, too. */
static enum verdict settle(struct duel *duel, const struct duel_side_samples *side, int launches,
                           char *reason) {
    double samples_us[SETTLED_SAMPLES_MAX];
    double until_us = duel->gpu_us + duel->settings.settle_us - side->replay_us;
    enum verdict verdict = VERDICT_OK;
    while (duel->gpu_us < until_us && duel->settled != side && verdict == VERDICT_OK)
        verdict = take_samples(duel, side, launches, samples_us, reason);
    duel->settled = side;
    return verdict;
}

static enum verdict run_segment(struct duel *duel, struct duel_side_samples *side, int launches,
                                char *reason) {
    enum verdict verdict = settle(duel, side, launches, reason);
    if (verdict == VERDICT_OK)
        verdict = take_samples(duel, side, launches, side->samples_us + side->count, reason);
    side->count += verdict == VERDICT_OK ? side->samples : 0;
    return verdict;
}

static enum verdict run_block(struct duel *duel, struct duel_side_samples *champion,
                              struct duel_side_samples *challenger, int launches, double *ratio,
                              char *reason) {
    struct duel_side_samples *const order[SEGMENTS] = {champion, challenger, challenger, champion};
    enum verdict verdict = VERDICT_OK;
    champion->count = challenger->count = 0;
    for (int i = 0; i < SEGMENTS && verdict == VERDICT_OK; i++)
        verdict = run_segment(duel, order[i], launches, reason);
    if (verdict == VERDICT_OK)
        *ratio = statistics_median(challenger->samples_us, challenger->count) /
                 statistics_median(champion->samples_us, champion->count);
    return verdict;
}

/* Sets the number of samples that makes a segment long enough, from one first sample. */
static enum verdict start_side(struct duel *duel, struct duel_side_samples *side,
                               const struct duel_sampler *sampler, int launches, char *reason) {
    const bool settles = duel->settings.settle_us > 0;
    const double fitting_us = settles ? settled_segment_us : segment_us;
    const int most = settles ? SETTLED_SAMPLES_MAX : SEGMENT_SAMPLES_MAX;
    double sample_us;
    *side = (struct duel_side_samples){.sampler = sampler, .samples = 1};
    enum verdict verdict = take_samples(duel, side, launches, &sample_us, reason);
    if (verdict != VERDICT_OK)
        return verdict;
    side->replay_us = sample_us * launches;
    side->samples = (int)fmax(1, fmin(most, ceil(fitting_us / side->replay_us)));
    return VERDICT_OK;
}

/* How many blocks of both sides a round has. */
static int blocks_of_round(const struct duel *duel, const struct duel_side_samples sides[]) {
    double block_us = 0;
    for (int i = 0; i < DUEL_SIDES; i++)
        block_us += 2 * (sides[i].samples + 1) * sides[i].replay_us + duel->settings.settle_us;
    const int fitting = (int)fmax(DUEL_BLOCKS_MIN, DUEL_ROUND_US / block_us);
    return fitting < duel->settings.blocks ? fitting : duel->settings.blocks;
}

static enum verdict run_round(struct duel *duel, int case_index,
                              const struct duel_sampler samplers[DUEL_SIDES], int launches,
                              int *blocks, char *reason) {
    struct duel_side_samples sides[DUEL_SIDES] = {0};
    double *log_ratios = duel->log_ratios[case_index] + duel->counts[case_index];
    const double work_ratio = duel->settings.work_ratio[case_index];
    double ratio;
    enum verdict verdict = VERDICT_OK;
    for (int i = 0; i < DUEL_SIDES && verdict == VERDICT_OK; i++)
        verdict = start_side(duel, &sides[i], &samplers[i], launches, reason);
    /* The first block warms up both sides and does not count, unless they settle. */
    duel->settled = NULL;
    *blocks = verdict == VERDICT_OK ? blocks_of_round(duel, sides) : 0;
    for (int b = duel->settings.settle_us > 0 ? 0 : -1; b < *blocks && verdict == VERDICT_OK; b++) {
        verdict = run_block(duel, &sides[DUEL_CHAMPION], &sides[DUEL_CHALLENGER], launches, &ratio,
                            reason);
        if (b < 0 || verdict != VERDICT_OK)
            continue;
        log_ratios[b] = log(ratio) + (work_ratio > 0 ? log(work_ratio) : 0);
        for (int i = 0; i < DUEL_SIDES; i++)
            append_samples(&duel->sample_list[case_index][i], sides[i].samples_us, sides[i].count);
    }
    return verdict;
}

enum verdict duel_round(struct duel *duel, int case_index,
                        const struct duel_sampler samplers[DUEL_SIDES], int launches,
                        char reason[REASON_SIZE]) {
    struct sample_list *sample_list = duel->sample_list[case_index];
    const int previous_counts[DUEL_SIDES] = {sample_list[0].count, sample_list[1].count};
    enum verdict verdict = VERDICT_OK;
    bool is_valid = false;
    int blocks = 0;
    if (duel->counts[case_index] + duel->settings.blocks > DUEL_ROUNDS * DUEL_BLOCKS_MAX)
        BUG("a duel of more than %d blocks", DUEL_ROUNDS * DUEL_BLOCKS_MAX);
    for (int attempt = 0; attempt < ROUND_ATTEMPTS && verdict == VERDICT_OK && !is_valid;
         attempt++) {
        for (int i = 0; i < DUEL_SIDES; i++)
            sample_list[i].count = previous_counts[i];
        clock_monitor_begin_block(duel->settings.clock_monitor);
        verdict = run_round(duel, case_index, samplers, launches, &blocks, reason);
        is_valid = clock_monitor_end_block(duel->settings.clock_monitor);
    }
    if (verdict == VERDICT_OK)
        duel->counts[case_index] += blocks;
    return verdict;
}

/* ---- deciding ---- */

/* Of the logarithms of one block of each case. */
static double mean_over_cases(const struct duel *duel, int block) {
    const double *weights = duel->settings.weights;
    double mean = 0, total = 0;
    for (int c = 0; c < duel->case_count; c++)
        total += weights != NULL ? weights[c] : 1;
    for (int c = 0; c < duel->case_count; c++)
        mean += (weights != NULL ? weights[c] : 1) * duel->log_ratios[c][block] / total;
    return mean;
}

double duel_case_ratio(const struct duel *duel, int case_index) {
    return exp(statistics_mean(duel->log_ratios[case_index], duel->counts[case_index]));
}

int duel_worst_case(const struct duel *duel, double *ratio) {
    int worst = 0;
    *ratio = 0;
    for (int c = 0; c < duel->case_count; c++) {
        double case_ratio = duel_case_ratio(duel, c);
        if (case_ratio > *ratio) {
            *ratio = case_ratio;
            worst = c;
        }
    }
    return worst;
}

static void bootstrap_interval(const struct duel *duel, const double *log_ratios, int count,
                               double *low, double *high) {
    struct random random;
    random_seed(&random, duel->settings.seed, 1);
    statistics_bootstrap_mean(log_ratios, count, confidence, BOOTSTRAP_RESAMPLES, &random, low,
                              high);
    *low = exp(*low);
    *high = exp(*high);
}

struct case_result duel_case_result(const struct duel *duel, int case_index) {
    const struct sample_list *champion = &duel->sample_list[case_index][DUEL_CHAMPION];
    const struct sample_list *challenger = &duel->sample_list[case_index][DUEL_CHALLENGER];
    struct case_result case_result = {
        .ratio = duel_case_ratio(duel, case_index),
        .p50_us = statistics_median(challenger->samples_us, challenger->count),
        .p90_us = statistics_percentile(challenger->samples_us, challenger->count, 90),
        .rival_p50_us = statistics_median(champion->samples_us, champion->count),
        .rival_p90_us = statistics_percentile(champion->samples_us, champion->count, 90),
    };
    const double work_ratio = duel->settings.work_ratio[case_index];
    case_result.p90_ratio =
        case_result.p90_us / case_result.rival_p90_us * (work_ratio > 0 ? work_ratio : 1);
    bootstrap_interval(duel, duel->log_ratios[case_index], duel->counts[case_index],
                       &case_result.low, &case_result.high);
    return case_result;
}

bool duel_decide(struct duel *duel, struct duel_outcome *outcome) {
    double log_ratios[DUEL_ROUNDS * DUEL_BLOCKS_MAX];
    double worst;
    const struct duel_settings *settings = &duel->settings;
    int count = duel->counts[0];
    for (int c = 1; c < duel->case_count; c++) /* slow cases have fewer */
        count = duel->counts[c] < count ? duel->counts[c] : count;
    for (int b = 0; b < count; b++)
        log_ratios[b] = mean_over_cases(duel, b);
    duel_worst_case(duel, &worst);
    *outcome = (struct duel_outcome){.result = DUEL_UNDECIDED,
                                     .blocks = count,
                                     .ratio = exp(statistics_mean(log_ratios, count))};
    bootstrap_interval(duel, log_ratios, count, &outcome->low, &outcome->high);
    bool faster = outcome->high < 1 - settings->margin;
    bool slower = outcome->low > 1 + settings->margin;
    bool equal = outcome->low > 1 - settings->margin && outcome->high < 1 + settings->margin;
    if (slower || (faster && worst > 1 + settings->tolerance))
        outcome->result = DUEL_LOST;
    else if (faster)
        outcome->result = DUEL_WON;
    return faster || slower || equal || ++duel->rounds >= DUEL_ROUNDS;
}

double duel_gpu_us(const struct duel *duel) {
    return duel->gpu_us;
}

const char *duel_result_name(enum duel_result result) {
    static const char *const names[] = {"none", "won", "lost", "undecided"};
    return names[result];
}
