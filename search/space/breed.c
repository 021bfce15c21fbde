#include "space/breed.h"

#include "base/error.h"
#include "base/random.h"
#include "space/constraint_order.h"

enum { ATTEMPTS = 16, REPAIR_STEPS = 24, MUTATIONS_MAX = 3 };

static int random_below_int(struct random *random, int bound) {
    return (int)random_below(random, (uint64_t)bound);
}

/* Draws a value of the gene other than `value`. */
static int other_value(const struct gene *gene, int value, struct random *random) {
    int other = random_below_int(random, gene->count - 1);
    return other + (other >= value);
}

static int step_value(const struct gene *gene, int value, struct random *random) {
    if (!gene->ordered)
        return other_value(gene, value, random);
    bool up = value == 0 || (value + 1 < gene->count && random_below_int(random, 2));
    return up ? value + 1 : value - 1;
}

/* Repairs the child; returns false if that fails or the child equals a parent. */
static bool finish_child(const struct space *space, struct random *random,
                         const struct genome *mother, const struct genome *father,
                         struct genome *child) {
    return breed_repair(space, random, child) && !genome_equal(child, mother) &&
           !genome_equal(child, father);
}

static bool mutate_genes(const struct space *space, struct random *random,
                         const struct genome *parent, struct genome *child,
                         int (*change)(const struct gene *gene, int value, struct random *random)) {
    int genes[GENES_MAX], count = 0;
    for (int i = 0; i < space->gene_count; i++)
        if (space->genes[i].count > 1 && space_active(space, parent, i))
            genes[count++] = i;
    for (int attempt = 0; count > 0 && attempt < ATTEMPTS; attempt++) {
        *child = *parent;
        /* The same gene may be drawn twice: two steps are a valid mutation. */
        for (int changes = 1 + random_below_int(random, MUTATIONS_MAX); changes > 0; changes--) {
            int gene = genes[random_below_int(random, count)];
            child->value[gene] = (uint8_t)change(&space->genes[gene], child->value[gene], random);
        }
        if (finish_child(space, random, parent, parent, child))
            return true;
    }
    return false;
}

bool breed_mutate_step(const struct space *space, struct random *random,
                       const struct genome *mother, const struct genome *father,
                       struct genome *child) {
    (void)father;
    return mutate_genes(space, random, mother, child, step_value);
}

bool breed_mutate_reset(const struct space *space, struct random *random,
                        const struct genome *mother, const struct genome *father,
                        struct genome *child) {
    (void)father;
    return mutate_genes(space, random, mother, child, other_value);
}

bool breed_cross_uniform(const struct space *space, struct random *random,
                         const struct genome *mother, const struct genome *father,
                         struct genome *child) {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        *child = *mother;
        for (int i = 0; i < space->gene_count; i++)
            if (random_below_int(random, 2))
                child->value[i] = father->value[i];
        if (finish_child(space, random, mother, father, child))
            return true;
    }
    return false;
}

bool breed_cross_block(const struct space *space, struct random *random,
                       const struct genome *mother, const struct genome *father,
                       struct genome *child) {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        int first = random_below_int(random, space->gene_count);
        int end = first + 1 + random_below_int(random, space->gene_count - first);
        *child = *mother;
        for (int i = first; i < end; i++)
            child->value[i] = father->value[i];
        if (finish_child(space, random, mother, father, child))
            return true;
    }
    return false;
}

/* Moves to the best neighbour that changes one of `genes`, with ties broken at random. Returns
   the number of its failures, or -1 if there is no neighbour. */
static int repair_step(const struct space *space, struct random *random, struct genome *genome,
                       uint32_t genes) {
    struct genome best = *genome;
    int best_failures = -1, equals = 0;
    for (int i = 0; i < space->gene_count; i++) {
        for (int value = 0; (genes >> i & 1) && value < space->genes[i].count; value++) {
            struct genome candidate = *genome;
            candidate.value[i] = (uint8_t)value;
            genome_canonicalise(&candidate, space);
            if (genome_equal(&candidate, genome))
                continue;
            int failures = space_failures(space, &candidate, NULL);
            if (best_failures < 0 || failures < best_failures)
                equals = 0;
            else if (failures > best_failures)
                continue;
            best_failures = failures;
            if (random_below_int(random, ++equals) == 0)
                best = candidate;
        }
    }
    *genome = best;
    return best_failures;
}

bool breed_repair(const struct space *space, struct random *random, struct genome *genome) {
    genome_canonicalise(genome, space);
    uint32_t causes;
    int failures = space_failures(space, genome, &causes);
    /* In a space of rows the failure count has no gradient: a single step must succeed. */
    int steps = space->order->table ? 1 : REPAIR_STEPS;
    for (int i = 0; i < steps && failures > 0; i++) {
        /* If no gene among the causes can change (a condition keeps it inactive), any gene may
           be the way out. */
        if (repair_step(space, random, genome, causes) < 0 &&
            repair_step(space, random, genome, UINT32_MAX) < 0)
            return false;
        failures = space_failures(space, genome, &causes);
    }
    return failures == 0 || space_nearest(space, random, genome);
}
