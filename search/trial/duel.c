#include "trial/duel.h"

#include "base/random.h"
#include "base/statistics.h"

#include <math.h>
#include <string.h>

enum { LEG_SAMPLES_MAX = 8, ROUND_TRIES = 3, RESAMPLES = 2000, LEGS = 4 };
static const double leg_us = 320;
static const double confidence = 0.99;

struct duel {
    struct duel_settings settings;
    int case_count;
    int counts[CASES_MAX]; /* blocks so far; equal after a round of every case */
    double logs[CASES_MAX][DUEL_ROUNDS * DUEL_BLOCKS_MAX]; /* of each block's ratio */
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
    free(duel);
}

int duel_launches(double call_us, int sets) {
    int most = DUEL_LAUNCHES_MAX;
    double fitting = floor(leg_us / call_us / sets) * sets;
    double largest = most >= sets ? most / sets * sets : most;
    return (int)fmax(1, fmin(fmax(fitting, sets), largest));
}

/* ---- blocks ---- */

/* How one side's replays go within a round. */
struct side {
    struct device_graph *graph;
    int samples;                            /* of a leg */
    int count;                              /* of the block so far */
    double samples_us[2 * LEG_SAMPLES_MAX]; /* of both legs of a block */
};

static enum verdict leg(struct duel *duel, struct device *device, struct side *side, int launches,
                        char *reason) {
    double *samples = side->samples_us + side->count;
    enum verdict verdict =
        device->backend->graph_sample(device, side->graph, side->samples, samples, reason);
    if (verdict != VERDICT_OK)
        return verdict;
    side->count += side->samples;
    /* The backend replays once more than it times. */
    duel->gpu_us += samples[0] * launches * (side->samples + 1);
    return VERDICT_OK;
}

static enum verdict block(struct duel *duel, struct device *device, struct side *champion,
                          struct side *challenger, int launches, double *ratio, char *reason) {
    struct side *const order[LEGS] = {champion, challenger, challenger, champion};
    enum verdict verdict = VERDICT_OK;
    champion->count = challenger->count = 0;
    for (int i = 0; i < LEGS && verdict == VERDICT_OK; i++)
        verdict = leg(duel, device, order[i], launches, reason);
    if (verdict == VERDICT_OK)
        *ratio = statistics_median(challenger->samples_us, challenger->count) /
                 statistics_median(champion->samples_us, champion->count);
    return verdict;
}

/* How many samples make a leg long enough; the first tells what one takes. */
static enum verdict prepare(struct duel *duel, struct device *device, struct side *side,
                            struct device_graph *graph, int launches, char *reason) {
    *side = (struct side){.graph = graph, .samples = 1};
    enum verdict verdict = leg(duel, device, side, launches, reason);
    if (verdict == VERDICT_OK)
        side->samples =
            (int)fmax(1, fmin(LEG_SAMPLES_MAX, ceil(leg_us / (side->samples_us[0] * launches))));
    return verdict;
}

static enum verdict fight(struct duel *duel, struct device *device,
                          struct device_graph *const graphs[DUEL_SIDES], int launches, double *logs,
                          char *reason) {
    struct side champion;
    struct side challenger;
    double ratio;
    enum verdict verdict =
        prepare(duel, device, &champion, graphs[DUEL_CHAMPION], launches, reason);
    if (verdict == VERDICT_OK)
        verdict = prepare(duel, device, &challenger, graphs[DUEL_CHALLENGER], launches, reason);
    /* The first block warms both up and does not count. */
    for (int b = -1; b < duel->settings.blocks && verdict == VERDICT_OK; b++) {
        verdict = block(duel, device, &champion, &challenger, launches, &ratio, reason);
        if (b >= 0 && verdict == VERDICT_OK)
            logs[b] = log(ratio);
    }
    return verdict;
}

enum verdict duel_round(struct duel *duel, int case_index, struct device *device,
                        struct device_graph *const graphs[DUEL_SIDES], int launches,
                        char reason[REASON_SIZE]) {
    int *count = &duel->counts[case_index];
    enum verdict verdict = VERDICT_OK;
    bool fit = false;
    if (*count + duel->settings.blocks > DUEL_ROUNDS * DUEL_BLOCKS_MAX)
        BUG("a duel goes on after its end");
    for (int try = 0; try < ROUND_TRIES && verdict == VERDICT_OK && !fit; try++) {
        watch_before(duel->settings.watch);
        verdict = fight(duel, device, graphs, launches, duel->logs[case_index] + *count, reason);
        fit = watch_after(duel->settings.watch);
    }
    if (verdict == VERDICT_OK)
        *count += duel->settings.blocks;
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

bool duel_decide(struct duel *duel, struct duel_outcome *outcome) {
    double logs[DUEL_ROUNDS * DUEL_BLOCKS_MAX];
    double low;
    double high;
    double worst;
    struct random random;
    const struct duel_settings *settings = &duel->settings;
    int count = duel->counts[0];
    for (int b = 0; b < count; b++) {
        logs[b] = 0;
        for (int c = 0; c < duel->case_count; c++)
            logs[b] += duel->logs[c][b] / duel->case_count;
    }
    random_seed(&random, settings->seed, 1);
    statistics_bootstrap_mean(logs, count, confidence, RESAMPLES, &random, &low, &high);
    duel_worst_case(duel, &worst);
    *outcome = (struct duel_outcome){.result = DUEL_UNDECIDED,
                                     .blocks = count,
                                     .ratio = exp(mean_log(logs, count)),
                                     .low = exp(low),
                                     .high = exp(high)};
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
