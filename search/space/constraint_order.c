#include "space/constraint_order.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* The genes and dimensions that an expression depends on, also through derived quantities. */
struct dependencies {
    uint32_t genes;
    struct slots dimensions;
};

static struct dependencies find_dependencies(const struct space *space,
                                             const struct expression *expression,
                                             const struct dependencies *of_derived) {
    const struct slots *reads = expression_reads(expression);
    struct dependencies dependencies = {0};
    for (int i = 0; i < space->gene_count; i++)
        if (slots_has(reads, space->genes[i].slot))
            dependencies.genes |= UINT32_C(1) << i;
    for (int i = 0; i < space->dimension_count; i++)
        if (slots_has(reads, space->dimensions[i]))
            slots_add(&dependencies.dimensions, space->dimensions[i]);
    for (int i = 0; i < space->derived_count; i++)
        if (slots_has(reads, space->derived[i].slot)) {
            dependencies.genes |= of_derived[i].genes;
            slots_join(&dependencies.dimensions, &of_derived[i].dimensions);
        }
    return dependencies;
}

/* The dimension among `read` in which two environments differ, or -1. */
static int differing_dimension(const struct space *space, const struct slots *read, int a, int b) {
    for (int i = 0; i < space->dimension_count; i++) {
        int slot = space->dimensions[i];
        if (slots_has(read, slot) &&
            space->environments[a].values[slot] != space->environments[b].values[slot])
            return slot;
    }
    return -1;
}

static int check_conditions(const struct space *space, const struct dependencies *of_when,
                            struct error *error) {
    for (int i = 0; i < space->gene_count; i++)
        for (int e = 1; e < space->environment_count; e++) {
            int slot = differing_dimension(space, &of_when[i].dimensions, 0, e);
            if (slot >= 0)
                return error_input(error,
                                   "the condition of gene %s, '%s', depends on %s, which differs "
                                   "between cases: a genome serves all cases",
                                   space->genes[i].name, expression_text(space->genes[i].when),
                                   space->symbols.slots[slot]);
        }
    return 0;
}

/* Names a cycle of conditions among genes that all depend on each other or on such a cycle. */
static int refuse_cycle(const struct space *space, const struct dependencies *of_when,
                        uint32_t waiting, struct error *error) {
    char text[512] = "";
    size_t used = 0;
    uint32_t passed = 0;
    int gene = __builtin_ctz(waiting);
    for (; !(passed >> gene & 1); gene = __builtin_ctz(of_when[gene].genes & waiting))
        passed |= UINT32_C(1) << gene;
    const int first = gene;
    do {
        if (used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s, which reads ",
                                     space->genes[gene].name);
        gene = __builtin_ctz(of_when[gene].genes & waiting);
    } while (gene != first);
    return error_input(
        error,
        "conditions of genes form a cycle: %.400s%s: remove the condition of one, so "
        "that it is always active",
        text, space->genes[first].name);
}

/* Keeps the order of declaration as far as conditions allow. */
static int order_by_condition(struct constraint_order *order, const struct space *space,
                              const struct dependencies *of_when, struct error *error) {
    uint32_t placed = 0, all = (uint32_t)((UINT64_C(1) << space->gene_count) - 1);
    for (int count = 0; count < space->gene_count; count++) {
        int next = 0;
        while (next < space->gene_count &&
               (placed >> next & 1 || (of_when[next].genes & ~placed) != 0))
            next++;
        if (next == space->gene_count)
            return refuse_cycle(space, of_when, all & ~placed, error);
        order->by_condition[count] = next;
        placed |= UINT32_C(1) << next;
    }
    return 0;
}

static void add_distinct_environments(struct constraint_order *order, const struct space *space,
                                      const struct slots *read) {
    for (int e = 0; e < space->environment_count; e++) {
        bool known = false;
        for (int k = 0; k < order->environment_count && !known; k++)
            known = differing_dimension(space, read, order->environments[k], e) < 0;
        if (!known)
            order->environments[order->environment_count++] = (uint8_t)e;
    }
}

