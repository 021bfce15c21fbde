/*
 * features: genomes as points, for a model that needs distances. Each feature is one coordinate,
 * from 0 to 1 over the space.
 * An ordered gene gives its position in the domain; a label gene its index, of which only the
 * equality counts.
 * Numbers in unequal ratios also give their logarithm: the effect of a size is often one of its
 * ratio, and no length scale turns positions into logarithms.
 * Numbers that are not all powers of two also give the exponent of two: hardware works in powers of
 * two (warps, banks, sectors, vectors), so 96 and 160 may have more in common than either has with
 * 97 or 128, and no smooth function of the value expresses that.
 * Two genes of numbers give the logarithm of their product: the threads of a block and the elements
 * of a tile are products, and a limit on one lies across both genes.
 * A gene of real numbers also gives the number itself, whose steps may differ.
 * A gene of three values or fewer gives one feature: with two steps, one length scale cannot
 * separate a second feature from curvature.
 *
 *     struct features features;
 *     float points[FEATURES_MAX];
 *     features_init(&features, space);
 *     features_locate(&features, &genome, points, 1);
 *     features_release(&features);
 */
#ifndef EVOTILE_STRATEGY_FEATURES_H
#define EVOTILE_STRATEGY_FEATURES_H

#include "space/space.h"

enum {
    PAIRED_GENES_MAX = 6, /* genes whose products are features: those with the most values */
    FEATURES_MAX = 3 * GENES_MAX + PAIRED_GENES_MAX * (PAIRED_GENES_MAX - 1) / 2,
};

/* A coordinate is the sum of one number from each of these tables, by the gene's value. */
struct feature {
    bool label; /* different coordinates are at distance 1 */
    int gene_count, genes[2];
    float *positions[2];
};

struct features {
    int count;
    struct feature rows[FEATURES_MAX];
};

void features_init(struct features *features, const struct space *space);
void features_release(struct features *features);

/* Writes the coordinates of a genome to points[f * stride]. */
void features_locate(const struct features *features, const struct genome *genome, float *points,
                     int stride);

/* Adds weight * d * d to `squared`, where d are the distances of `count` coordinates from `at`. */
void features_add_squared(const struct feature *feature, const float *restrict coordinates,
                          float at, float weight, int count, float *restrict squared);

#endif
