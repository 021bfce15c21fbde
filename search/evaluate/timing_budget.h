/*
 * timing_budget: what timing one case may cost, by the time that a call takes. Calls of a few
 * microseconds are timed in graphs of many, a fixed number of times (outcome/timing.h). A *long
 * call* takes 50 us or more: its samples hold only as many calls as their resolution needs, and
 * are taken until their median is known well enough, or the GPU time of the stage is spent.
 *
 *     int launches = budget_launches(20, call_us);
 *     struct timing_budget budget = timing_budget(timing, STAGE_FULL, call_us, steady);
 *
 * On an H200 a call of 0.4 ms at the power limit takes 416 us for the first 60 to 80 ms of steady
 * load, and then 466 to 469; NVML shows the lower clock 75 ms later. 20 to 40 ms without load undo
 * that (docs/measurements/real_sizes.md, "Power"). So a sustained figure needs 100 ms of load
 * before its first sample. Over seconds of load the clock goes down by another 3 to 4 %: a final
 * timing waits for a second, after which an independent program finds 2 % more, not 3 or 4.
 */
#ifndef EVOTILE_EVALUATE_TIMING_BUDGET_H
#define EVOTILE_EVALUATE_TIMING_BUDGET_H

#include "outcome/timing.h"

#include <stdbool.h>

/* From here on a call is long, in microseconds. */
#define LONG_CALL_US 50.0

/* So much load brings the GPU to within 4 % of the clock at which it stays; and so much to within
   2 %. */
#define BUDGET_SETTLED_AFTER_US 100e3
#define BUDGET_STEADY_AFTER_US  1000e3

enum timing_stage {
    STAGE_RACE,  /* is it worth timing at all: 20 ms of samples */
    STAGE_FULL,  /* the figure that the search compares: 60 ms */
    STAGE_FINAL, /* of a champion, in several placements: 200 ms */
    STAGE_COUNT
};

struct timing_budget {
    int samples;      /* warm samples, at most */
    int cold_samples; /* cold samples */
    double warmup_us; /* load before the first sample; for calls that are not long in each
                         placement, else once */
};

/* The number of calls in a graph: `launches`, or for a long call so many that a sample takes 200
 * us.
 */
int budget_launches(int launches, double call_us);

/* `steady`: a long call is to be timed in the state that the GPU reaches under steady load, which
   takes time because it may reach its power limit. */
struct timing_budget timing_budget(const struct timing *timing, enum timing_stage stage,
                                   double call_us, bool steady);

/* Returns whether the median of the samples is known well enough, with a confidence of 95 %: to a
   part in 500, and to one in 200 for a full timing; never of fewer than ten. */
bool budget_suffices(enum timing_stage stage, const double *samples_us, int count);

#endif
