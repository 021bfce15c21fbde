#include "strategy/features.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

static struct feature *add_feature(struct features *features, int gene, int domain) {
    struct feature *feature = &features->rows[features->count++];
    feature->gene = gene;
    feature->domain = domain;
    feature->squared = xcalloc((size_t)domain * (size_t)domain, sizeof *feature->squared);
    return feature;
}

static void add_label_feature(struct features *features, int gene, int domain) {
    struct feature *feature = add_feature(features, gene, domain);
    for (int a = 0; a < domain; a++)
        for (int b = 0; b < domain; b++)
            feature->squared[a * domain + b] = a != b;
}

static void add_ordered_feature(struct features *features, int gene, int domain,
                                const int *positions) {
    int least = positions[0], most = positions[0];
    for (int i = 1; i < domain; i++) {
        least = positions[i] < least ? positions[i] : least;
        most = positions[i] > most ? positions[i] : most;
    }
    if (least == most)
        return;
    struct feature *feature = add_feature(features, gene, domain);
    for (int a = 0; a < domain; a++)
        for (int b = 0; b < domain; b++) {
            float distance = (float)(positions[a] - positions[b]) / (float)(most - least);
            feature->squared[a * domain + b] = distance * distance;
        }
}

static int exponent_of_two(int64_t value) {
    int twos = 0;
    for (; value != 0 && value % 2 == 0; value /= 2)
        twos++;
    return twos;
}

/* The number itself, from 0 to a million: values of a real gene may be spaced unevenly. */
static int real_position(const struct gene *gene, int index) {
    const double least = gene->reals[0], most = gene->reals[gene->count - 1];
    return most > least ? (int)lrint(1e6 * (gene->reals[index] - least) / (most - least)) : 0;
}

void features_init(struct features *features, const struct space *space) {
    *features = (struct features){0};
    for (int g = 0; g < space->gene_count; g++) {
        const struct gene *gene = &space->genes[g];
        int positions[DOMAIN_MAX], twos[DOMAIN_MAX];
        bool rising = true;
        for (int i = 0; i < gene->count; i++) {
            positions[i] = i;
            twos[i] = gene->real ? real_position(gene, i) : exponent_of_two(gene->values[i]);
            rising = rising && (i == 0 || twos[i] > twos[i - 1]) && !gene->real;
        }
        if (!gene->ordered)
            add_label_feature(features, g, gene->count);
        else
            add_ordered_feature(features, g, gene->count, positions);
        /* With three values there are only two steps: one length scale cannot separate a second
           feature from curvature. */
        if (gene->ordered && gene->count > 3 && !rising)
            add_ordered_feature(features, g, gene->count, twos);
    }
}

void features_release(struct features *features) {
    for (int i = 0; i < features->count; i++)
        free(features->rows[i].squared);
    *features = (struct features){0};
}
