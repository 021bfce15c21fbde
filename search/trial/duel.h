/*
 * duel: which of two candidates is faster, decided by blocks in which they take turns.
 *
 * A block is A B B A (A the champion, B the challenger), so that a slow drift of the clocks weighs
 * on both alike; its ratio is the median of B's samples over that of A's. Blocks come in rounds; a
 * round has both candidates captured afresh, for two graphs of the very same kernel differ by some
 * 0.1 %, steadily. After each round the geometric mean of the ratios, over cases and blocks, has a
 * 99 % bootstrap interval:
 *   wholly below 1 - margin                 the challenger won, unless one of the cases is slower
 *                                           than the champion's by more than the tolerance
 *   wholly above 1 + margin                 it lost
 *   wholly between the two                  undecided for good: the two are equal
 *   else                                    another round, up to four; then undecided
 * Undecided, the champion stays.
 *
 *     struct duel *duel = duel_new(&settings, case_count);
 *     do
 *         for (int c = 0; c < case_count; c++)
 *             ... capture both ...; duel_round(duel, c, corners, launches, reason);
 *     while (!duel_decide(duel, &outcome));
 *     duel_free(duel);
 */
#ifndef EVOTILE_TRIAL_DUEL_H
#define EVOTILE_TRIAL_DUEL_H

#include "trial/trial.h"
#include "trial/watch.h"

enum { DUEL_ROUNDS = 4, DUEL_BLOCKS_MAX = 250, DUEL_LAUNCHES_MAX = 100 };

struct duel_settings {
    int blocks;       /* a round: 10 */
    double margin;    /* 0.005 */
    double tolerance; /* 0.02 */
    uint64_t seed;    /* of the bootstrap */
    struct watch *watch;
};

struct duel;

struct duel *duel_new(const struct duel_settings *settings, int case_count);
void duel_free(struct duel *duel);

enum duel_side { DUEL_CHAMPION, DUEL_CHALLENGER, DUEL_SIDES };

/* How many calls a graph has for a duel: about 0.3 ms of them, a multiple of the input sets, at
   most DUEL_LAUNCHES_MAX. Many short calls in one graph scatter less than many replays of a short
   one. */
int duel_launches(double call_us, int sets);

/* One side of a round: `launches` calls in a warm graph of the device's, or, where there is none,
   in somebody else's, who is asked for samples as a backend's graph_sample is. */
struct duel_corner {
    struct device *device;
    struct device_graph *graph;
    enum verdict (*sample)(void *context, int count, double *samples_us, char *reason);
    void *context;
};

/* One round of blocks in one case. Anything but VERDICT_OK ends the duel. A round in which the GPU
   was throttled is fought again, up to three times. */
enum verdict duel_round(struct duel *duel, int case_index,
                        const struct duel_corner corners[DUEL_SIDES], int launches,
                        char reason[REASON_SIZE]);

/* After each round of every case: fills what is known so far, and says whether that is the end. */
bool duel_decide(struct duel *duel, struct duel_outcome *outcome);

/* The case that is slowest against the champion's, and its ratio. */
int duel_worst_case(const struct duel *duel, double *ratio);
double duel_case_ratio(const struct duel *duel, int case_index);
/* What one case came to, with its own interval and both sides' percentiles over all blocks;
   `against` is left empty. */
struct bout duel_bout(const struct duel *duel, int case_index);
/* What the GPU was kept busy for. */
double duel_gpu_us(const struct duel *duel);

/* "won", "lost", "undecided". */
const char *duel_result_name(enum duel_result result);

#endif
