/*
 * trace: what a genome executes on a device that need not be present, from which its latency can be
 * predicted (device/predict.h). The kernel is compiled for that device, and a few blocks of each
 * launch run on the emulated device, over inputs of the case's own size: some tenths of a second
 * per genome and case. Outputs are not verified.
 *
 *     struct tracer *tracer = tracer_new(config, &info, NULL, &error);
 *     struct trace *trace = malloc(sizeof *trace);
 *     if (tracer_run(tracer, goal, &genome, trace, &error) == 0 && trace->verdict == VERDICT_OK)
 *         latency_us = trace_predicted_us(trace, &info);
 *     free(trace);
 *     tracer_free(tracer);
 */
#ifndef EVOTILE_TRIAL_SURVEY_H
#define EVOTILE_TRIAL_SURVEY_H

#include "device/predict.h"
#include "trial/compile.h"

struct surveyor;

struct survey {
    enum verdict verdict; /* of compiling and of running the blocks */
    char reason[REASON_SIZE];
    int case_count;
    struct prediction_call calls[CASES_MAX]; /* by case of the goal */
};

/* Creates a tracer for a device of the given figures, real or not. `config` and `cache` (may be
   NULL) must outlive it. */
struct surveyor *surveyor_new(const struct config *config, const struct device_info *info,
                              const struct image_cache *cache, struct error *error);
void surveyor_free(struct surveyor *surveyor);

/* Returns 0 for any verdict; -1 when the template or the device failed. */
int surveyor_look(struct surveyor *surveyor, int goal, const struct genome *genome,
                  struct survey *survey, struct error *error);

/* The predicted score: the geometric mean over the cases. */
double survey_us(const struct survey *survey, const struct device_info *info);

#endif
