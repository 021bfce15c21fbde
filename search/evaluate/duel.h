/*
 * duel: decides which of two candidates is faster by blocks of alternating samples.
 *
 * A block is A B B A (A the champion, B the challenger), so that a linear drift of the clocks
 * affects both equally; its ratio is the median of B's samples over the median of A's. Blocks come
 * in rounds. Both candidates are captured again for each round, because two graphs of the same
 * kernel differ steadily by some 0.1 %. After each round the geometric mean of the ratios, over
 * cases (by their weights) and blocks, has a 99 % bootstrap interval:
 *   wholly below 1 - margin                 the challenger won, unless one of the cases is slower
 *                                           than the champion's by more than the tolerance
 *   wholly above 1 + margin                 it lost
 *   wholly between the two                  undecided, finally: the two are equal
 *   else                                    another round, up to four; then undecided
 * If the duel is undecided, the champion stays.
 *
 * Sides that alternate within milliseconds run at one clock. A GPU at its power limit has another
 * clock for each of two kernels, when it runs one of them for long: on an H200 a kernel of cuDNN
 * takes 475 us on random numbers and 406 us on zeros, but 425 and 417 us if calls of both
 * alternate (docs/measurements/real_sizes.md). With `settle_us` each side first runs for as long as
 * that clock needs.
 *
 *     struct duel *duel = duel_new(&settings, case_count);
 *     do {
 *         for (int c = 0; c < case_count; c++) // capture both sides, then:
 *             verdict = duel_round(duel, c, samplers, launches, reason);
 *     } while (verdict == VERDICT_OK && !duel_decide(duel, &outcome));
 *     duel_free(duel);
 */
#ifndef EVOTILE_EVALUATE_DUEL_H
#define EVOTILE_EVALUATE_DUEL_H

#include "evaluate/clock_monitor.h"
#include "evaluate/trial.h"

enum { DUEL_ROUNDS = 4, DUEL_BLOCKS_MAX = 250, DUEL_LAUNCHES_MAX = 100 };

/* At the power limit of an H200 a kernel that follows another one has its clock after 100 ms, but
   the clock swings for as long again. */
#define DUEL_SETTLE_US 200e3

/* What a round of one case may take, in at least DUEL_BLOCKS_MIN blocks. */
#define DUEL_ROUND_US 10e6
enum { DUEL_BLOCKS_MIN = 4 };

struct duel_settings {
    int blocks;       /* per round; default 10. Of slow calls fewer: see DUEL_ROUND_US */
    double margin;    /* default 0.005 */
    double tolerance; /* default 0.02 */
    uint64_t seed;    /* of the bootstrap */
    double settle_us; /* so long a side runs, each time it follows the other one, before its
                         samples count */
    bool rests;       /* pause after each segment as long as it took, so that the power limit is not
                         reached */
    struct clock_monitor *clock_monitor;
    const double *weights; /* of the cases in the mean of their ratios; NULL: all are equal */
    double work_ratio[CASES_MAX]; /* of a case: the champion's work in a call / the challenger's, by
                                     which ratios of times are multiplied; 0: both do the same */
};

struct duel;

struct duel *duel_new(const struct duel_settings *settings, int case_count);
void duel_free(struct duel *duel);

enum duel_side { DUEL_CHAMPION, DUEL_CHALLENGER, DUEL_SIDES };

/* Number of calls in a duel's graph: about 0.3 ms of them, at most DUEL_LAUNCHES_MAX; a multiple of
   the input sets, if it is as many. Many short calls in one graph scatter less than many replays of
   a short graph. */
int duel_launches(double call_us, int sets);

/* The source of one side's samples in a round: a warm graph of `launches` calls on a device, or,
   with `graph` NULL, a function that samples elsewhere and has the contract of a backend's
   graph_sample. */
struct duel_sampler {
    struct device *device;
    struct device_graph *graph;
    enum verdict (*sample)(void *context, int count, double *samples_us, char *reason);
    void *context;
};

/* Runs one round of blocks of one case. Any verdict but VERDICT_OK ends the duel. A round during
   which the GPU was throttled is repeated, up to three times in all. */
enum verdict duel_round(struct duel *duel, int case_index,
                        const struct duel_sampler samplers[DUEL_SIDES], int launches,
                        char reason[REASON_SIZE]);

/* To be called after each round of every case: sets the outcome so far, and returns whether the
   duel is over. */
bool duel_decide(struct duel *duel, struct duel_outcome *outcome);

/* The case with the highest ratio to the champion's time, and that ratio. */
int duel_worst_case(const struct duel *duel, double *ratio);
double duel_case_ratio(const struct duel *duel, int case_index);
/* The result of one case, with its own interval and both sides' percentiles over all blocks;
   `against` stays empty. */
struct case_result duel_case_result(const struct duel *duel, int case_index);
/* GPU time that the duel has used. */
double duel_gpu_us(const struct duel *duel);

/* "won", "lost", "undecided". */
const char *duel_result_name(enum duel_result result);

#endif
