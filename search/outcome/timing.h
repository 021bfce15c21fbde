/*
 * timing: how candidates are timed. A plain value: a config has one, and evaluate/ uses it.
 * configs/README.md documents every field; the figures here are the defaults.
 *
 *     struct timing timing = {.input_sets = 4, .launches = 20, .samples = 50};
 */
#ifndef EVOTILE_OUTCOME_TIMING_H
#define EVOTILE_OUTCOME_TIMING_H

enum { PLACEMENTS_MAX = 16 };

/* In which state of the GPU calls of 50 us or more are timed. */
enum regime {
    REGIME_SUSTAINED, /* under steady load, as a server sees them: at the power limit, if the kernel
                         reaches it */
    REGIME_BOOST,     /* with pauses, so that the power limit is not reached */
    REGIME_COUNT
};

struct timing {
    int input_sets;     /* input sets that the calls of a graph rotate through: 4 */
    int launches;       /* calls in a CUDA graph: 20 */
    int samples;        /* graph replays of a full timing: 50 */
    int race_samples;   /* graph replays of the race that precedes it: 5 */
    double race_margin; /* the race is lost if the candidate is slower than the champion by more
                           than this: 0.25 */
    double warmup_ms;   /* warm-up before timing: 5 */
    int placements;     /* different addresses of tensors and code, over which the samples of a
                           champion, a replay or a try are spread: 5 */
    double energy_ms;   /* for how long the energy of each case of a final timing is measured, on
                           GPUs that count it: 300; 0: never */
    int inputs;         /* sets of random inputs a case: 2 */
    int duel_blocks;    /* blocks in a round of a duel: 10 */
    double duel_margin; /* ratios within 1 +- this count as equal: 0.005, or the spread of A/A duels
                           on the device if that is larger */
    enum regime regime; /* REGIME_SUSTAINED */
    double case_tolerance; /* no case may be slower than the champion's by more than this; a
                              candidate within it duels: 0.02 */
};

#endif
