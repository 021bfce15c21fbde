/*
 * features: genomes as points, for a model that needs distances. An ordered gene gives its position
 * in the domain, a label gene whether two labels are equal. An ordered gene whose values are not
 * all powers of two gives a second feature, the exponent of two in the value: hardware works in
 * powers of two (warps, banks, sectors, vectors), so 96 and 160 may have more in common than either
 * has with 97 or 128, and no smooth function of the value expresses that. The second feature of a
 * gene of real numbers is the number itself, whose steps may differ.
 *
 *     struct features features;
 *     features_init(&features, space);
 *     float squared = features.rows[f].squared[a * features.rows[f].domain + b];
 *     features_release(&features);
 */
#ifndef EVOTILE_STRATEGY_FEATURES_H
#define EVOTILE_STRATEGY_FEATURES_H

#include "space/space.h"

enum { FEATURES_MAX = 2 * GENES_MAX };

struct feature {
    int gene, domain;
    float *squared; /* squared distance of any two values of the gene, from 0 to 1 */
};

struct features {
    int count;
    struct feature rows[FEATURES_MAX];
};

void features_init(struct features *features, const struct space *space);
void features_release(struct features *features);

#endif