static void add_check(struct constraint_order *order, const struct space *space,
                      const struct expression *expression, int constraint, int slot,
                      const struct dependencies *dependencies) {
    struct check *check = &order->checks[order->check_count++];
    *check = (struct check){expression, constraint, slot, dependencies->genes, -1, 0, {0}, {0}};
    for (int e = 0; e < order->environment_count; e++) {
        int first = 0;
        while (differing_dimension(space, &dependencies->dimensions, order->environments[first],
                                   order->environments[e]) >= 0)
            first++;
        check->first_of[e] = (uint8_t)first;
        if (first == e)
            check->firsts[check->first_count++] = (uint8_t)e;
    }
}

/* Adds the genes that the conditions of these genes depend on. */
static uint32_t add_condition_genes(const struct constraint_order *order, const struct space *space,
                                    uint32_t genes, const struct dependencies *of_when) {
    for (int i = space->gene_count - 1; i >= 0; i--)
        if (genes >> order->by_condition[i] & 1)
            genes |= of_when[order->by_condition[i]].genes;
    return genes;
}

static double combinations(const struct space *space, uint32_t genes) {
    double product = 1;
    for (int i = 0; i < space->gene_count; i++)
        if (genes >> i & 1)
            product *= space->genes[i].count;
    return product;
}

static void append_genes(struct constraint_order *order, const struct space *space, uint32_t genes,
                         uint32_t *placed, int *count) {
    for (int i = 0; i < space->gene_count; i++)
        if ((genes & ~*placed) >> order->by_condition[i] & 1)
            order->gene_order[(*count)++] = order->by_condition[i];
    *placed |= genes;
}

/* Greedy: the next genes are those of the check that needs the fewest further combinations to be
   decided. Genes on which nothing depends come last, so that counting only multiplies by their
   domains. */
static void order_genes(struct constraint_order *order, const struct space *space,
                        const struct dependencies *of_when) {
    uint32_t placed = 0, conditions = 0;
    int count = 0;
    for (;;) {
        uint32_t best = 0;
        for (int i = 0; i < order->check_count; i++) {
            uint32_t open =
                add_condition_genes(order, space, order->checks[i].genes, of_when) & ~placed;
            if (open && (!best || combinations(space, open) < combinations(space, best)))
                best = open;
        }
        if (!best)
            break;
        append_genes(order, space, best, &placed, &count);
    }
    for (int i = 0; i < space->gene_count; i++)
        conditions |= of_when[i].genes;
    append_genes(order, space, add_condition_genes(order, space, conditions, of_when), &placed,
                 &count);
    order->constrained_count = count;
    append_genes(order, space, (uint32_t)((UINT64_C(1) << space->gene_count) - 1), &placed, &count);
}

static void assign_check_levels(struct constraint_order *order, const struct space *space) {
    for (int i = 0; i < order->check_count; i++)
        for (int level = 0; level < space->gene_count; level++)
            if (order->checks[i].genes >> order->gene_order[level] & 1)
                order->checks[i].level = level;
    int count = 0;
    for (int level = -1; level < space->gene_count; level++) {
        order->level_start[level + 1] = count;
        for (int i = 0; i < order->check_count; i++)
            if (order->checks[i].level == level)
                order->by_level[count++] = (uint8_t)i;
    }
    order->level_start[space->gene_count + 1] = count;
}

struct constraint_order *constraint_order_new(const struct space *space, struct error *error) {
    struct dependencies of_derived[DERIVED_MAX], of_constraint[CONSTRAINTS_MAX];
    struct dependencies of_when[GENES_MAX] = {0};
    struct slots read = {0};
    for (int i = 0; i < space->derived_count; i++) {
        of_derived[i] = (struct dependencies){0}; /* it cannot read itself */
        of_derived[i] = find_dependencies(space, space->derived[i].expression, of_derived);
        slots_join(&read, &of_derived[i].dimensions);
    }
    for (int i = 0; i < space->constraint_count; i++) {
        of_constraint[i] = find_dependencies(space, space->constraints[i].expression, of_derived);
        slots_join(&read, &of_constraint[i].dimensions);
    }
    for (int i = 0; i < space->gene_count; i++)
        if (space->genes[i].when != NULL)
            of_when[i] = find_dependencies(space, space->genes[i].when, of_derived);
    if (check_conditions(space, of_when, error) < 0)
        return NULL;

