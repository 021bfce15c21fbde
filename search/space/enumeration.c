/* enumeration: walking, counting, ranking and sampling the valid genomes of a space. */
#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "space/constraint_order.h"

#include <math.h>
#include <string.h>

enum {
    SAMPLE_TRIES = 4096,
    SAMPLE_STEPS = 4000000,      /* before rejection sampling; a second */
    SAMPLE_STEPS_MAX = 20000000, /* after rejection sampling; a few seconds */
    WORST_SAMPLES = 1000,
};

/* Depth-first search over the genes in the constraint order. */
struct space_cursor {
    const struct space *space;
    int level;                             /* the deepest level that has a value; -1 at the end */
    int next[GENES_MAX], limit[GENES_MAX]; /* by level: the remaining values */
    struct genome genome;
    struct constraint_env env;
    uint64_t rank; /* next rank, in a space sealed from rows */
};

static void enter_level(struct space_cursor *cursor, int level) {
    int gene = cursor->space->order->gene_order[level];
    bool active = constraint_env_active(&cursor->env, cursor->space, gene);
    const struct gene *of = &cursor->space->genes[gene];
    cursor->next[level] = active ? 0 : of->default_index;
    cursor->limit[level] = active ? of->count : of->default_index + 1;
    cursor->level = level;
}

struct space_cursor *space_cursor_new(const struct space *space) {
    struct space_cursor *cursor = xcalloc(1, sizeof *cursor);
    cursor->space = space;
    cursor->genome = genome_default(space);
    constraint_env_init(&cursor->env, space);
    cursor->level = -1;
    if (constraint_env_level_holds(&cursor->env, space, -1))
        enter_level(cursor, 0);
    return cursor;
}

/* Advances to the next genome for which all levels hold. */
static bool advance_cursor(struct space_cursor *cursor) {
    while (cursor->level >= 0) {
        int level = cursor->level;
        int gene = cursor->space->order->gene_order[level];
        if (cursor->next[level] == cursor->limit[level]) {
            cursor->level--;
            continue;
        }
        int value = cursor->next[level]++;
        cursor->genome.value[gene] = (uint8_t)value;
        constraint_env_set(&cursor->env, cursor->space, gene, value);
        if (!constraint_env_level_holds(&cursor->env, cursor->space, level))
            continue;
        if (level + 1 == cursor->space->gene_count)
            return true;
        enter_level(cursor, level + 1);
    }
    return false;
}

bool space_cursor_next(struct space_cursor *cursor, struct genome *genome) {
    if (cursor->space->order->table)
        return space_at(cursor->space, cursor->rank++, genome);
    if (!advance_cursor(cursor))
        return false;
    *genome = cursor->genome;
    return true;
}

void space_cursor_free(struct space_cursor *cursor) {
    if (cursor == NULL)
        return;
    constraint_env_release(&cursor->env);
    free(cursor);
}

double space_raw_count(const struct space *space) {
    double product = 1;
    for (int i = 0; i < space->gene_count; i++)
        product *= space->genes[i].count;
    return product;
}

/* Builds the decision diagram with at most `steps` steps, unless it is complete or was built
   with as many before. */
static void update_mdd(const struct space *space, uint64_t steps) {
    struct constraint_order *order = space->order;
    if (order->whole || (order->mdd != NULL && order->steps >= steps))
        return;
    mdd_free(order->mdd);
    order->steps = steps;
    order->mdd = mdd_build(space, &order->steps, &order->whole);
}

/* Returns whether a short search finds all genomes; the answer does not depend on whether a
   longer search was done before. */
static bool is_small(const struct space *space) {
    update_mdd(space, SAMPLE_STEPS);
    return space->order->whole && space->order->steps <= SAMPLE_STEPS;
}

bool space_count(const struct space *space, uint64_t steps, uint64_t *count) {
    update_mdd(space, steps ? steps : UINT64_MAX);
    *count = mdd_count(space->order->mdd);
    return space->order->whole;
}

bool space_rank(const struct space *space, const struct genome *genome, uint64_t *rank) {
    return space->order->whole && mdd_rank(space->order->mdd, genome, rank);
}

bool space_nearest(const struct space *space, struct random *random, struct genome *genome) {
    if (!is_small(space) || mdd_count(space->order->mdd) == 0)
        return false;
    mdd_nearest(space->order->mdd, random_below(random, 2), genome);
    return true;
}

bool space_at(const struct space *space, uint64_t rank, struct genome *genome) {
    if (!space->order->whole || rank >= mdd_count(space->order->mdd))
        return false;
    mdd_at(space->order->mdd, rank, genome);
    return true;
}

/* Draws a raw genome gene by gene, and gives up at the first check that fails. Genomes that are
   not canonical are rejected too, so that each valid genome is equally likely. */
