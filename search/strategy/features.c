#include "strategy/features.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

enum { VALUES_OF_ONE_FEATURE = 3 };

static struct feature *add_feature(struct features *features) {
    struct feature *feature = &features->rows[features->count++];
    *feature = (struct feature){0};
    return feature;
}

static void add_table(struct feature *feature, int gene, const double *numbers, int count,
                      double least, double range) {
    float *positions = xcalloc((size_t)count, sizeof *positions);
    for (int i = 0; i < count; i++)
        positions[i] = (float)((numbers[i] - least) / range);
    feature->genes[feature->gene_count] = gene;
    feature->positions[feature->gene_count++] = positions;
}

static double least_of(const double *numbers, int count) {
    double least = numbers[0];
    for (int i = 1; i < count; i++)
        least = fmin(least, numbers[i]);
    return least;
}

static double range_of(const double *numbers, int count) {
    double most = numbers[0];
    for (int i = 1; i < count; i++)
        most = fmax(most, numbers[i]);
    return most - least_of(numbers, count);
}

/* Adds the feature unless it is the position over again. */
static void add_numbers(struct features *features, int gene, const double *numbers, int count) {
    double least = least_of(numbers, count), range = range_of(numbers, count);
    bool same = numbers[0] == least;
    for (int i = 0; i < count && range > 0; i++)
        same = same && fabs((numbers[i] - least) / range - (double)i / (count - 1)) < 1e-6;
    if (range > 0 && !same)
        add_table(add_feature(features), gene, numbers, count, least, range);
}

static void add_position(struct features *features, int gene, int count, bool label) {
    double positions[DOMAIN_MAX];
    for (int i = 0; i < count; i++)
        positions[i] = i;
    if (count < 2)
        return;
    struct feature *feature = add_feature(features);
    feature->label = label;
    add_table(feature, gene, positions, count, 0, label ? 1 : count - 1);
}

static int exponent_of_two(int64_t value) {
    int twos = 0;
    for (; value != 0 && value % 2 == 0; value /= 2)
        twos++;
    return twos;
}

static bool has_logarithms(const struct gene *gene) {
    bool positive = gene->ordered && !gene->real && gene->count > VALUES_OF_ONE_FEATURE;
    for (int i = 0; i < gene->count; i++)
        positive = positive && gene->values[i] > 0;
    return positive;
}

static void take_logarithms(const struct gene *gene, double numbers[DOMAIN_MAX]) {
    for (int i = 0; i < gene->count; i++)
        numbers[i] = log2((double)gene->values[i]);
}

static void add_gene(struct features *features, const struct gene *gene, int g) {
    double numbers[DOMAIN_MAX];
    bool rising = true;
    add_position(features, g, gene->count, !gene->ordered);
    if (!gene->ordered || gene->count <= VALUES_OF_ONE_FEATURE)
        return;
    if (gene->real) {
        add_numbers(features, g, gene->reals, gene->count);
        return;
    }
    if (has_logarithms(gene)) {
        take_logarithms(gene, numbers);
        add_numbers(features, g, numbers, gene->count);
    }
    for (int i = 0; i < gene->count; i++) {
        numbers[i] = exponent_of_two(gene->values[i]);
        rising = rising && (i == 0 || numbers[i] > numbers[i - 1]);
    }
    if (!rising)
        add_numbers(features, g, numbers, gene->count);
}

/* Lists, in their order, the genes with the most values among those that have logarithms. */
static int find_paired_genes(const struct space *space, int genes[PAIRED_GENES_MAX]) {
    bool paired[GENES_MAX] = {0};
    int count = 0;
    for (int i = 0; i < PAIRED_GENES_MAX; i++) {
        int most = -1;
        for (int g = 0; g < space->gene_count; g++)
            if (!paired[g] && has_logarithms(&space->genes[g]) &&
                (most < 0 || space->genes[g].count > space->genes[most].count))
                most = g;
        if (most >= 0)
            paired[most] = true;
    }
    for (int g = 0; g < space->gene_count; g++)
        if (paired[g])
            genes[count++] = g;
    return count;
}

static void add_product(struct features *features, const struct space *space, int a, int b) {
    double numbers[2][DOMAIN_MAX], range = 0;
    const int genes[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        take_logarithms(&space->genes[genes[i]], numbers[i]);
        range += range_of(numbers[i], space->genes[genes[i]].count);
    }
    struct feature *feature = add_feature(features);
    for (int i = 0; i < 2; i++) {
        int count = space->genes[genes[i]].count;
        add_table(feature, genes[i], numbers[i], count, least_of(numbers[i], count), range);
    }
}

void features_init(struct features *features, const struct space *space) {
    int paired[PAIRED_GENES_MAX];
    *features = (struct features){0};
    for (int g = 0; g < space->gene_count; g++)
        add_gene(features, &space->genes[g], g);
    int count = find_paired_genes(space, paired);
    for (int a = 0; a < count; a++)
        for (int b = 0; b < a; b++)
            add_product(features, space, paired[b], paired[a]);
}

void features_release(struct features *features) {
    for (int f = 0; f < features->count; f++)
        for (int i = 0; i < features->rows[f].gene_count; i++)
            free(features->rows[f].positions[i]);
    *features = (struct features){0};
}

void features_locate(const struct features *features, const struct genome *genome, float *points,
                     int stride) {
    for (int f = 0; f < features->count; f++) {
        const struct feature *feature = &features->rows[f];
        float sum = 0;
        for (int i = 0; i < feature->gene_count; i++)
            sum += feature->positions[i][genome->value[feature->genes[i]]];
        points[(size_t)f * (size_t)stride] = sum;
    }
}

void features_add_squared(const struct feature *feature, const float *restrict coordinates,
                          float at, float weight, int count, float *restrict squared) {
    if (feature->label)
        for (int i = 0; i < count; i++)
            squared[i] += coordinates[i] != at ? weight : 0;
    else
        for (int i = 0; i < count; i++) {
            float distance = coordinates[i] - at;
            squared[i] += weight * (distance * distance);
        }
}
