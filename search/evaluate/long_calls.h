/*
 * long_calls: samples a case whose calls take 50 us or more (timing_budget.h), in turns over its
 * placements and in one state of the GPU. Private to evaluate/: timing.c decides what is timed.
 *
 *     // timing.c has made timed.count placements and set timed.budget
 *     status = long_calls_sample(evaluation, &timed, &failure);
 *
 * Under steady load a kernel that needs much power slows the GPU's clock, after some 75 ms on an
 * H200. So the GPU is loaded before the samples for as long as the budget says, and samples whose
 * halves differ are taken again.
 */
#ifndef EVOTILE_EVALUATE_LONG_CALLS_H
#define EVOTILE_EVALUATE_LONG_CALLS_H

#include "evaluate/evaluation.h"
#include "evaluate/timing_budget.h"

/* No power limit slows a clock further. A kernel that waits once the GPU is loaded would otherwise
   make every later candidate lose its race. */
#define LOAD_RATIO_MAX 1.6

/* One placement of a case. */
struct timed_placement {
    struct device_module *module; /* its own copy of the code; NULL: the evaluation's */
    struct measurement *measurement;
};

/* One case while it is timed. */
struct timed_case {
    int index, count; /* of the case; of its placements so far */
    struct timed_placement placements[PLACEMENTS_MAX];
    struct timing_budget budget;
    bool long_calls;
    bool final;         /* of a champion: verified between the samples, too */
    double hopeless_us; /* samples under load that all take longer are enough; INFINITY: never */
    bool hopeless;      /* they were */
    double load_ratio;  /* of long calls: the time under steady load, as a multiple of that before;
                           at least 1, at most LOAD_RATIO_MAX */
    struct case_outcome *to;
};

/* The share of `samples` of the placement with this index. */
static inline int timed_case_share(int samples, int placements, int index) {
    return samples * (index + 1) / placements - samples * index / placements;
}

/* Adds the median of a placement's samples to the case's outcome. */
void timed_case_add_placement(struct timed_case *timed, const double *samples_us, int count);

/* Samples all placements of a case, warm and cold, and sets its load_ratio and `hopeless`. Returns
   0; 1 with `failure`; -1 with the evaluation's error. */
int long_calls_sample(struct evaluation *evaluation, struct timed_case *timed,
                      struct failure *failure);

#endif
