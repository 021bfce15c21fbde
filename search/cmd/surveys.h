/*
 * surveys: what many genomes would execute (trial/survey.h), worked out by several processes at
 * once where no GPU is needed.
 *
 *     struct survey_order orders[] = {{.goal = 0, .genome = genome}, ...};
 *     struct surveys *surveys = surveys_take(config, &info, orders, count, jobs, &error);
 *     const struct survey *survey = surveys_of(surveys, 0);     // NULL: it failed
 *     surveys_free(surveys);
 */
#ifndef EVOTILE_CMD_SURVEYS_H
#define EVOTILE_CMD_SURVEYS_H

#include "trial/survey.h"

struct surveys;

struct survey_order {
    int goal;
    struct genome genome;
};

/* For the device of those figures, in `jobs` processes. Says from time to time on standard error
   how far it is. NULL with `error` where the template, the toolkit or the device is at fault. */
struct surveys *surveys_take(const struct config *config, const struct device_info *info,
                             const struct survey_order *orders, int count, int jobs,
                             struct error *error);
void surveys_free(struct surveys *surveys);

/* Of an order; NULL where the genome did not compile, or its blocks did not run. */
const struct survey *surveys_of(const struct surveys *surveys, int order);

#endif
