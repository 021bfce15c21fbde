/* How diagrams come about: from the checks of a space, or from rows. */
#include "base/error.h"
#include "genome/plan.h"

#include <string.h>

/* ---- From checks ---- */

/* What lies below a place in the search, found before: equal places are searched once. */
struct memo {
    struct genome place; /* the genes that the levels to come depend on; 0 for others */
    int level;           /* -1: a free cell */
    uint32_t node;
};

struct survey {
    const struct space *space;
    struct diagram *diagram;
    struct bench bench;
    struct genome genome;
    uint64_t steps, limit;
    bool cut;                    /* the steps ran out */
    uint32_t matters[GENES_MAX]; /* by level: the genes placed before it that matter from it on */
    bool shared[GENES_MAX];      /* by level: not all that were placed before it matter */
    struct memo *memos;
    size_t memo_count, memo_size;
};

static void find_what_matters(struct survey *survey) {
    const struct plan *plan = survey->space->plan;
    uint32_t placed = 0;
    for (int level = 0; level < survey->space->gene_count; level++) {
        uint32_t read = 0;
        for (int later = level; later < survey->space->gene_count; later++)
            read |= plan->when_genes[plan->order[later]];
        for (int i = 0; i < plan->check_count; i++)
            if (plan->checks[i].level >= level)
                read |= plan->checks[i].genes;
        survey->matters[level] = placed & read;
        survey->shared[level] = survey->matters[level] != placed;
        placed |= UINT32_C(1) << plan->order[level];
    }
}

static struct memo *memo_of(const struct survey *survey, const struct genome *place, int level) {
    size_t at = (genome_hash(place).low + (uint64_t)level) & (survey->memo_size - 1);
    for (; survey->memos[at].level >= 0; at = (at + 1) & (survey->memo_size - 1))
        if (survey->memos[at].level == level && genome_equal(&survey->memos[at].place, place))
            break;
    return &survey->memos[at];
}

static void make_memos(struct survey *survey) {
    struct memo *old = survey->memos;
    size_t old_size = survey->memo_size;
    survey->memo_size = old_size ? 4 * old_size : 256;
    survey->memos = malloc(survey->memo_size * sizeof *survey->memos);
    if (!survey->memos)
        BUG("out of memory");
    for (size_t i = 0; i < survey->memo_size; i++)
        survey->memos[i].level = -1;
    for (size_t i = 0; i < old_size; i++)
        if (old[i].level >= 0)
            *memo_of(survey, &old[i].place, old[i].level) = old[i];
    free(old);
}

static void remember(struct survey *survey, const struct genome *place, int level, uint32_t node) {
    if (2 * (survey->memo_count + 1) > survey->memo_size)
        make_memos(survey);
    *memo_of(survey, place, level) = (struct memo){*place, level, node};
    survey->memo_count++;
}

static struct genome place_of(const struct survey *survey, int level) {
    struct genome place = {0};
    for (uint32_t genes = survey->matters[level]; genes; genes &= genes - 1) {
        int gene = __builtin_ctz(genes);
        place.value[gene] = survey->genome.value[gene];
    }
    return place;
}

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
        survey->genome.value[index] = (uint8_t)value;
        bench_set(&survey->bench, space, index, value);
        if (bench_level_holds(&survey->bench, space, level))
            children[value] = find_below(survey, level + 1);
    }
    return diagram_node(survey->diagram, level, children);
}

static uint32_t find_below(struct survey *survey, int level) {
    if (level == survey->space->gene_count)
        return DIAGRAM_END;
    if (!survey->shared[level])
        return search_below(survey, level);
    struct genome place = place_of(survey, level);
    const struct memo *memo = memo_of(survey, &place, level);
    if (memo->level >= 0)
        return memo->node;
    uint32_t node = search_below(survey, level);
    if (!survey->cut) /* else it is not all that lies below */
        remember(survey, &place, level, node);
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
    if (!survey)
        BUG("out of memory");
    survey->space = space;
    survey->limit = *steps;
    survey->diagram = new_diagram(space);
    find_what_matters(survey);
    make_memos(survey);
    bench_init(&survey->bench, space);
    if (bench_level_holds(&survey->bench, space, -1))
        diagram_set_root(survey->diagram, find_below(survey, 0));
    struct diagram *diagram = survey->diagram;
    *whole = !survey->cut && diagram_count(diagram) < UINT64_MAX;
    if (*whole)
        *steps = survey->steps;
    free(survey->memos);
    free(survey);
    return diagram;
}

/* ---- From rows ---- */

static int compare_rows(const void *a, const void *b) {
    return memcmp(a, b, sizeof(struct genome));
}

/* The node for sorted rows that agree in all genes before this level. */
static uint32_t node_of_rows(struct diagram *diagram, const struct space *space,
                             const struct genome *rows, size_t count, int level) {
    if (level == space->gene_count)
        return DIAGRAM_END;
    uint32_t children[DOMAIN_MAX];
    size_t at = 0;
    for (int value = 0; value < space->genes[level].count; value++) {
        size_t first = at;
        while (at < count && rows[at].value[level] == value)
            at++;
        children[value] = at == first
                              ? DIAGRAM_NONE
                              : node_of_rows(diagram, space, rows + first, at - first, level + 1);
    }
    return diagram_node(diagram, level, children);
}

void plan_set_rows(const struct space *space, const struct genome *rows, size_t count) {
    struct plan *plan = space->plan;
    struct genome *sorted = malloc((count + 1) * sizeof *sorted);
    if (!sorted)
        BUG("out of memory");
    memcpy(sorted, rows, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_rows);
    /* Without checks the order of the levels is the order of the genes, as the sorting's is. */
    plan->diagram = new_diagram(space);
    diagram_set_root(plan->diagram, node_of_rows(plan->diagram, space, sorted, count, 0));
    plan->whole = plan->table = true;
    free(sorted);
}
