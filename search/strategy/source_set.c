#include "strategy/source_set.h"

#include "base/memory.h"
#include "strategy/source_mean.h"
#include "strategy/source_model.h"
#include "strategy/surrogate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BEST_MAX = 256 }; /* genomes kept of a source */

struct set_member {
    struct source_model *model;
    struct genome best[BEST_MAX]; /* valid, the fastest first */
    int best_count;
};

struct source_set {
    int count;
    double distances[SOURCES_MAX];
    struct hash hash;
    struct set_member members[SOURCES_MAX];
};

struct ranked_source {
    const struct source *source;
    struct hash hash;
};

static struct hash hash_source(const struct source *source) {
    struct hasher *hasher = hasher_new();
    hasher_add(hasher, &source->distance, sizeof source->distance);
    hasher_add(hasher, &source->genes, sizeof source->genes);
    hasher_add(hasher, source->rows, (size_t)source->row_count * sizeof *source->rows);
    return hasher_finish(hasher);
}

static int compare_sources(const void *left, const void *right) {
    const struct ranked_source *a = left, *b = right;
    if (a->source->distance != b->source->distance)
        return a->source->distance < b->source->distance ? -1 : 1;
    if (a->source->row_count != b->source->row_count)
        return b->source->row_count - a->source->row_count;
    return memcmp(&a->hash, &b->hash, sizeof a->hash);
}

static void find_best(struct set_member *member, const struct space *space,
                      const struct source *source) {
    for (int i = 0; i < source->row_count && member->best_count < BEST_MAX; i++)
        if (isfinite(source->rows[i].us) && space_check(space, &source->rows[i].genome, NULL))
            member->best[member->best_count++] = source->rows[i].genome;
}

static void add_member(struct source_set *set, const struct space *space,
                       const struct ranked_source *ranked) {
    struct set_member *member = &set->members[set->count];
    set->distances[set->count++] = ranked->source->distance;
    set->hash.low += ranked->hash.low;
    set->hash.high += ranked->hash.high;
    member->model = source_model_new(space, ranked->source);
    find_best(member, space, ranked->source);
}

struct source_set *source_set_new(const struct space *space, const struct source *sources,
                                  int count) {
    struct ranked_source *ranked = xcalloc((size_t)count + 1, sizeof *ranked);
    struct source_set *set = NULL;
    int usable = 0;
    for (int i = 0; i < count; i++)
        if (source_is_usable(&sources[i]))
            ranked[usable++] = (struct ranked_source){&sources[i], hash_source(&sources[i])};
    if (usable > 0) {
        set = xcalloc(1, sizeof *set);
        qsort(ranked, (size_t)usable, sizeof *ranked, compare_sources);
        for (int i = 0; i < usable && i < SOURCES_MAX; i++)
            add_member(set, space, &ranked[i]);
    }
    free(ranked);
    return set;
}

void source_set_free(struct source_set *set) {
    if (set == NULL)
        return;
    for (int s = 0; s < set->count; s++)
        source_model_free(set->members[s].model);
    free(set);
}

int source_set_count(const struct source_set *set) {
    return set->count;
}

const double *source_set_distances(const struct source_set *set) {
    return set->distances;
}

struct hash source_set_hash(const struct source_set *set) {
    return set->hash;
}

void source_set_values(struct source_set *set, const struct genome *genome,
                       double values[SOURCES_MAX]) {
    for (int s = 0; s < set->count; s++)
        values[s] = source_model_value(set->members[s].model, genome);
}

static bool add_unique(struct genome *genomes, int *count, const struct genome *genome) {
    for (int i = 0; i < *count; i++)
        if (genome_equal(&genomes[i], genome))
            return false;
    genomes[(*count)++] = *genome;
    return true;
}

int source_set_best(const struct source_set *set, struct genome *genomes, int most) {
    int count = 0;
    for (int rank = 0; rank < BEST_MAX; rank++)
        for (int s = 0; s < set->count && count < most; s++)
            if (rank < set->members[s].best_count)
                add_unique(genomes, &count, &set->members[s].best[rank]);
    return count;
}

/* A genome and its mean over the sources. */
struct question {
    double mean;
    struct genome genome;
};

static int compare_questions(const void *left, const void *right) {
    const struct question *a = left, *b = right;
    if (a->mean != b->mean)
        return a->mean < b->mean ? -1 : 1;
    return memcmp(&a->genome, &b->genome, sizeof a->genome);
}

int source_set_first_questions(struct source_set *set, struct genome *genomes, int most) {
    const int count = source_set_best(set, genomes, most);
    struct question *questions = xcalloc((size_t)count + 1, sizeof *questions);
    struct source_mean mean;
    source_mean_prior(&mean, set->distances, set->count);
    for (int i = 0; i < count; i++) {
        double values[SOURCES_MAX];
        source_set_values(set, &genomes[i], values);
        questions[i] = (struct question){source_mean_at(&mean, values), genomes[i]};
    }
    qsort(questions, (size_t)count, sizeof *questions, compare_questions);
    for (int i = 0; i < count; i++)
        genomes[i] = questions[i].genome;
    free(questions);
    return count;
}

void source_set_teach_scales(const struct source_set *set, struct surrogate *surrogate,
                             double share) {
    const struct surrogate *others[SOURCES_MAX];
    for (int s = 0; s < set->count; s++)
        others[s] = source_model_surrogate(set->members[s].model);
    surrogate_learn_scales(surrogate, others, set->count, share);
}
