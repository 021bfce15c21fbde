/* mdd_build: builds decision diagrams, from the checks of a space or from rows. */
#include "base/error.h"
#include "genome/expression_tree.h"
#include "genome/plan.h"

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
    struct hash place;
    uint32_t node;
    bool used;
};

struct survey {
    const struct space *space;
    struct diagram *diagram;
    struct bench bench;
    uint64_t steps, limit;
    bool cut;                  /* the step limit was reached */
    struct term *terms;        /* grouped by level */
    int term_count, term_room; /* of all levels */
    int first_term[GENES_MAX + 1];
    int64_t *values; /* buffer for the term values of one level */
    struct memo *memos;
    size_t memo_count, memo_size;
};

/* ---- search states ---- */

static void add_term(struct survey *survey, struct term term) {
    if (survey->term_count == survey->term_room) {
        survey->term_room = 2 * survey->term_room + 64;
        survey->terms = realloc(survey->terms, (size_t)survey->term_room * sizeof *survey->terms);
        if (survey->terms == NULL)
            BUG("out of memory");
    }
    survey->terms[survey->term_count++] = term;
}

/* To what extent a subexpression is decided. */
enum extent { CONSTANT, DECIDED, OPEN };

static enum extent extent_of(const struct expression *expression, int index,
                             const struct slots *constant, const struct slots *decided) {
    const struct node *node = &expression->nodes[index];
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

static void add_terms(struct survey *survey, struct term whole, const struct slots *constant,
                      const struct slots *decided) {
    const struct node *node = &whole.expression->nodes[whole.node];
    enum extent extent = extent_of(whole.expression, whole.node, constant, decided);
    if (extent == DECIDED)
        add_term(survey, whole);
    if (extent != OPEN)
        return;
    for (int i = 0; i < 3 && node->operands[i] >= 0; i++)
        add_terms(survey, (struct term){whole.expression, node->operands[i], whole.check}, constant,
                  decided);
}

static void find_terms(struct survey *survey) {
    const struct space *space = survey->space;
    const struct plan *plan = space->plan;
    struct slots constant = {0};
    struct slots decided = {0};
    int most = 1;
    for (int i = 0; i < space->dimension_count; i++)
        slots_add(&constant, space->dimensions[i]);
    for (int level = 0; level < space->gene_count; level++) {
        survey->first_term[level] = survey->term_count;
        for (int i = 0; i < plan->check_count; i++) {
            const struct check *check = &plan->checks[i];
            if (check->level < level && check->slot >= 0)
                slots_add(check->level < 0 ? &constant : &decided, check->slot);
        }
        for (int i = 0; i < plan->check_count; i++)
            if (plan->checks[i].level >= level)
                add_terms(survey,
                          (struct term){plan->checks[i].expression,
                                        plan->checks[i].expression->root, &plan->checks[i]},
                          &constant, &decided);
        for (int later = level; later < space->gene_count; later++) {
            const struct expression *when = space->genes[plan->order[later]].when;
            if (when != NULL)
                add_terms(survey, (struct term){when, when->root, NULL}, &constant, &decided);
        }
        int values = 1;
        for (int i = survey->first_term[level]; i < survey->term_count; i++)
            values +=
                2 * (survey->terms[i].check != NULL ? survey->terms[i].check->first_count : 1);
        most = values > most ? values : most;
        slots_add(&decided, space->genes[plan->order[level]].slot);
    }
    survey->first_term[space->gene_count] = survey->term_count;
    survey->values = malloc((size_t)most * sizeof *survey->values);
    if (survey->values == NULL)
        BUG("out of memory");
}

/* Appends the term's value. INT64_MIN stands for a term that cannot be evaluated; a flag that
   follows distinguishes it from the number. */
static int add_value(const struct survey *survey, const struct term *term, int environment,
                     int count) {
    struct fault fault;
    int64_t value = INT64_MIN;
    bool is_number = expression_value(term->expression, term->node, NULL,
                                      survey->bench.values[environment], &value, &fault);
    survey->values[count++] = is_number ? value : INT64_MIN;
    if (survey->values[count - 1] == INT64_MIN)
        survey->values[count++] = is_number;
    return count;
}

static struct hash place_of(const struct survey *survey, int level) {
    int count = 0;
    survey->values[count++] = level;
    for (int i = survey->first_term[level]; i < survey->first_term[level + 1]; i++) {
        const struct term *term = &survey->terms[i];
        int environments = term->check != NULL ? term->check->first_count : 1;
        for (int e = 0; e < environments; e++)
            count =
                add_value(survey, term, term->check != NULL ? term->check->firsts[e] : 0, count);
    }
    return hash_bytes(survey->values, (size_t)count * sizeof *survey->values);
}

/* ---- memo table ---- */

static struct memo *memo_of(const struct survey *survey, struct hash place) {
    size_t at = place.low & (survey->memo_size - 1);
    while (survey->memos[at].used && !hash_equal(survey->memos[at].place, place))
        at = (at + 1) & (survey->memo_size - 1);
    return &survey->memos[at];
}

static void grow_memos(struct survey *survey) {
    struct memo *old = survey->memos;
    size_t old_size = survey->memo_size;
    survey->memo_size = old_size ? 4 * old_size : 256;
    survey->memos = calloc(survey->memo_size, sizeof *survey->memos);
    if (survey->memos == NULL)
        BUG("out of memory");
    for (size_t i = 0; i < old_size; i++)
        if (old[i].used)
            *memo_of(survey, old[i].place) = old[i];
    free(old);
}

static void remember(struct survey *survey, struct hash place, uint32_t node) {
    if (survey->memo_count == MEMOS_MAX)
        return;
    if (2 * (survey->memo_count + 1) > survey->memo_size)
        grow_memos(survey);
    *memo_of(survey, place) = (struct memo){place, node, true};
    survey->memo_count++;
}

/* ---- the search ---- */

static uint32_t find_below(struct survey *survey, int level);

static uint32_t search_below(struct survey *survey, int level) {
    const struct space *space = survey->space;
    int index = space->plan->order[level];
    const struct gene *gene = &space->genes[index];
    uint32_t children[DOMAIN_MAX];
    bool active = bench_active(&survey->bench, space, index);
    for (int value = 0; value < gene->count; value++) {
        children[value] = DIAGRAM_NONE;
        if ((!active && value != gene->default_index) || survey->cut)
            continue;
        if (survey->steps == survey->limit) {
            survey->cut = true;
            continue;
        }
        survey->steps++;
        bench_set(&survey->bench, space, index, value);
        if (bench_level_holds(&survey->bench, space, level))
            children[value] = find_below(survey, level + 1);
    }
    return diagram_node(survey->diagram, level, children);
}

static uint32_t find_below(struct survey *survey, int level) {
    if (level == survey->space->gene_count)
        return DIAGRAM_END;
    struct hash place = place_of(survey, level);
    const struct memo *memo = memo_of(survey, place);
    if (memo->used)
        return memo->node;
    uint32_t node = search_below(survey, level);
    if (!survey->cut) /* a truncated subtree is incomplete */
        remember(survey, place, node);
    return node;
}

static struct diagram *new_diagram(const struct space *space) {
    int domains[GENES_MAX];
    for (int level = 0; level < space->gene_count; level++)
        domains[level] = space->genes[space->plan->order[level]].count;
    return diagram_new(space->gene_count, space->plan->order, domains);
}

struct diagram *diagram_of_space(const struct space *space, uint64_t *steps, bool *whole) {
    struct survey *survey = calloc(1, sizeof *survey);
    if (survey == NULL)
        BUG("out of memory");
    survey->space = space;
    survey->limit = *steps;
    survey->diagram = new_diagram(space);
    find_terms(survey);
    grow_memos(survey);
    bench_init(&survey->bench, space);
    if (bench_level_holds(&survey->bench, space, -1))
        diagram_set_root(survey->diagram, find_below(survey, 0));
    struct diagram *diagram = survey->diagram;
    *whole = !survey->cut && diagram_count(diagram) < UINT64_MAX;
    if (*whole)
        *steps = survey->steps;
    free(survey->terms);
    free(survey->values);
    free(survey->memos);
    free(survey);
    return diagram;
}

/* ---- From rows ---- */

static int compare_rows(const void *a, const void *b, void *rows) {
    const struct genome *genomes = rows;
    return memcmp(&genomes[*(const uint32_t *)a], &genomes[*(const uint32_t *)b], sizeof *genomes);
}

/* Builds the node for rows that agree in all genes before this level; `order` lists them sorted. */
static uint32_t node_of_rows(struct diagram *diagram, const struct space *space,
                             const struct genome *rows, const uint32_t *order, size_t count,
                             int level) {
    if (level == space->gene_count)
        return DIAGRAM_END;
    uint32_t children[DOMAIN_MAX];
    size_t at = 0;
    for (int value = 0; value < space->genes[level].count; value++) {
        size_t first = at;
        while (at < count && rows[order[at]].value[level] == value)
            at++;
        children[value] =
            at == first ? DIAGRAM_NONE
                        : node_of_rows(diagram, space, rows, order + first, at - first, level + 1);
    }
    return diagram_node(diagram, level, children);
}

void plan_set_rows(const struct space *space, const struct genome *rows, size_t count) {
    struct plan *plan = space->plan;
    uint32_t *order = malloc((count + 1) * sizeof *order);
    if (order == NULL || count > UINT32_MAX)
        BUG("out of memory");
    for (size_t row = 0; row < count; row++)
        order[row] = (uint32_t)row;
    qsort_r(order, count, sizeof *order, compare_rows, (void *)rows);
    /* Without checks the levels are in the order of the genes, as the sorted rows are. */
    plan->diagram = new_diagram(space);
    diagram_set_root(plan->diagram, node_of_rows(plan->diagram, space, rows, order, count, 0));
    plan->whole = plan->table = true;
    free(order);
}
