/* mdd_build: builds decision diagrams, from the checks of a space or from rows. */
#include "base/error.h"
#include "base/memory.h"
#include "space/constraint_order.h"
#include "space/expression_tree.h"

#include <string.h>

enum { MEMOS_MAX = 1 << 22 }; /* at most 400 MiB, and only while a table grows */

/* ---- From checks ---- */

/* A term is a maximal subexpression that the genes of the previous levels decide. The values of
   all terms, in each environment that can distinguish them, are all that later levels depend on:
   search states with equal values have equal subtrees, for example G0=2,G1=6 and G0=3,G1=4 under
   G0 * G1 * G2 <= 99. */
struct term {
    const struct expression *expression;
    int node;
    const struct check *check; /* NULL: part of a condition, or equal in all environments */
};

/* The subtree below a search state, so that equal states are expanded once. */
struct memo {
    struct hash state;
    uint32_t node;
    bool used;
};

struct mdd_builder {
    const struct space *space;
    struct mdd *mdd;
    struct constraint_env env;
    uint64_t steps, limit;
    bool truncated;     /* the step limit was reached */
    struct term *terms; /* grouped by level */
    int term_count;     /* of all levels */
    int first_term[GENES_MAX + 1];
    int64_t *values; /* buffer for the term values of one level */
    struct memo *memos;
    size_t memo_count, memo_size;
};

/* ---- search states ---- */

static void add_term(struct mdd_builder *builder, struct term term) {
    builder->terms = xgrow(builder->terms, builder->term_count, sizeof *builder->terms);
    builder->terms[builder->term_count++] = term;
}

/* To what extent a subexpression is decided. */
enum extent { CONSTANT, DECIDED, OPEN };

static enum extent extent_of(const struct expression *expression, int index,
                             const struct slots *constant, const struct slots *decided) {
    const struct expression_node *node = &expression->nodes[index];
    enum extent extent = CONSTANT;
    if (node->op == OP_SLOT)
        return slots_has(constant, (int)node->number)  ? CONSTANT
               : slots_has(decided, (int)node->number) ? DECIDED
                                                       : OPEN;
    for (int i = 0; i < 3 && node->operands[i] >= 0; i++) {
        enum extent of = extent_of(expression, node->operands[i], constant, decided);
        extent = of > extent ? of : extent;
    }
    return extent;
}

static void add_terms(struct mdd_builder *builder, struct term whole, const struct slots *constant,
                      const struct slots *decided) {
    const struct expression_node *node = &whole.expression->nodes[whole.node];
    enum extent extent = extent_of(whole.expression, whole.node, constant, decided);
    if (extent == DECIDED)
        add_term(builder, whole);
    if (extent != OPEN)
        return;
    for (int i = 0; i < 3 && node->operands[i] >= 0; i++)
        add_terms(builder, (struct term){whole.expression, node->operands[i], whole.check},
                  constant, decided);
}

static void find_terms(struct mdd_builder *builder) {
    const struct space *space = builder->space;
    const struct constraint_order *order = space->order;
    struct slots constant = {0};
    struct slots decided = {0};
    int most = 1;
    for (int i = 0; i < space->dimension_count; i++)
        slots_add(&constant, space->dimensions[i]);
    for (int level = 0; level < space->gene_count; level++) {
        builder->first_term[level] = builder->term_count;
        for (int i = 0; i < order->check_count; i++) {
            const struct check *check = &order->checks[i];
            if (check->level < level && check->slot >= 0)
                slots_add(check->level < 0 ? &constant : &decided, check->slot);
        }
        for (int i = 0; i < order->check_count; i++)
            if (order->checks[i].level >= level)
                add_terms(builder,
                          (struct term){order->checks[i].expression,
                                        order->checks[i].expression->root, &order->checks[i]},
                          &constant, &decided);
        for (int later = level; later < space->gene_count; later++) {
            const struct expression *when = space->genes[order->gene_order[later]].when;
            if (when != NULL)
                add_terms(builder, (struct term){when, when->root, NULL}, &constant, &decided);
        }
        int values = 1;
        for (int i = builder->first_term[level]; i < builder->term_count; i++)
            values +=
                2 * (builder->terms[i].check != NULL ? builder->terms[i].check->first_count : 1);
        most = values > most ? values : most;
        slots_add(&decided, space->genes[order->gene_order[level]].slot);
    }
    builder->first_term[space->gene_count] = builder->term_count;
    builder->values = xmalloc((size_t)most * sizeof *builder->values);
}

/* Appends the term's value. INT64_MIN stands for a term that cannot be evaluated; a flag that
   follows distinguishes it from the number. */
static int add_value(const struct mdd_builder *builder, const struct term *term, int environment,
                     int count) {
    struct fault fault;
    int64_t value = INT64_MIN;
    bool is_number = expression_value(term->expression, term->node, NULL,
                                      builder->env.values[environment], &value, &fault);
    builder->values[count++] = is_number ? value : INT64_MIN;
    if (builder->values[count - 1] == INT64_MIN)
        builder->values[count++] = is_number;
    return count;
}

static struct hash state_hash(const struct mdd_builder *builder, int level) {
    int count = 0;
    builder->values[count++] = level;
    for (int i = builder->first_term[level]; i < builder->first_term[level + 1]; i++) {
        const struct term *term = &builder->terms[i];
        int environments = term->check != NULL ? term->check->first_count : 1;
        for (int e = 0; e < environments; e++)
            count =
                add_value(builder, term, term->check != NULL ? term->check->firsts[e] : 0, count);
    }
    return hash_bytes(builder->values, (size_t)count * sizeof *builder->values);
}

