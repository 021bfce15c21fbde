#include "trial/duel.h"

#include "base/random.h"
#include "base/statistics.h"

#include <math.h>
#include <string.h>

enum { LEG_SAMPLES_MAX = 8, ROUND_TRIES = 3, RESAMPLES = 2000, LEGS = 4 };
static const double leg_us = 320;
static const double confidence = 0.99;

/* One side's samples of one case, over all rounds. */
struct taken {
    int count, room;
    double *samples_us;
};

struct duel {
    struct duel_settings settings;
    int case_count;
    int counts[CASES_MAX]; /* blocks so far; equal for all cases after each full round */
    struct taken taken[CASES_MAX][DUEL_SIDES];
    double logs[CASES_MAX][DUEL_ROUNDS * DUEL_BLOCKS_MAX]; /* logarithm of each block's ratio */
    double gpu_us;
};

struct duel *duel_new(const struct duel_settings *settings, int case_count) {
    struct duel *duel = calloc(1, sizeof *duel);
    if (duel == NULL)
        BUG("out of memory");
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
            free(duel->taken[c][side].samples_us);
    free(duel);
}

static void take(struct taken *taken, const double *samples_us, int count) {
    if (taken->count + count > taken->room) {
        taken->room = 2 * taken->room + count;
        taken->samples_us =
            realloc(taken->samples_us, (size_t)taken->room * sizeof *taken->samples_us);
        if (taken->samples_us == NULL)
            BUG("out of memory");
    }
    memcpy(taken->samples_us + taken->count, samples_us, (size_t)count * sizeof *samples_us);
    taken->count += count;
}

int duel_launches(double call_us, int sets) {
    int most = DUEL_LAUNCHES_MAX;
    double fitting = floor(leg_us / call_us / sets) * sets;
    double largest = most >= sets ? most / sets * sets : most;
    return (int)fmax(1, fmin(fmax(fitting, sets), largest));
}

/* ---- blocks ---- */

/* One side's samples within a round. */
struct side {
    const struct duel_corner *corner;
    int samples;                            /* of a segment */
    int count;                              /* in the current block so far */
    double samples_us[2 * LEG_SAMPLES_MAX]; /* of both segments of a block */
};

static enum verdict ask(const struct duel_corner *corner, int count, double *samples,
                        char *reason) {
    struct device *device = corner->device;
    return corner->graph != NULL
               ? device->backend->graph_sample(device, corner->graph, count, samples, reason)
               : corner->sample(corner->context, count, samples, reason);
}

static enum verdict leg(struct duel *duel, struct side *side, int launches, char *reason) {
    double *samples = side->samples_us + side->count;
    enum verdict verdict = ask(side->corner, side->samples, samples, reason);
    if (verdict != VERDICT_OK)
        return verdict;
    side->count += side->samples;
    /* One more replay runs than is timed. */
    duel->gpu_us += samples[0] * launches * (side->samples + 1);
    return VERDICT_OK;
}

static enum verdict block(struct duel *duel, struct side *champion, struct side *challenger,
                          int launches, double *ratio, char *reason) {
    struct side *const order[LEGS] = {champion, challenger, challenger, champion};
    enum verdict verdict = VERDICT_OK;
    champion->count = challenger->count = 0;
    for (int i = 0; i < LEGS && verdict == VERDICT_OK; i++)
        verdict = leg(duel, order[i], launches, reason);
    if (verdict == VERDICT_OK)
        *ratio = statistics_median(challenger->samples_us, challenger->count) /
                 statistics_median(champion->samples_us, champion->count);
    return verdict;
}

/* Sets the number of samples that makes a segment long enough, from one first sample. */
static enum verdict prepare(struct duel *duel, struct side *side, const struct duel_corner *corner,
                            int launches, char *reason) {
    *side = (struct side){.corner = corner, .samples = 1};
    enum verdict verdict = leg(duel, side, launches, reason);
    if (verdict == VERDICT_OK)
        side->samples =
            (int)fmax(1, fmin(LEG_SAMPLES_MAX, ceil(leg_us / (side->samples_us[0] * launches))));
    return verdict;
}

static enum verdict fight(struct duel *duel, int case_index,
                          const struct duel_corner corners[DUEL_SIDES], int launches,
                          char *reason) {
    struct side sides[DUEL_SIDES];
    double *logs = duel->logs[case_index] + duel->counts[case_index];
    double ratio;
    enum verdict verdict = VERDICT_OK;
    for (int i = 0; i < DUEL_SIDES && verdict == VERDICT_OK; i++)
        verdict = prepare(duel, &sides[i], &corners[i], launches, reason);
    /* The first block warms up both sides and does not count. */
    for (int b = -1; b < duel->settings.blocks && verdict == VERDICT_OK; b++) {
        verdict =
            block(duel, &sides[DUEL_CHAMPION], &sides[DUEL_CHALLENGER], launches, &ratio, reason);
        if (b < 0 || verdict != VERDICT_OK)
            continue;
        logs[b] = log(ratio);
        for (int i = 0; i < DUEL_SIDES; i++)
            take(&duel->taken[case_index][i], sides[i].samples_us, sides[i].count);
    }
    return verdict;
}

