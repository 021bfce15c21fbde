#include "strategy/design.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>

enum {
    DRAWS = 4096,
    MEDOID_AMONG = 128, /* draws among which the medoid is chosen */
};

struct design {
    const struct space *space;
    int count, medoid;
    bool has_points; /* at least one genome was added */
    struct genome genomes[DRAWS];
    float positions[GENES_MAX][DRAWS]; /* by gene and draw: from 0 to 1 for an ordered gene, else
                                       the value's index */
    float nearest[DRAWS]; /* squared distance to the nearest added genome; 0: it was added itself */
};

static float position_of(const struct gene *gene, int value) {
    return gene->ordered && gene->count > 1 ? (float)value / (float)(gene->count - 1)
                                            : (float)value;
}

/* Squared distances from a genome to the first `count` draws. Two different labels are as far
   apart as the ends of an ordered domain. */
static void measure_distances(const struct design *design, const struct genome *genome, int count,
                              float distances[DRAWS]) {
    for (int i = 0; i < count; i++)
        distances[i] = 0;
    for (int g = 0; g < design->space->gene_count; g++) {
        const struct gene *gene = &design->space->genes[g];
        const float *restrict positions = design->positions[g];
        float *restrict sums = distances, at = position_of(gene, genome->value[g]);
        if (gene->ordered)
            for (int i = 0; i < count; i++)
                sums[i] += (positions[i] - at) * (positions[i] - at);
        else
            for (int i = 0; i < count; i++)
                sums[i] += positions[i] != at;
    }
}

static int find_medoid(const struct design *design) {
    int among = design->count < MEDOID_AMONG ? design->count : MEDOID_AMONG, medoid = 0;
    float *distances = xmalloc(DRAWS * sizeof *distances), nearest = INFINITY;
    for (int i = 0; i < among; i++) {
        float sum = 0;
        measure_distances(design, &design->genomes[i], among, distances);
        for (int j = 0; j < among; j++)
            sum += distances[j];
        if (sum < nearest) {
            nearest = sum;
            medoid = i;
        }
    }
    free(distances);
    return medoid;
}

static bool is_round_value(const struct gene *gene, int value) {
    int64_t number = gene->values[value];
    return gene->real || value == 0 || value == gene->count - 1 ||
           (number > 0 && (number & (number - 1)) == 0);
}

static int nearest_round_value(const struct gene *gene, int value) {
    int away = 0;
    while (!(value >= away && is_round_value(gene, value - away)) &&
           !(value + away < gene->count && is_round_value(gene, value + away)))
        away++;
    return value >= away && is_round_value(gene, value - away) ? value - away : value + away;
}

static void round_genes(const struct space *space, struct genome *genome) {
    struct genome rounded = *genome;
    for (int g = 0; g < space->gene_count; g++)
        if (space->genes[g].ordered)
            rounded.value[g] = (uint8_t)nearest_round_value(&space->genes[g], rounded.value[g]);
    genome_canonicalise(&rounded, space);
    if (space_check(space, &rounded, NULL))
        *genome = rounded;
}

struct design *design_new(const struct space *space, uint64_t seed, uint64_t stream) {
    struct design *design = xcalloc(1, sizeof *design);
    struct random random;
    design->space = space;
    random_seed(&random, seed, stream);
    for (int i = 0; i < DRAWS; i++) {
        struct genome *genome = &design->genomes[design->count];
        if (!space_sample(space, &random, genome))
            continue;
        round_genes(space, genome);
        for (int g = 0; g < space->gene_count; g++)
            design->positions[g][design->count] = position_of(&space->genes[g], genome->value[g]);
        design->nearest[design->count++] = INFINITY;
    }
    design->medoid = find_medoid(design);
    return design;
}

void design_free(struct design *design) {
    free(design);
}

void design_add(struct design *design, const struct genome *genome) {
    float distances[DRAWS];
    design->has_points = true;
    measure_distances(design, genome, design->count, distances);
    for (int i = 0; i < design->count; i++)
        design->nearest[i] = distances[i] < design->nearest[i] ? distances[i] : design->nearest[i];
}

bool design_next(const struct design *design, struct genome *genome) {
    int farthest = design->has_points ? 0 : design->medoid;
    if (design->count == 0)
        return false;
    for (int i = 0; i < design->count && design->has_points; i++)
        if (design->nearest[i] > design->nearest[farthest])
            farthest = i;
    *genome = design->genomes[farthest];
    return design->nearest[farthest] > 0;
}