/* ---- memo table ---- */

static struct memo *find_memo(const struct mdd_builder *builder, struct hash state) {
    size_t at = state.low & (builder->memo_size - 1);
    while (builder->memos[at].used && !hash_equal(builder->memos[at].state, state))
        at = (at + 1) & (builder->memo_size - 1);
    return &builder->memos[at];
}

static void grow_memos(struct mdd_builder *builder) {
    struct memo *old = builder->memos;
    size_t old_size = builder->memo_size;
    builder->memo_size = old_size ? 4 * old_size : 256;
    builder->memos = xcalloc(builder->memo_size, sizeof *builder->memos);
    for (size_t i = 0; i < old_size; i++)
        if (old[i].used)
            *find_memo(builder, old[i].state) = old[i];
    free(old);
}

static void add_memo(struct mdd_builder *builder, struct hash state, uint32_t node) {
    if (builder->memo_count == MEMOS_MAX)
        return;
    if (2 * (builder->memo_count + 1) > builder->memo_size)
        grow_memos(builder);
    *find_memo(builder, state) = (struct memo){state, node, true};
    builder->memo_count++;
}

/* ---- the search ---- */

static uint32_t build_below(struct mdd_builder *builder, int level);

static uint32_t expand_below(struct mdd_builder *builder, int level) {
    const struct space *space = builder->space;
    int index = space->order->gene_order[level];
    const struct gene *gene = &space->genes[index];
    uint32_t children[DOMAIN_MAX];
    bool active = constraint_env_active(&builder->env, space, index);
    for (int value = 0; value < gene->count; value++) {
        children[value] = MDD_NONE;
        if ((!active && value != gene->default_index) || builder->truncated)
            continue;
        if (builder->steps == builder->limit) {
            builder->truncated = true;
            continue;
        }
        builder->steps++;
        constraint_env_set(&builder->env, space, index, value);
        if (constraint_env_level_holds(&builder->env, space, level))
            children[value] = build_below(builder, level + 1);
    }
    return mdd_add_node(builder->mdd, level, children);
}

static uint32_t build_below(struct mdd_builder *builder, int level) {
    if (level == builder->space->gene_count)
        return MDD_END;
    struct hash state = state_hash(builder, level);
    const struct memo *memo = find_memo(builder, state);
    if (memo->used)
        return memo->node;
    uint32_t node = expand_below(builder, level);
    if (!builder->truncated) /* a truncated subtree is incomplete */
        add_memo(builder, state, node);
    return node;
}

static struct mdd *new_mdd(const struct space *space) {
    int domains[GENES_MAX];
    for (int level = 0; level < space->gene_count; level++)
        domains[level] = space->genes[space->order->gene_order[level]].count;
    return mdd_new(space->gene_count, space->order->gene_order, domains);
}

struct mdd *mdd_build(const struct space *space, uint64_t *steps, bool *whole) {
    struct mdd_builder *builder = xcalloc(1, sizeof *builder);
    builder->space = space;
    builder->limit = *steps;
    builder->mdd = new_mdd(space);
    find_terms(builder);
    grow_memos(builder);
    constraint_env_init(&builder->env, space);
    if (constraint_env_level_holds(&builder->env, space, -1))
        mdd_set_root(builder->mdd, build_below(builder, 0));
    struct mdd *mdd = builder->mdd;
    *whole = !builder->truncated && mdd_count(mdd) < UINT64_MAX;
    if (*whole)
        *steps = builder->steps;
    constraint_env_release(&builder->env);
    free(builder->terms);
    free(builder->values);
    free(builder->memos);
    free(builder);
    return mdd;
}

/* ---- From rows ---- */

static int compare_rows(const void *a, const void *b, void *rows) {
    const struct genome *genomes = rows;
    return memcmp(&genomes[*(const uint32_t *)a], &genomes[*(const uint32_t *)b], sizeof *genomes);
}

/* Builds the node for rows that agree in all genes before this level; `order` lists them sorted. */
static uint32_t build_from_rows(struct mdd *mdd, const struct space *space,
                                const struct genome *rows, const uint32_t *row_order, size_t count,
                                int level) {
    if (level == space->gene_count)
        return MDD_END;
    uint32_t children[DOMAIN_MAX];
    size_t at = 0;
    for (int value = 0; value < space->genes[level].count; value++) {
        size_t first = at;
        while (at < count && rows[row_order[at]].value[level] == value)
            at++;
        children[value] = at == first ? MDD_NONE
                                      : build_from_rows(mdd, space, rows, row_order + first,
                                                        at - first, level + 1);
    }
    return mdd_add_node(mdd, level, children);
}

void constraint_order_set_rows(const struct space *space, const struct genome *rows, size_t count) {
    struct constraint_order *order = space->order;
    uint32_t *row_order = xmalloc((count + 1) * sizeof *row_order);
    for (size_t row = 0; row < count; row++)
        row_order[row] = (uint32_t)row;
    qsort_r(row_order, count, sizeof *row_order, compare_rows, (void *)rows);
    /* Without checks the levels are in the order of the genes, as the sorted rows are. */
    order->mdd = new_mdd(space);
    mdd_set_root(order->mdd, build_from_rows(order->mdd, space, rows, row_order, count, 0));
    order->whole = order->table = true;
    free(row_order);
}
