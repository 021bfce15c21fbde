/*
 * trace: what a genome executes on a device that need not be present, from which its latency can be
 * predicted (device/predict.h). The kernel is compiled for that device, and a few blocks of each
 * launch run on the emulated device, over inputs of the case's own size: some tenths of a second
 * per genome and case. Outputs are not verified.
 *
 *     struct tracer *tracer = tracer_new(&settings, &info, NULL, &error);
 *     struct trace *trace = malloc(sizeof *trace);
 *     if (tracer_run(tracer, goal, &genome, trace, &error) == 0 && trace->verdict == VERDICT_OK)
 *         latency_us = trace_predicted_us(trace, &info);
 *     free(trace);
 *     tracer_free(tracer);
 */
#ifndef EVOTILE_EVALUATE_TRACE_H
#define EVOTILE_EVALUATE_TRACE_H

#include "device/predict.h"
#include "evaluate/compile.h"

struct tracer;

struct trace {
    enum verdict verdict; /* of compiling and of running the blocks */
    char reason[REASON_SIZE];
    int case_count;
    struct prediction_call calls[CASES_MAX]; /* by case of the goal */
    double weights[CASES_MAX];
};

/* Creates a tracer for a device of the given figures, real or not. `settings` and `cache` (may be
   NULL) must outlive it. */
struct tracer *tracer_new(const struct evaluation_settings *settings,
                          const struct device_info *info, const struct image_cache *cache,
                          struct error *error);
void tracer_free(struct tracer *tracer);

/* Returns 0 for any verdict; -1 when the template or the device failed. */
int tracer_run(struct tracer *tracer, int goal, const struct genome *genome, struct trace *trace,
               struct error *error);

/* The predicted score: the geometric mean over the cases, by their weights. */
double trace_predicted_us(const struct trace *trace, const struct device_info *info);

#endif
