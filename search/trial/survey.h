/*
 * survey: what a genome executes on a device that need not be here, from which its latency can be
 * predicted (device/predict.h): the kernel is compiled for it, and a few blocks of each launch run
 * on the emulated device, over inputs of the case's own size. Some tenths of a second a genome and
 * case. It does not look at what they computed, and judges nothing.
 *
 *     struct surveyor *surveyor = surveyor_new(config, &info, NULL, &error);
 *     struct survey *survey = malloc(sizeof *survey);
 *     if (surveyor_look(surveyor, goal, &genome, survey, &error) == 0 &&
 *         survey->verdict == VERDICT_OK)
 *         latency_us = survey_us(survey, &info);
 *     surveyor_free(surveyor);
 */
#ifndef EVOTILE_TRIAL_SURVEY_H
#define EVOTILE_TRIAL_SURVEY_H

#include "device/predict.h"
#include "trial/compile.h"

struct surveyor;

struct survey {
    enum verdict verdict; /* of compiling, and of running those blocks */
    char reason[REASON_SIZE];
    int case_count;
    struct prediction_call calls[CASES_MAX]; /* by case of the goal */
};

/* For the device of those figures, real or not. `config` and `cache` (may be NULL) outlive it. */
struct surveyor *surveyor_new(const struct config *config, const struct device_info *info,
                              const struct image_cache *cache, struct error *error);
void surveyor_free(struct surveyor *surveyor);

/* 0, whatever the verdict; -1 where the template or the device is at fault. */
int surveyor_look(struct surveyor *surveyor, int goal, const struct genome *genome,
                  struct survey *survey, struct error *error);

/* The geometric mean over its cases, as a score is one. */
double survey_us(const struct survey *survey, const struct device_info *info);

#endif
