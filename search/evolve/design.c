#include "evolve/design.h"

#include "base/error.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>

enum {
    DRAWS = 4096,
    MIDDLE_AMONG = 128, /* draws among which the medoid is chosen */
};

struct design {
    const struct space *space;
    int count, middle;
    bool begun; /* at least one genome was added */
    struct genome genomes[DRAWS];
    float places[GENES_MAX][DRAWS]; /* by gene and draw: from 0 to 1 for an ordered gene, else the
                                       value's index */
    float least[DRAWS]; /* squared distance to the nearest added genome; 0: it was added itself */
};

static float place(const struct gene *gene, int value) {
    return gene->ordered && gene->count > 1 ? (float)value / (float)(gene->count - 1)
                                            : (float)value;
}

/* Squared distances from a genome to the first `count` draws. Two different labels are as far
   apart as the ends of an ordered domain. */
static void measure(const struct design *design, const struct genome *genome, int count,
                    float distances[DRAWS]) {
    for (int i = 0; i < count; i++)
        distances[i] = 0;
    for (int g = 0; g < design->space->gene_count; g++) {
        const struct gene *gene = &design->space->genes[g];
        const float *restrict places = design->places[g];
        float *restrict sums = distances, at = place(gene, genome->value[g]);
        if (gene->ordered)
            for (int i = 0; i < count; i++)
                sums[i] += (places[i] - at) * (places[i] - at);
        else
            for (int i = 0; i < count; i++)
                sums[i] += places[i] != at;
    }
}

static int middle_of(const struct design *design) {
    int among = design->count < MIDDLE_AMONG ? design->count : MIDDLE_AMONG, middle = 0;
    float distances[DRAWS], least = INFINITY;
    for (int i = 0; i < among; i++) {
        float sum = 0;
        measure(design, &design->genomes[i], among, distances);
        for (int j = 0; j < among; j++)
            sum += distances[j];
        if (sum < least) {
            least = sum;
            middle = i;
        }
    }
    return middle;
}

static bool is_round(const struct gene *gene, int value) {
    int64_t number = gene->values[value];
    return value == 0 || value == gene->count - 1 || (number > 0 && (number & (number - 1)) == 0);
}

static int nearest_round(const struct gene *gene, int value) {
    int away = 0;
    while (!(value >= away && is_round(gene, value - away)) &&
           !(value + away < gene->count && is_round(gene, value + away)))
        away++;
    return value >= away && is_round(gene, value - away) ? value - away : value + away;
}

static void make_round(const struct space *space, struct genome *genome) {
    struct genome made = *genome;
    for (int g = 0; g < space->gene_count; g++)
        if (space->genes[g].ordered)
            made.value[g] = (uint8_t)nearest_round(&space->genes[g], made.value[g]);
    genome_canonicalise(&made, space);
    if (space_check(space, &made, NULL))
        *genome = made;
}

struct design *design_new(const struct space *space, uint64_t seed, uint64_t stream) {
    struct design *design = calloc(1, sizeof *design);
    struct random random;
    if (design == NULL)
        BUG("out of memory");
    design->space = space;
    random_seed(&random, seed, stream);
    for (int i = 0; i < DRAWS; i++) {
        struct genome *genome = &design->genomes[design->count];
        if (!space_sample(space, &random, genome))
            continue;
        make_round(space, genome);
        for (int g = 0; g < space->gene_count; g++)
            design->places[g][design->count] = place(&space->genes[g], genome->value[g]);
        design->least[design->count++] = INFINITY;
    }
    design->middle = middle_of(design);
    return design;
}

void design_free(struct design *design) {
    free(design);
}

void design_note(struct design *design, const struct genome *genome) {
    float distances[DRAWS];
    design->begun = true;
    measure(design, genome, design->count, distances);
    for (int i = 0; i < design->count; i++)
        design->least[i] = distances[i] < design->least[i] ? distances[i] : design->least[i];
}

bool design_next(const struct design *design, struct genome *genome) {
    int farthest = design->begun ? 0 : design->middle;
    if (design->count == 0)
        return false;
    for (int i = 0; i < design->count && design->begun; i++)
        if (design->least[i] > design->least[farthest])
            farthest = i;
    *genome = design->genomes[farthest];
    return design->least[farthest] > 0;
}
