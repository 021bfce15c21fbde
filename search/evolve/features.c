#include "evolve/features.h"

#include "base/error.h"

#include <stdlib.h>

static struct feature *add(struct features *features, int gene, int domain) {
    struct feature *feature = &features->rows[features->count++];
    feature->gene = gene;
    feature->domain = domain;
    feature->squared = calloc((size_t)domain * (size_t)domain, sizeof *feature->squared);
    if (feature->squared == NULL)
        BUG("out of memory");
    return feature;
}

static void add_labels(struct features *features, int gene, int domain) {
    struct feature *feature = add(features, gene, domain);
    for (int a = 0; a < domain; a++)
        for (int b = 0; b < domain; b++)
            feature->squared[a * domain + b] = a != b;
}

static void add_places(struct features *features, int gene, int domain, const int *places) {
    int least = places[0], most = places[0];
    for (int i = 1; i < domain; i++) {
        least = places[i] < least ? places[i] : least;
        most = places[i] > most ? places[i] : most;
    }
    if (least == most)
        return;
    struct feature *feature = add(features, gene, domain);
    for (int a = 0; a < domain; a++)
        for (int b = 0; b < domain; b++) {
            float distance = (float)(places[a] - places[b]) / (float)(most - least);
            feature->squared[a * domain + b] = distance * distance;
        }
}

static int twos_in(int64_t value) {
    int twos = 0;
    for (; value != 0 && value % 2 == 0; value /= 2)
        twos++;
    return twos;
}

void features_init(struct features *features, const struct space *space) {
    *features = (struct features){0};
    for (int g = 0; g < space->gene_count; g++) {
        const struct gene *gene = &space->genes[g];
        int places[DOMAIN_MAX], twos[DOMAIN_MAX];
        bool rising = true;
        for (int i = 0; i < gene->count; i++) {
            places[i] = i;
            twos[i] = twos_in(gene->values[i]);
            rising = rising && (i == 0 || twos[i] > twos[i - 1]);
        }
        if (!gene->ordered)
            add_labels(features, g, gene->count);
        else
            add_places(features, g, gene->count, places);
        /* With three values there are only two steps: one length scale cannot separate a second
           feature from curvature. */
        if (gene->ordered && gene->count > 3 && !rising)
            add_places(features, g, gene->count, twos);
    }
}

void features_release(struct features *features) {
    for (int i = 0; i < features->count; i++)
        free(features->rows[i].squared);
    *features = (struct features){0};
}
