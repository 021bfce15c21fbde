#include "genome/plan.h"

#include "base/error.h"

#include <string.h>

/* The genes and dimensions that an expression depends on, also through derived quantities. */
struct reach {
    uint32_t genes;
    struct slots dimensions;
};

static struct reach reach_of(const struct space *space, const struct expression *expression,
                             const struct reach *of_derived) {
    const struct slots *reads = expression_reads(expression);
    struct reach reach = {0};
    for (int i = 0; i < space->gene_count; i++)
        if (slots_has(reads, space->genes[i].slot))
            reach.genes |= UINT32_C(1) << i;
    for (int i = 0; i < space->dimension_count; i++)
        if (slots_has(reads, space->dimensions[i]))
            slots_add(&reach.dimensions, space->dimensions[i]);
    for (int i = 0; i < space->derived_count; i++)
        if (slots_has(reads, space->derived[i].slot)) {
            reach.genes |= of_derived[i].genes;
            slots_join(&reach.dimensions, &of_derived[i].dimensions);
        }
    return reach;
}

/* The dimension among `read` in which two environments differ, or -1. */
static int difference(const struct space *space, const struct slots *read, int a, int b) {
    for (int i = 0; i < space->dimension_count; i++) {
        int slot = space->dimensions[i];
        if (slots_has(read, slot) &&
            space->environments[a].values[slot] != space->environments[b].values[slot])
            return slot;
    }
    return -1;
}

static int check_conditions(const struct space *space, const struct reach *of_when,
                            struct error *error) {
    for (int i = 0; i < space->gene_count; i++)
        for (int e = 1; e < space->environment_count; e++) {
            int slot = difference(space, &of_when[i].dimensions, 0, e);
            if (slot >= 0)
                return error_input(error,
                                   "the condition of gene %s, '%s', depends on %s, which differs "
                                   "between cases: a genome serves all cases",
                                   space->genes[i].name, expression_text(space->genes[i].when),
                                   space->scope.slots[slot]);
        }
    return 0;
}

static void keep_different_environments(struct plan *plan, const struct space *space,
                                        const struct slots *read) {
    for (int e = 0; e < space->environment_count; e++) {
        bool known = false;
        for (int k = 0; k < plan->environment_count && !known; k++)
            known = difference(space, read, plan->environments[k], e) < 0;
        if (!known)
            plan->environments[plan->environment_count++] = (uint8_t)e;
    }
}

static void add_check(struct plan *plan, const struct space *space,
                      const struct expression *expression, int constraint, int slot,
                      const struct reach *reach) {
    struct check *check = &plan->checks[plan->check_count++];
    *check = (struct check){expression, constraint, slot, reach->genes, -1, 0, {0}, {0}};
    for (int e = 0; e < plan->environment_count; e++) {
        int first = 0;
        while (difference(space, &reach->dimensions, plan->environments[first],
                          plan->environments[e]) >= 0)
            first++;
        check->first_of[e] = (uint8_t)first;
        if (first == e)
            check->firsts[check->first_count++] = (uint8_t)e;
    }
}

/* Adds the genes that the conditions of these genes depend on. */
static uint32_t with_conditions(const struct space *space, uint32_t genes,
                                const struct reach *of_when) {
    for (int i = space->gene_count - 1; i >= 0; i--) /* conditions read earlier genes */
        if (genes >> i & 1)
            genes |= of_when[i].genes;
    return genes;
}

static double combinations(const struct space *space, uint32_t genes) {
    double product = 1;
    for (int i = 0; i < space->gene_count; i++)
        if (genes >> i & 1)
            product *= space->genes[i].count;
    return product;
}

static void place(struct plan *plan, uint32_t genes, uint32_t *placed, int *count) {
    for (int i = 0; i < GENES_MAX; i++)
        if ((genes & ~*placed) >> i & 1)
            plan->order[(*count)++] = i;
    *placed |= genes;
}

/* Greedy: the next genes are those of the check that needs the fewest further combinations to be
   decided. Genes on which nothing depends come last, so that counting only multiplies by their
   domains. */
static void order_genes(struct plan *plan, const struct space *space, const struct reach *of_when) {
    uint32_t placed = 0, conditions = 0;
    int count = 0;
    for (;;) {
        uint32_t best = 0;
        for (int i = 0; i < plan->check_count; i++) {
            uint32_t open = with_conditions(space, plan->checks[i].genes, of_when) & ~placed;
            if (open && (!best || combinations(space, open) < combinations(space, best)))
                best = open;
        }
        if (!best)
            break;
        place(plan, best, &placed, &count);
    }
    for (int i = 0; i < space->gene_count; i++)
        conditions |= of_when[i].genes;
    place(plan, with_conditions(space, conditions, of_when), &placed, &count);
    plan->constrained_count = count;
    place(plan, (uint32_t)((UINT64_C(1) << space->gene_count) - 1), &placed, &count);
}