enum verdict duel_round(struct duel *duel, int case_index,
                        const struct duel_corner corners[DUEL_SIDES], int launches,
                        char reason[REASON_SIZE]) {
    struct taken *taken = duel->taken[case_index];
    const int before[DUEL_SIDES] = {taken[0].count, taken[1].count};
    enum verdict verdict = VERDICT_OK;
    bool fit = false;
    if (duel->counts[case_index] + duel->settings.blocks > DUEL_ROUNDS * DUEL_BLOCKS_MAX)
        BUG("a duel of more than %d blocks", DUEL_ROUNDS * DUEL_BLOCKS_MAX);
    for (int try = 0; try < ROUND_TRIES && verdict == VERDICT_OK && !fit; try++) {
        for (int i = 0; i < DUEL_SIDES; i++)
            taken[i].count = before[i];
        watch_before(duel->settings.watch);
        verdict = fight(duel, case_index, corners, launches, reason);
        fit = watch_after(duel->settings.watch);
    }
    if (verdict == VERDICT_OK)
        duel->counts[case_index] += duel->settings.blocks;
    return verdict;
}

/* ---- deciding ---- */

static double mean_log(const double *logs, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += logs[i];
    return sum / count;
}

double duel_case_ratio(const struct duel *duel, int case_index) {
    return exp(mean_log(duel->logs[case_index], duel->counts[case_index]));
}

int duel_worst_case(const struct duel *duel, double *ratio) {
    int worst = 0;
    *ratio = 0;
    for (int c = 0; c < duel->case_count; c++) {
        double one = duel_case_ratio(duel, c);
        if (one > *ratio) {
            *ratio = one;
            worst = c;
        }
    }
    return worst;
}

static void interval(const struct duel *duel, const double *logs, int count, double *low,
                     double *high) {
    struct random random;
    random_seed(&random, duel->settings.seed, 1);
    statistics_bootstrap_mean(logs, count, confidence, RESAMPLES, &random, low, high);
    *low = exp(*low);
    *high = exp(*high);
}

struct bout duel_bout(const struct duel *duel, int case_index) {
    const struct taken *champion = &duel->taken[case_index][DUEL_CHAMPION];
    const struct taken *challenger = &duel->taken[case_index][DUEL_CHALLENGER];
    struct bout bout = {
        .ratio = duel_case_ratio(duel, case_index),
        .p50_us = statistics_median(challenger->samples_us, challenger->count),
        .p90_us = statistics_percentile(challenger->samples_us, challenger->count, 90),
        .rival_p50_us = statistics_median(champion->samples_us, champion->count),
        .rival_p90_us = statistics_percentile(champion->samples_us, champion->count, 90),
    };
    interval(duel, duel->logs[case_index], duel->counts[case_index], &bout.low, &bout.high);
    return bout;
}

bool duel_decide(struct duel *duel, struct duel_outcome *outcome) {
    double logs[DUEL_ROUNDS * DUEL_BLOCKS_MAX];
    double worst;
    const struct duel_settings *settings = &duel->settings;
    int count = duel->counts[0];
    for (int b = 0; b < count; b++) {
        logs[b] = 0;
        for (int c = 0; c < duel->case_count; c++)
            logs[b] += duel->logs[c][b] / duel->case_count;
    }
    duel_worst_case(duel, &worst);
    *outcome = (struct duel_outcome){
        .result = DUEL_UNDECIDED, .blocks = count, .ratio = exp(mean_log(logs, count))};
    interval(duel, logs, count, &outcome->low, &outcome->high);
    bool faster = outcome->high < 1 - settings->margin;
    bool slower = outcome->low > 1 + settings->margin;
    bool equal = outcome->low > 1 - settings->margin && outcome->high < 1 + settings->margin;
    if (slower || (faster && worst > 1 + settings->tolerance))
        outcome->result = DUEL_LOST;
    else if (faster)
        outcome->result = DUEL_WON;
    return faster || slower || equal || count >= DUEL_ROUNDS * settings->blocks;
}

double duel_gpu_us(const struct duel *duel) {
    return duel->gpu_us;
}

const char *duel_result_name(enum duel_result result) {
    static const char *const names[] = {"none", "won", "lost", "undecided"};
    return names[result];
}
