/*
 * measure: times one case of a candidate. There are two figures:
 *   warm  one graph holds several calls that rotate through the input sets, so that no call reads
 *         the buffers of the call before; after a timed warm-up, its replays follow one another
 *   cold  one call per graph, with an L2 flush before each
 * A sample is microseconds per call. It includes all kernels of the candidate and the clearing of
 * its workspaces.
 *
 *     struct measurement *it;
 *     int status = measurement_new(&one, &settings, &it, &failure, &error);
 *     if (status == 0)
 *         status = measurement_warm(it, 5000, 50, &latency, &failure);
 *     if (status == 0)
 *         status = measurement_check(it, &failure, &error);
 *     measurement_free(it);
 *
 * The addresses of tensors and code change a call's time, by up to 6 % at 3 us, for as long as they
 * stay there: a measurement is one placement. A figure that another process must reproduce is
 * measured in several placements (timing.c).
 *
 * A block of samples during which the GPU was throttled (clock_monitor.h) is discarded and
 * repeated, up to three times in all; the last one then counts, and the trial's conditions say so.
 */
#ifndef EVOTILE_EVALUATE_MEASURE_H
#define EVOTILE_EVALUATE_MEASURE_H

#include "evaluate/clock_monitor.h"
#include "evaluate/verify.h"

struct measurement;

struct measure_settings {
    int sets;       /* of inputs, in rotation */
    int launches;   /* calls in the warm graph; of long calls fewer, if `call_us` is not 0 */
    double call_us; /* a call takes no longer; INFINITY: nothing is known. 0: time no first call */
    bool rests;     /* long calls: pause between samples, so that the power limit is not reached */
    uint64_t seed;  /* of the inputs */
    struct clock_monitor *clock_monitor;
    /* NULL, or another measurement of the same case that stays alive as long: tensors that are
       alike in both are then shared. A tensor's address changes a call's time steadily by up to
       a percent, which must not decide a duel. */
    const struct measurement *share_with;
};

/* Functions return 0; 1, with `failure` set, if the candidate failed; -1 when the device or the
   template failed. */

/* Fills the input sets and captures the warm graph. */
int measurement_new(const struct verify_case *one, const struct measure_settings *settings,
                    struct measurement **measurement, struct failure *failure, struct error *error);
void measurement_free(struct measurement *measurement);

/* The time of the first call that was timed, if it is long (timing_budget.h), else 0. */
double measurement_long_call_us(const struct measurement *measurement);

/* The case's launch plan, for its operations and bytes. */
const struct launch_plan *measurement_plan(const struct measurement *measurement);
/* The warm graph, for duels. */
struct device_graph *measurement_graph(struct measurement *measurement);

/* Both append samples. Warm samples follow at least `warmup_us` of replays since the measurement
   was created, and at least one call on every input set. */
int measurement_warm(struct measurement *measurement, double warmup_us, int samples,
                     struct latency *latency, struct failure *failure);
/* Loads the GPU with at least `load_us` more of replays. */
int measurement_load(struct measurement *measurement, double load_us, struct failure *failure);
int measurement_cold(struct measurement *measurement, int samples, struct latency *latency,
                     struct failure *failure);

/* Verifies that the timed buffers hold correct outputs and that nothing was written outside
   them. */
int measurement_check(struct measurement *measurement, struct failure *failure,
                      struct error *error);

/* Changes a part of the inputs, outputs and workspaces, replays the warm graph and verifies the
   outputs: of one set, or as measurement_check. The same before that with the cold graph, if there
   are cold samples. A kernel that returns results of earlier calls is wrong. */
int measurement_replay(struct measurement *measurement, bool one_set, struct failure *failure,
                       struct error *error);
/* The same in graphs of fewer calls on hard inputs, and in one in which inputs change between
   calls, so that these follow as closely as when they are timed; then compares its time with that
   of the same graph without changes. Once for a measurement. */
int measurement_chain(struct measurement *measurement, struct failure *failure,
                      struct error *error);

/* Computes the percentiles from the samples. */
void latency_summarise(struct latency *latency);

#endif