    struct constraint_order *order = xcalloc(1, sizeof *order);
    if (order_by_condition(order, space, of_when, error) < 0) {
        free(order);
        return NULL;
    }
    add_distinct_environments(order, space, &read);
    for (int i = 0; i < space->derived_count; i++)
        add_check(order, space, space->derived[i].expression, -1, space->derived[i].slot,
                  &of_derived[i]);
    for (int i = 0; i < space->constraint_count; i++)
        add_check(order, space, space->constraints[i].expression, i, -1, &of_constraint[i]);
    order_genes(order, space, of_when);
    assign_check_levels(order, space);
    return order;
}

void constraint_order_free(struct constraint_order *order) {
    if (order == NULL)
        return;
    mdd_free(order->mdd);
    free(order);
}

void constraint_env_init(struct constraint_env *env, const struct space *space) {
    const struct constraint_order *order = space->order;
    if (!space->sealed)
        BUG("a space is used before it is sealed");
    if (env->values == NULL)
        env->values = xmalloc((size_t)order->environment_count * sizeof *env->values);
    for (int e = 0; e < order->environment_count; e++)
        memcpy(env->values[e], space->environments[order->environments[e]].values,
               (size_t)space->symbols.slot_count * sizeof(int64_t));
    env->failed = (struct slots){0};
}

void constraint_env_release(struct constraint_env *env) {
    free(env->values);
    *env = (struct constraint_env){0};
}

void constraint_env_set(struct constraint_env *env, const struct space *space, int gene,
                        int index) {
    int slot = space->genes[gene].slot;
    for (int e = 0; e < space->order->environment_count; e++)
        env->values[e][slot] = space->genes[gene].values[index];
}

void constraint_env_fill(struct constraint_env *env, const struct space *space,
                         const struct genome *genome) {
    constraint_env_init(env, space);
    for (int i = 0; i < space->gene_count; i++)
        constraint_env_set(env, space, i, genome->value[i]);
}

void constraint_env_derive(struct constraint_env *env, const struct space *space) {
    for (int i = 0; i < space->derived_count; i++)
        constraint_env_check(env, space, &space->order->checks[i], NULL);
}

static bool evaluate_in_env(const struct constraint_env *env, const struct expression *expression,
                            int environment, int64_t *value) {
    return !slots_meet(&env->failed, expression_reads(expression)) &&
           expression_evaluate(expression, env->values[environment], value, NULL) == 0;
}

bool constraint_env_active(const struct constraint_env *env, const struct space *space, int gene) {
    int64_t holds;
    const struct expression *when = space->genes[gene].when;
    return when == NULL || (evaluate_in_env(env, when, 0, &holds) && holds != 0);
}

int constraint_env_check(struct constraint_env *env, const struct space *space,
                         const struct check *check, int *first) {
    bool derived = check->slot >= 0;
    int failures = 0;
    for (int i = 0; i < check->first_count; i++) {
        int e = check->firsts[i];
        int64_t value = 0;
        bool evaluated = evaluate_in_env(env, check->expression, e, &value);
        if (derived)
            env->values[e][check->slot] = value;
        if (evaluated && (derived || value != 0))
            continue;
        failures++;
        if (first != NULL) {
            *first = e;
            break;
        }
    }
    if (!derived)
        return failures;
    for (int e = 0; e < space->order->environment_count; e++)
        env->values[e][check->slot] = env->values[check->first_of[e]][check->slot];
    slots_put(&env->failed, check->slot, failures > 0);
    return failures;
}

bool constraint_env_level_holds(struct constraint_env *env, const struct space *space, int level) {
    const struct constraint_order *order = space->order;
    int first;
    for (int i = order->level_start[level + 1]; i < order->level_start[level + 2]; i++)
        if (constraint_env_check(env, space, &order->checks[order->by_level[i]], &first) > 0)
            return false;
    return true;
}
