/* Everything about all genomes of a space: walking, counting, sampling. */
#include "base/error.h"
#include "base/random.h"
#include "genome/plan.h"

#include <string.h>

enum {
    SAMPLE_TRIES = 4096,
    LIST_MAX = 1 << 20,        /* genomes: 32 MiB */
    LIST_STEPS_MAX = 20000000, /* a few seconds */
    BLAME_TRIES = 1000,
};

/* Depth-first search over the genes in the plan's order. */
struct space_cursor {
    const struct space *space;
    int depth; /* how many levels there are */
    int level; /* the deepest that has a value; -1 at the end */
    uint64_t steps;
    int next[GENES_MAX], limit[GENES_MAX]; /* of each level's values: those still to come */
    struct genome genome;
    struct bench bench;
};

static bool level_holds(struct bench *bench, const struct space *space, int level) {
    const struct plan *plan = space->plan;
    int first;
    for (int i = plan->level_start[level + 1]; i < plan->level_start[level + 2]; i++)
        if (bench_check(bench, space, &plan->checks[plan->by_level[i]], &first) > 0)
            return false;
    return true;
}

static void enter(struct space_cursor *cursor, int level) {
    int gene = cursor->space->plan->order[level];
    bool active = bench_active(&cursor->bench, cursor->space, gene);
    const struct gene *of = &cursor->space->genes[gene];
    cursor->next[level] = active ? 0 : of->default_index;
    cursor->limit[level] = active ? of->count : of->default_index + 1;
    cursor->level = level;
}

static void cursor_init(struct space_cursor *cursor, const struct space *space, int depth) {
    cursor->space = space;
    cursor->depth = depth;
    cursor->steps = 0;
    cursor->genome = genome_default(space);
    bench_init(&cursor->bench, space);
    cursor->level = -1;
    if (depth > 0 && level_holds(&cursor->bench, space, -1))
        enter(cursor, 0);
}

/* The next that holds on all levels. False at the end, or after so many steps. */
static bool cursor_advance(struct space_cursor *cursor, uint64_t steps) {
    while (cursor->level >= 0) {
        int level = cursor->level;
        int gene = cursor->space->plan->order[level];
        if (cursor->next[level] == cursor->limit[level]) {
            cursor->level--;
            continue;
        }
        if (cursor->steps == steps)
            return false;
        cursor->steps++;
        int value = cursor->next[level]++;
        cursor->genome.value[gene] = (uint8_t)value;
        bench_set(&cursor->bench, cursor->space, gene, value);
        if (!level_holds(&cursor->bench, cursor->space, level))
            continue;
        if (level + 1 == cursor->depth)
            return true;
        enter(cursor, level + 1);
    }
    return false;
}

static struct space_cursor *cursor_new(const struct space *space, int depth) {
    struct space_cursor *cursor = malloc(sizeof *cursor);
    if (!cursor)
        BUG("out of memory");
    cursor_init(cursor, space, depth);
    return cursor;
}

struct space_cursor *space_cursor_new(const struct space *space) {
    return cursor_new(space, space->gene_count);
}

bool space_cursor_next(struct space_cursor *cursor, struct genome *genome) {
    if (!cursor_advance(cursor, UINT64_MAX))
        return false;
    *genome = cursor->genome;
    return true;
}

void space_cursor_free(struct space_cursor *cursor) {
    free(cursor);
}

double space_raw_count(const struct space *space) {
    double product = 1;
    for (int i = 0; i < space->gene_count; i++)
        product *= space->genes[i].count;
    return product;
}

/* In how many ways the genes on which nothing depends can be set beside the others. */
static uint64_t free_ways(const struct space_cursor *cursor) {
    const struct space *space = cursor->space;
    uint64_t ways = 1;
    for (int level = space->plan->constrained_count; level < space->gene_count; level++) {
        int gene = space->plan->order[level];
        if (bench_active(&cursor->bench, space, gene) &&
            __builtin_mul_overflow(ways, (uint64_t)space->genes[gene].count, &ways))
            return UINT64_MAX;
    }
    return ways;
}