static void place_checks(struct plan *plan, const struct space *space) {
    for (int i = 0; i < plan->check_count; i++)
        for (int level = 0; level < space->gene_count; level++)
            if (plan->checks[i].genes >> plan->order[level] & 1)
                plan->checks[i].level = level;
    int count = 0;
    for (int level = -1; level < space->gene_count; level++) {
        plan->level_start[level + 1] = count;
        for (int i = 0; i < plan->check_count; i++)
            if (plan->checks[i].level == level)
                plan->by_level[count++] = (uint8_t)i;
    }
    plan->level_start[space->gene_count + 1] = count;
}

struct plan *plan_new(const struct space *space, struct error *error) {
    struct reach of_derived[DERIVED_MAX], of_constraint[CONSTRAINTS_MAX];
    struct reach of_when[GENES_MAX] = {0};
    struct slots read = {0};
    for (int i = 0; i < space->derived_count; i++) {
        of_derived[i] = (struct reach){0}; /* it cannot read itself */
        of_derived[i] = reach_of(space, space->derived[i].expression, of_derived);
        slots_join(&read, &of_derived[i].dimensions);
    }
    for (int i = 0; i < space->constraint_count; i++) {
        of_constraint[i] = reach_of(space, space->constraints[i].expression, of_derived);
        slots_join(&read, &of_constraint[i].dimensions);
    }
    for (int i = 0; i < space->gene_count; i++)
        if (space->genes[i].when != NULL)
            of_when[i] = reach_of(space, space->genes[i].when, of_derived);
    if (check_conditions(space, of_when, error) < 0)
        return NULL;

    struct plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL)
        BUG("out of memory");
    keep_different_environments(plan, space, &read);
    for (int i = 0; i < space->derived_count; i++)
        add_check(plan, space, space->derived[i].expression, -1, space->derived[i].slot,
                  &of_derived[i]);
    for (int i = 0; i < space->constraint_count; i++)
        add_check(plan, space, space->constraints[i].expression, i, -1, &of_constraint[i]);
    order_genes(plan, space, of_when);
    place_checks(plan, space);
    return plan;
}

void plan_free(struct plan *plan) {
    if (plan == NULL)
        return;
    diagram_free(plan->diagram);
    free(plan);
}

void bench_init(struct bench *bench, const struct space *space) {
    const struct plan *plan = space->plan;
    if (!space->sealed)
        BUG("a space is used before it is sealed");
    for (int e = 0; e < plan->environment_count; e++)
        memcpy(bench->values[e], space->environments[plan->environments[e]].values,
               (size_t)space->scope.slot_count * sizeof(int64_t));
    bench->failed = (struct slots){0};
}

void bench_set(struct bench *bench, const struct space *space, int gene, int index) {
    int slot = space->genes[gene].slot;
    for (int e = 0; e < space->plan->environment_count; e++)
        bench->values[e][slot] = space->genes[gene].values[index];
}

void bench_fill(struct bench *bench, const struct space *space, const struct genome *genome) {
    bench_init(bench, space);
    for (int i = 0; i < space->gene_count; i++)
        bench_set(bench, space, i, genome->value[i]);
}

void bench_derive(struct bench *bench, const struct space *space) {
    for (int i = 0; i < space->derived_count; i++)
        bench_check(bench, space, &space->plan->checks[i], NULL);
}

static bool evaluate(const struct bench *bench, const struct expression *expression,
                     int environment, int64_t *value) {
    return !slots_meet(&bench->failed, expression_reads(expression)) &&
           expression_evaluate(expression, bench->values[environment], value, NULL) == 0;
}

bool bench_active(const struct bench *bench, const struct space *space, int gene) {
    int64_t holds;
    const struct expression *when = space->genes[gene].when;
    return when == NULL || (evaluate(bench, when, 0, &holds) && holds != 0);
}

int bench_check(struct bench *bench, const struct space *space, const struct check *check,
                int *first) {
    bool derived = check->slot >= 0;
    int failures = 0;
    for (int i = 0; i < check->first_count; i++) {
        int e = check->firsts[i];
        int64_t value = 0;
        bool evaluated = evaluate(bench, check->expression, e, &value);
        if (derived)
            bench->values[e][check->slot] = value;
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
    for (int e = 0; e < space->plan->environment_count; e++)
        bench->values[e][check->slot] = bench->values[check->first_of[e]][check->slot];
    slots_put(&bench->failed, check->slot, failures > 0);
    return failures;
}

bool bench_level_holds(struct bench *bench, const struct space *space, int level) {
    const struct plan *plan = space->plan;
    int first;
    for (int i = plan->level_start[level + 1]; i < plan->level_start[level + 2]; i++)
        if (bench_check(bench, space, &plan->checks[plan->by_level[i]], &first) > 0)
            return false;
    return true;
}
