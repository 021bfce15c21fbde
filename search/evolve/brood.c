#include "evolve/brood.h"

#include "base/error.h"
#include "base/random.h"
#include "evolve/seen.h"
#include "genome/breed.h"

#include <stdlib.h>

enum {
    COUNT_STEPS = 200000, /* steps of space_count that decide whether a space is small */
    NEAR_TRIES = 2000,    /* attempts to change two genes of an elite */
    NEAR_MOST = 300,      /* neighbours of one elite, at most */
    CHILDREN = 200,
    REFILL_MOST = BROOD_MAX - 400, /* leaves room for neighbours that are added later */
};

struct brood {
    const struct space *space;
    bool whole;
    struct seen genomes; /* an insertion-ordered set; `made_by` is unused */
};

static bool add(struct brood *brood, const struct genome *genome, size_t most) {
    if (brood->genomes.count >= most || seen_find(&brood->genomes, genome) != NULL)
        return false;
    seen_add(&brood->genomes, genome, OPERATOR_MODEL);
    return true;
}

static void take_all(struct brood *brood) {
    struct space_cursor *cursor = space_cursor_new(brood->space);
    struct genome genome;
    while (space_cursor_next(cursor, &genome))
        add(brood, &genome, BROOD_MAX);
    space_cursor_free(cursor);
}

struct brood *brood_new(const struct space *space) {
    struct brood *brood = calloc(1, sizeof *brood);
    uint64_t count;
    if (brood == NULL)
        BUG("out of memory");
    brood->space = space;
    brood->whole = space_count(space, COUNT_STEPS, &count) && count <= BROOD_WHOLE;
    if (brood->whole)
        take_all(brood);
    return brood;
}

void brood_free(struct brood *brood) {
    if (brood == NULL)
        return;
    seen_release(&brood->genomes);
    free(brood);
}

/* Changes one active gene and makes the genome canonical. Returns false if nothing changes or
   the gene is inactive. */
static bool change(const struct space *space, struct genome *genome, int gene, int value) {
    if (genome->value[gene] == value || !space_active(space, genome, gene))
        return false;
    genome->value[gene] = (uint8_t)value;
    genome_canonicalise(genome, space);
    return true;
}

/* Changes one gene; each (gene, other value) pair is equally likely. */
static bool change_any(const struct space *space, struct random *random, struct genome *genome) {
    int changes = 0, gene = 0;
    for (int i = 0; i < space->gene_count; i++)
        changes += space->genes[i].count - 1;
    if (changes == 0)
        return false;
    int at = (int)random_below(random, (uint64_t)changes);
    for (; at >= space->genes[gene].count - 1; gene++)
        at -= space->genes[gene].count - 1;
    return change(space, genome, gene, at + (at >= genome->value[gene]));
}

static void add_near(struct brood *brood, struct random *random, const struct genome *elite) {
    size_t most = brood->genomes.count + NEAR_MOST;
    most = most < REFILL_MOST ? most : REFILL_MOST;
    for (int i = 0; i < NEAR_TRIES && brood->genomes.count < most; i++) {
        struct genome genome = *elite;
        if (change_any(brood->space, random, &genome) &&
            change_any(brood->space, random, &genome) && space_check(brood->space, &genome, NULL))
            add(brood, &genome, most);
    }
}

static void add_children(struct brood *brood, struct random *random, const struct genome *elites,
                         int count) {
    for (int i = 0; i < CHILDREN && count >= 2; i++) {
        struct genome child;
        int mother = (int)random_below(random, (uint64_t)count);
        int father = (mother + 1 + (int)random_below(random, (uint64_t)count - 1)) % count;
        if (breed_cross_uniform(brood->space, random, &elites[mother], &elites[father], &child))
            add(brood, &child, REFILL_MOST);
    }
}

void brood_refill(struct brood *brood, struct random *random, const struct genome *elites,
                  int count) {
    struct genome genome;
    if (brood->whole)
        return;
    seen_release(&brood->genomes);
    for (int i = 0; i < count; i++)
        brood_add_neighbours(brood, &elites[i]);
    for (int i = 0; i < count; i++)
        add_near(brood, random, &elites[i]);
    add_children(brood, random, elites, count);
    for (int i = 0; i < BROOD_UNIFORM; i++)
        if (space_sample(brood->space, random, &genome))
            add(brood, &genome, REFILL_MOST);
}

void brood_add_neighbours(struct brood *brood, const struct genome *genome) {
    const struct space *space = brood->space;
    for (int gene = 0; gene < space->gene_count && !brood->whole; gene++)
        for (int value = 0; value < space->genes[gene].count; value++) {
            struct genome neighbour = *genome;
            if (change(space, &neighbour, gene, value) && space_check(space, &neighbour, NULL))
                add(brood, &neighbour, BROOD_MAX);
        }
}

int brood_count(const struct brood *brood) {
    return (int)brood->genomes.count;
}

const struct genome *brood_genome(const struct brood *brood, int index) {
    return &brood->genomes.entries[index].genome;
}
