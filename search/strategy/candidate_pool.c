#include "strategy/candidate_pool.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "space/breed.h"
#include "strategy/history.h"

#include <stdlib.h>

enum {
    COUNT_STEPS = 200000,      /* steps of space_count that decide whether a space is small */
    NEIGHBOUR_ATTEMPTS = 2000, /* attempts to change two genes of an elite */
    NEIGHBOURS_MAX = 300,      /* neighbours of one elite, at most */
    CHILDREN = 200,
    REFILL_MAX = CANDIDATE_POOL_MAX - 400, /* leaves room for neighbours that are added later */
    BLOCK_DRAWS = CANDIDATE_POOL_UNIFORM / UNIFORM_BLOCKS,
};

/* Some uniform draws. */
struct draw_block {
    bool drawn;
    uint64_t seed, stream, number;
    int count;
    struct genome genomes[BLOCK_DRAWS];
};

struct candidate_pool {
    const struct space *space;
    bool whole;
    struct history genomes;                   /* an insertion-ordered set; `made_by` is unused */
    struct draw_block blocks[UNIFORM_BLOCKS]; /* at the block's number modulo their number */
};

static bool add_genome(struct candidate_pool *pool, const struct genome *genome, size_t most) {
    if (pool->genomes.count >= most || history_find(&pool->genomes, genome) != NULL)
        return false;
    history_add(&pool->genomes, genome, OPERATOR_MODEL);
    return true;
}

static void add_all(struct candidate_pool *pool) {
    struct space_cursor *cursor = space_cursor_new(pool->space);
    struct genome genome;
    while (space_cursor_next(cursor, &genome))
        add_genome(pool, &genome, CANDIDATE_POOL_MAX);
    space_cursor_free(cursor);
}

struct candidate_pool *candidate_pool_new(const struct space *space) {
    struct candidate_pool *pool = xcalloc(1, sizeof *pool);
    uint64_t count;
    pool->space = space;
    pool->whole = space_count(space, COUNT_STEPS, &count) && count <= CANDIDATE_POOL_WHOLE;
    if (pool->whole)
        add_all(pool);
    return pool;
}

void candidate_pool_free(struct candidate_pool *pool) {
    if (pool == NULL)
        return;
    history_release(&pool->genomes);
    free(pool);
}

/* Changes one active gene and makes the genome canonical. Returns false if nothing changes or
   the gene is inactive. */
static bool change_gene(const struct space *space, struct genome *genome, int gene, int value) {
    if (genome->value[gene] == value || !space_active(space, genome, gene))
        return false;
    genome->value[gene] = (uint8_t)value;
    genome_canonicalise(genome, space);
    return true;
}

/* Changes one gene; each (gene, other value) pair is equally likely. */
static bool change_any_gene(const struct space *space, struct random *random,
                            struct genome *genome) {
    int changes = 0, gene = 0;
    for (int i = 0; i < space->gene_count; i++)
        changes += space->genes[i].count - 1;
    if (changes == 0)
        return false;
    int at = (int)random_below(random, (uint64_t)changes);
    for (; at >= space->genes[gene].count - 1; gene++)
        at -= space->genes[gene].count - 1;
    return change_gene(space, genome, gene, at + (at >= genome->value[gene]));
}

static void add_distant_neighbours(struct candidate_pool *pool, struct random *random,
                                   const struct genome *elite) {
    size_t most = pool->genomes.count + NEIGHBOURS_MAX;
    most = most < REFILL_MAX ? most : REFILL_MAX;
    for (int i = 0; i < NEIGHBOUR_ATTEMPTS && pool->genomes.count < most; i++) {
        struct genome genome = *elite;
        if (change_any_gene(pool->space, random, &genome) &&
            change_any_gene(pool->space, random, &genome) &&
            space_check(pool->space, &genome, NULL))
            add_genome(pool, &genome, most);
    }
}

static void add_children(struct candidate_pool *pool, struct random *random,
                         const struct genome *elites, int count) {
    for (int i = 0; i < CHILDREN && count >= 2; i++) {
        struct genome child;
        int mother = (int)random_below(random, (uint64_t)count);
        int father = (mother + 1 + (int)random_below(random, (uint64_t)count - 1)) % count;
        if (breed_cross_uniform(pool->space, random, &elites[mother], &elites[father], &child))
            add_genome(pool, &child, REFILL_MAX);
    }
}

static const struct draw_block *draw_block(struct candidate_pool *pool,
                                           const struct uniform_draws *draws, uint64_t number) {
    struct draw_block *block = &pool->blocks[number % UNIFORM_BLOCKS];
    struct random random;
    if (block->drawn && block->number == number && block->seed == draws->seed &&
        block->stream == draws->stream)
        return block;
    block->drawn = true;
    block->seed = draws->seed;
    block->stream = draws->stream;
    block->number = number;
    block->count = 0;
    random_seed(&random, draws->seed + number * UINT64_C(0x9e3779b97f4a7c15), draws->stream);
    for (int i = 0; i < BLOCK_DRAWS; i++)
        block->count += space_sample(pool->space, &random, &block->genomes[block->count]);
    return block;
}

static void add_uniform_draws(struct candidate_pool *pool, const struct uniform_draws *draws) {
    for (int b = 0; b < UNIFORM_BLOCKS; b++) {
        const struct draw_block *block = draw_block(pool, draws, draws->first + (uint64_t)b);
        for (int i = 0; i < block->count; i++)
            add_genome(pool, &block->genomes[i], REFILL_MAX);
    }
}

void candidate_pool_refill(struct candidate_pool *pool, struct random *random,
                           const struct uniform_draws *draws, const struct genome *elites,
                           int count) {
    if (pool->whole)
        return;
    history_release(&pool->genomes);
    for (int i = 0; i < count; i++)
        candidate_pool_add_neighbours(pool, &elites[i]);
    for (int i = 0; i < count; i++)
        add_distant_neighbours(pool, random, &elites[i]);
    add_children(pool, random, elites, count);
    add_uniform_draws(pool, draws);
}

void candidate_pool_add_neighbours(struct candidate_pool *pool, const struct genome *genome) {
    const struct space *space = pool->space;
    for (int gene = 0; gene < space->gene_count && !pool->whole; gene++)
        for (int value = 0; value < space->genes[gene].count; value++) {
            struct genome neighbour = *genome;
            if (change_gene(space, &neighbour, gene, value) && space_check(space, &neighbour, NULL))
                add_genome(pool, &neighbour, CANDIDATE_POOL_MAX);
        }
}

void candidate_pool_add(struct candidate_pool *pool, const struct genome *genome) {
    if (!pool->whole)
        add_genome(pool, genome, CANDIDATE_POOL_MAX);
}

int candidate_pool_count(const struct candidate_pool *pool) {
    return (int)pool->genomes.count;
}

const struct genome *candidate_pool_genome(const struct candidate_pool *pool, int index) {
    return &pool->genomes.entries[index].genome;
}