static bool draw_raw(struct constraint_env *env, const struct space *space, struct random *random,
                     struct genome *genome) {
    *genome = (struct genome){0};
    for (int level = 0; level < space->gene_count; level++) {
        int gene = space->order->gene_order[level];
        const struct gene *of = &space->genes[gene];
        int value = (int)random_below(random, (uint64_t)of->count);
        if (value != of->default_index && !constraint_env_active(env, space, gene))
            return false;
        constraint_env_set(env, space, gene, value);
        genome->value[gene] = (uint8_t)value;
        if (!constraint_env_level_holds(env, space, level))
            return false;
    }
    return true;
}

/* Rejection sampling with a limited number of attempts. */
static bool draw_valid(const struct space *space, struct random *random, struct genome *genome) {
    if (space->order->table)
        return false;
    struct constraint_env env = {0};
    bool drawn = false;
    constraint_env_init(&env, space);
    if (constraint_env_level_holds(&env, space, -1))
        for (int i = 0; i < SAMPLE_TRIES && !drawn; i++)
            drawn = draw_raw(&env, space, random, genome);
    constraint_env_release(&env);
    return drawn;
}

static bool draw_found(const struct space *space, struct random *random, struct genome *genome) {
    uint64_t count = mdd_count(space->order->mdd);
    if (count > 0)
        mdd_at(space->order->mdd, random_below(random, count), genome);
    return count > 0;
}

bool space_sample(const struct space *space, struct random *random, struct genome *genome) {
    if (!is_small(space)) {
        if (draw_valid(space, random, genome))
            return true;
        update_mdd(space, SAMPLE_STEPS_MAX);
    }
    return draw_found(space, random, genome);
}

/* Knuth's estimator: the product of the branching factors along a random walk down the search
   tree. Its mean is the number of leaves. */
static double probe_tree(const struct space *space, struct random *random,
                         struct constraint_env *env) {
    double leaves = 1;
    constraint_env_init(env, space);
    if (!constraint_env_level_holds(env, space, -1))
        return 0;
    for (int level = 0; level < space->gene_count; level++) {
        int gene = space->order->gene_order[level];
        const struct gene *of = &space->genes[gene];
        int valid_values[DOMAIN_MAX];
        int count = 0;
        bool active = constraint_env_active(env, space, gene);
        for (int value = 0; value < of->count; value++) {
            if (!active && value != of->default_index)
                continue;
            constraint_env_set(env, space, gene, value);
            if (constraint_env_level_holds(env, space, level))
                valid_values[count++] = value;
        }
        if (count == 0)
            return 0;
        leaves *= count;
        constraint_env_set(env, space, gene, valid_values[random_below(random, (uint64_t)count)]);
        constraint_env_level_holds(env, space, level); /* updates the derived quantities */
    }
    return leaves;
}

double space_estimate(const struct space *space, int probes, double *deviation) {
    struct random random;
    struct constraint_env env = {0};
    double sum = 0;
    double squares = 0;
    random_seed(&random, 0, 0);
    for (int i = 0; i < probes; i++) {
        double leaves = probe_tree(space, &random, &env);
        sum += leaves;
        squares += leaves * leaves;
    }
    constraint_env_release(&env);
    double mean = sum / probes;
    *deviation = sqrt(fmax(0, squares / probes - mean * mean) / (probes - 1));
    return mean;
}

/* Finds the constraint that fails for most raw genomes. */
static void find_worst_constraint(const struct space *space, struct random *random,
                                  struct problem *why) {
    int failures[CHECKS_MAX] = {0}, worst = 0;
    struct constraint_env env = {0};
    for (int i = 0; i < WORST_SAMPLES; i++) {
        struct genome genome = {0};
        for (int gene = 0; gene < space->gene_count; gene++)
            genome.value[gene] = (uint8_t)random_below(random, (uint64_t)space->genes[gene].count);
        genome_canonicalise(&genome, space);
        constraint_env_fill(&env, space, &genome);
        for (int c = 0; c < space->order->check_count; c++)
            failures[c] += constraint_env_check(&env, space, &space->order->checks[c], NULL) > 0;
    }
    constraint_env_release(&env);
    for (int c = 1; c < space->order->check_count; c++)
        if (failures[c] > failures[worst])
            worst = c;
    const struct check *check = &space->order->checks[worst];
    const char *because =
        check->constraint < 0 ? "" : space->constraints[check->constraint].because;
    why->constraint = check->constraint;
    why->environment = -1;
    snprintf(why->text, sizeof why->text, "'%.180s' fails for %d of %d genomes%s%s",
             expression_text(check->expression), failures[worst], WORST_SAMPLES,
             *because ? ": " : "", because);
}

bool space_is_empty(const struct space *space, struct problem *why) {
    struct random random;
    struct genome genome = genome_default(space);
    random_seed(&random, 0, 0);
    /* Most spaces are recognised without building a decision diagram. */
    if (space_check(space, &genome, NULL) || draw_valid(space, &random, &genome) ||
        space_sample(space, &random, &genome))
        return false;
    if (why != NULL)
        find_worst_constraint(space, &random, why);
    return true;
}
