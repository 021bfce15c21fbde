/*
 * measure: how long one case of a candidate takes. Two figures, always named:
 *   warm  one graph holds several calls that take the input sets in rotation, so that no call sees
 *         its own last buffers; after a warm-up by time, its replays follow one another
 *   cold  one call a graph; before each, L2 is flushed
 * A sample is microseconds a call. All kernels of the candidate count, and the clearing of its
 * workspaces.
 *
 *     struct measurement *it;
 *     if (measurement_new(&one, &settings, &it, &verdict, reason, &error) < 0) return -1;
 *     if (verdict == VERDICT_OK)
 *         verdict = measurement_warm(it, 5000, 50, &outcome->warm, reason);
 *     if (verdict == VERDICT_OK && measurement_check(it, &verdict, reason, &error) < 0) ...
 *     measurement_free(it);
 *
 * Where tensors and code lie in memory changes a call's time, by up to 6 % at 3 us, for as long as
 * they lie there: a measurement is one placement. What is to be found again by another process is
 * measured in several (pace.c).
 *
 * A block of samples during which the GPU was throttled (watch.h) is discarded and taken again, up
 * to three times; the last one then stands, and the trial's conditions say so.
 */
#ifndef EVOTILE_TRIAL_MEASURE_H
#define EVOTILE_TRIAL_MEASURE_H

#include "trial/verify.h"
#include "trial/watch.h"

struct measurement;

struct measure_settings {
    int sets;      /* of inputs, taken in rotation; at most launches */
    int launches;  /* calls in the warm graph */
    uint64_t seed; /* of the inputs */
    struct watch *watch;
    /* NULL, or another measurement of the same case, which lives as long: tensors that are alike in
       both are then one. Where a tensor lies changes a call's time by up to a percent, steadily,
       which a duel is not to decide. */
    const struct measurement *beside;
};

/* Makes the input sets and captures the warm graph. Returns 0 with a verdict (its reason too unless
   ok, and then no measurement), -1 when the device or the template failed. */
int measurement_new(const struct verify_case *one, const struct measure_settings *settings,
                    struct measurement **measurement, enum verdict *verdict,
                    char reason[REASON_SIZE], struct error *error);
void measurement_free(struct measurement *measurement);

/* The case's launches, for its operations and bytes. */
const struct plan *measurement_plan(const struct measurement *measurement);
/* The warm graph, for duels. */
struct device_graph *measurement_graph(struct measurement *measurement);

/* Both add to the samples that are there. Warm ones come after at least `warmup_us` of replays
   since the measurement was made. */
enum verdict measurement_warm(struct measurement *measurement, double warmup_us, int samples,
                              struct latency *latency, char reason[REASON_SIZE]);
enum verdict measurement_cold(struct measurement *measurement, int samples, struct latency *latency,
                              char reason[REASON_SIZE]);

/* Whether the timed buffers hold the right outputs, and nothing was written beside them. */
int measurement_check(struct measurement *measurement, enum verdict *verdict,
                      char reason[REASON_SIZE], struct error *error);

/* Fills the percentiles from the samples. */
void latency_summarise(struct latency *latency);

#endif
