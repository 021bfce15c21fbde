/*
 * regret: how much slower the kernels of a dispatcher's choice are than the fastest ones.
 *
 *     double *ratios;                                    // time of the choice / least time, 1 or
 *     struct regret regret;                              // more, of shapes that fitted no tree
 *     regret_compute(&regret, ratios, count, unserved, seed);
 *
 * The intervals of the median and of the 95th percentile are those of the percentile bootstrap
 * (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993), at 95 %. A bootstrap says
 * nothing of a maximum: what is known of the worst case is that, at 95 %, at most a share
 * 1 - 0.05^(1 / count) of the shapes drawn in the same way are worse.
 */
#ifndef EVOTILE_DISPATCH_REGRET_H
#define EVOTILE_DISPATCH_REGRET_H

#include "base/json.h"

#include <stdint.h>

struct regret {
    int count;    /* shapes; 0: the other figures are 0 */
    int unserved; /* further shapes, where a kernel fits and the dispatcher has none */
    double median, median_low, median_high, p95, p95_low, p95_high, worst; /* ratios, from 1 */
    int worst_case;                                                        /* index of the worst */
    double worse_share; /* of shapes that may be worse than the worst one */
};

void regret_compute(struct regret *regret, const double *ratios, int count, int unserved,
                    uint64_t seed);
/* {"shapes": 20, "unserved": 0, "median": 1.01, "median_low": ...}. */
cJSON *regret_json(const struct regret *regret);
/* Reads that. Errors are one line with file, line and path. */
int regret_read(struct regret *regret, const struct json *object, struct error *error);

#endif