bool space_count(const struct space *space, uint64_t steps, uint64_t *count) {
    int depth = space->plan->constrained_count;
    struct space_cursor *cursor = cursor_new(space, depth);
    bool overflow = false;
    *count = 0;
    if (depth == 0) {
        *count = level_holds(&cursor->bench, space, -1) ? free_ways(cursor) : 0;
        overflow = *count == UINT64_MAX;
    }
    while (!overflow && cursor_advance(cursor, steps ? steps : UINT64_MAX))
        overflow = __builtin_add_overflow(*count, free_ways(cursor), count);
    bool exact = cursor->level < 0 && !overflow;
    if (overflow)
        *count = UINT64_MAX;
    free(cursor);
    return exact;
}

/* One raw genome at random, gene by gene, given up at the first check that fails. What is not
   canonical is refused too, so that each valid genome is as likely as any other. */
static bool draw(struct bench *bench, const struct space *space, struct random *random,
                 struct genome *genome) {
    *genome = (struct genome){0};
    for (int level = 0; level < space->gene_count; level++) {
        int gene = space->plan->order[level];
        const struct gene *of = &space->genes[gene];
        int value = (int)random_below(random, (uint64_t)of->count);
        if (value != of->default_index && !bench_active(bench, space, gene))
            return false;
        bench_set(bench, space, gene, value);
        genome->value[gene] = (uint8_t)value;
        if (!level_holds(bench, space, level))
            return false;
    }
    return true;
}

static void list_all(const struct space *space) {
    struct plan *plan = space->plan;
    struct space_cursor *cursor = space_cursor_new(space);
    size_t room = 0;
    while (plan->list_count < LIST_MAX && cursor_advance(cursor, LIST_STEPS_MAX)) {
        if (plan->list_count == room) {
            room = room ? 2 * room : 64;
            plan->list = realloc(plan->list, room * sizeof *plan->list);
            if (!plan->list)
                BUG("out of memory");
        }
        plan->list[plan->list_count++] = cursor->genome;
    }
    plan->listed = true;
    free(cursor);
}

bool space_sample(const struct space *space, struct random *random, struct genome *genome) {
    struct bench bench;
    bench_init(&bench, space);
    if (!level_holds(&bench, space, -1))
        return false;
    /* The list, once made, is still the second choice: what a call draws must not depend on who
       else used the space before. */
    for (int i = 0; i < SAMPLE_TRIES; i++)
        if (draw(&bench, space, random, genome))
            return true;
    if (!space->plan->listed)
        list_all(space);
    if (space->plan->list_count == 0)
        return false;
    *genome = space->plan->list[random_below(random, space->plan->list_count)];
    return true;
}

/* The constraint that fails for most raw genomes. */
static void blame(const struct space *space, struct random *random, struct problem *why) {
    int failures[CHECKS_MAX] = {0}, worst = 0;
    struct bench bench;
    for (int i = 0; i < BLAME_TRIES; i++) {
        struct genome genome = {0};
        for (int gene = 0; gene < space->gene_count; gene++)
            genome.value[gene] = (uint8_t)random_below(random, (uint64_t)space->genes[gene].count);
        genome_canonicalise(&genome, space);
        bench_fill(&bench, space, &genome);
        for (int c = 0; c < space->plan->check_count; c++)
            failures[c] += bench_check(&bench, space, &space->plan->checks[c], NULL) > 0;
    }
    for (int c = 1; c < space->plan->check_count; c++)
        if (failures[c] > failures[worst])
            worst = c;
    const struct check *check = &space->plan->checks[worst];
    const char *because =
        check->constraint < 0 ? "" : space->constraints[check->constraint].because;
    why->constraint = check->constraint;
    why->environment = -1;
    snprintf(why->text, sizeof why->text, "'%.180s' fails for %d of %d genomes%s%s",
             expression_text(check->expression), failures[worst], BLAME_TRIES, *because ? ": " : "",
             because);
}

bool space_is_empty(const struct space *space, struct problem *why) {
    struct random random;
    struct genome genome;
    random_seed(&random, 0, 0);
    if (space_sample(space, &random, &genome))
        return false;
    if (why)
        blame(space, &random, why);
    return true;
}
