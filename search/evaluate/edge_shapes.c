#include "evaluate/edge_shapes.h"

#include <string.h>

enum {
    TILES_MAX = 8,
    TILE_MIN = 8,
    TILE_MAX = 256,
    NEAR_TILES = 4,
    FAR_TILES = 16,
    PAIRS_MAX = 32,
    SMALL = 2,
    THIN_MAX = 4096,
    THIN_MIN = 128,
    KEPT = 0
};

/* The sizes of the two largest dimensions; `others` is that of the rest, or KEPT. */
struct pair {
    int64_t first, second, others;
};

struct pair_list {
    int count;
    struct pair pairs[PAIRS_MAX];
};

static void add_pair(struct pair_list *list, int64_t first, int64_t second, int64_t others) {
    if (list->count < PAIRS_MAX)
        list->pairs[list->count++] = (struct pair){first, second, others};
}

static void add_edges(struct pair_list *list, int64_t size) {
    add_pair(list, size + 1, size - 1, 1);
    add_pair(list, size - 1, size + 1, 1);
}

static void add_far(struct pair_list *list, int64_t size) {
    add_pair(list, SMALL, size, 1);
    add_pair(list, size, SMALL, 1);
}

/* The genes that may be tiles, largest first, without those that divide another: an edge of the
   larger is one of theirs. Returns their number. */
static int find_tiles(const struct space *space, const struct genome *genome,
                      int64_t tiles[TILES_MAX]) {
    int count = 0;
    for (int64_t tile = TILE_MAX; tile >= TILE_MIN && count < TILES_MAX; tile--) {
        bool is_gene = false, divides = false;
        for (int g = 0; g < space->gene_count; g++)
            is_gene = is_gene || (space->genes[g].ordered && !space->genes[g].real &&
                                  space->genes[g].values[genome->value[g]] == tile);
        for (int i = 0; i < count; i++)
            divides = divides || tiles[i] % tile == 0;
        if (is_gene && !divides)
            tiles[count++] = tile;
    }
    return count;
}

static struct pair_list list_pairs(const int64_t *tiles, int tile_count, uint64_t seed) {
    struct pair_list list = {0};
    const int64_t largest = tiles[0];
    add_edges(&list, largest);
    add_far(&list, NEAR_TILES * largest + 1);
    add_edges(&list, 2 * largest);
    for (int i = 1; i < tile_count; i++)
        add_edges(&list, tiles[i]);
    add_far(&list, FAR_TILES * largest + 1);
    /* For a budget that did not suffice for those above. */
    add_far(&list, largest + 1);
    add_far(&list, largest - 1);
    for (; list.count < PAIRS_MAX; seed = seed * UINT64_C(6364136223846793005) + 1) {
        const uint64_t bits = seed >> 32;
        const int64_t tile = tiles[bits / 64 % (uint64_t)tile_count];
        add_pair(&list, (int64_t)(bits % 2 + 1) * tile + (int64_t)(bits / 2 % 3) - 1,
                 (int64_t)(bits / 8 % 2 + 1) * tile + (int64_t)(bits / 16 % 3) - 1, SMALL);
    }
    return list;
}

/* Evaluates a dimension's default, with every other dimension at `others`. Returns whether that is
   possible. */
static bool default_at(const struct template *template, const struct dimension *dimension,
                       int64_t others, int64_t *value) {
    int64_t slots[SLOTS_MAX] = {0};
    for (int d = 0; d < template->dimension_count; d++)
        slots[symbol_table_find(&template->space->symbols, template->dimensions[d].name)] = others;
    return expression_evaluate(dimension->default_value, slots, value, NULL) == 0;
}

/* Whether a dimension is a size, not a choice: see edge_shapes.h. */
static bool is_size(const struct template *template, const struct dimension *dimension) {
    int64_t one, two;
    if (dimension->specialised || dimension->real || dimension->value_count > 0)
        return false;
    return dimension->default_value == NULL ||
           (default_at(template, dimension, 1, &one) && default_at(template, dimension, 2, &two) &&
            one != two);
}

/* The size that is largest in the template's cases, except `excluded`; -1 if there is none. Of
   equal ones the last: batches and heads come first. */
static int largest_size(const struct template *template, int excluded) {
    int found = -1;
    int64_t largest = 0;
    for (int d = 0; d < template->dimension_count; d++)
        for (int c = 0; c < template->case_count; c++)
            if (d != excluded && is_size(template, &template->dimensions[d]) &&
                template->cases[c].values[d] >= largest) {
                largest = template->cases[c].values[d];
                found = d;
            }
    return found;
}

/* A case with the sizes of a pair. Returns whether they are in range. */
static bool edge_shape(const struct template *template, const struct shape *from,
                       const struct pair *pair, struct shape *shape) {
    int first = largest_size(template, -1), second = largest_size(template, first);
    int64_t slots[SLOTS_MAX] = {0};
    *shape = *from;
    for (int d = 0; d < template->dimension_count; d++) {
        const struct dimension *dimension = &template->dimensions[d];
        int64_t *value = &shape->values[d];
        if (d == first || d == second)
            *value = d == first ? pair->first : pair->second;
        else if (pair->others != KEPT && is_size(template, dimension) &&
                 dimension->default_value == NULL)
            *value = pair->others;
        else if (pair->others != KEPT && is_size(template, dimension))
            expression_evaluate(dimension->default_value, slots, value, NULL);
        if (is_size(template, dimension) &&
            (*value < dimension->minimum || *value > dimension->maximum))
            return false;
        slots[symbol_table_find(&template->space->symbols, dimension->name)] = *value;
    }
    return true;
}

/* Loads the template for the pairs of sizes, each for every variant of its cases; what a pair does
   not name is that of `from`, which has as many shapes. */
static struct template *load_pairs(const struct template *template, const struct shape *from,
                                   const struct pair_list *list,
                                   const struct template_setting *setting, struct error *error) {
    struct shape shapes[CASES_MAX];
    struct template_setting on_pairs = *setting;
    on_pairs.cases = shapes;
    on_pairs.derived_cases = true;
    on_pairs.case_count = 0;
    for (int i = 0; i < list->count; i++)
        for (int c = 0; c < template->case_count; c++)
            if (template_variant(template, c) == c && on_pairs.case_count < CASES_MAX &&
                edge_shape(template, &from[c], &list->pairs[i], &shapes[on_pairs.case_count]))
                on_pairs.case_count++;
    return on_pairs.case_count > 0 ? template_load(template->folder, &on_pairs, error) : NULL;
}

/* The first case that the genome's constraints allow, or -1. */
static int first_valid(const struct template *template, const struct genome *genome) {
    for (int c = 0; c < template->case_count; c++)
        if (template_genome_is_valid(template, genome, c))
            return c;
    return -1;
}

/* Lowers a size to the least power of two for which the genome is still valid. */
static void lower_size(const struct template *template, const struct genome *genome,
                       const struct template_setting *setting, int dimension, struct shape *shape) {
    struct shape shapes[CASES_MAX];
    struct template_setting on_sizes = *setting;
    struct error ignored = {0};
    on_sizes.cases = shapes;
    on_sizes.derived_cases = true;
    on_sizes.case_count = 0;
    for (int64_t size = 1; size < shape->values[dimension] && on_sizes.case_count < CASES_MAX;
         size *= 2)
        if (size >= template->dimensions[dimension].minimum) {
            shapes[on_sizes.case_count] = *shape;
            shapes[on_sizes.case_count++].values[dimension] = size;
        }
    struct template *lowered =
        on_sizes.case_count > 0 ? template_load(template->folder, &on_sizes, &ignored) : NULL;
    int valid = lowered != NULL ? first_valid(lowered, genome) : -1;
    if (valid >= 0)
        shape->values[dimension] = lowered->cases[valid].values[dimension];
    template_free(lowered);
}

/* The same pairs for a genome that needs more of the other sizes, such as several heads that share
   a tile: as few as it needs. One of them may allow less of another: twice. */
static struct template *load_for_genome(const struct template *template,
                                        const struct genome *genome, struct pair_list *list,
                                        const struct template_setting *setting,
                                        struct error *error) {
    struct shape from[CASES_MAX];
    const int first = largest_size(template, -1), second = largest_size(template, first);
    for (int c = 0; c < template->case_count; c++) {
        from[c] = template->cases[c];
        for (int i = 0; template_variant(template, c) == c && i < 2 * template->dimension_count;
             i++) {
            const int d = i % template->dimension_count;
            if (d != first && d != second && is_size(template, &template->dimensions[d]))
                lower_size(template, genome, setting, d, &from[c]);
        }
    }
    for (int i = 0; i < list->count; i++)
        list->pairs[i].others = KEPT;
    return load_pairs(template, from, list, setting, error);
}

struct template *edge_shapes_load(const struct template *template, const struct genome *genome,
                                  const struct template_setting *setting, uint64_t seed,
                                  struct error *error) {
    int64_t tiles[TILES_MAX];
    int tile_count = find_tiles(template->space, genome, tiles);
    if (tile_count == 0 || largest_size(template, -1) < 0)
        return NULL;
    struct pair_list list = list_pairs(tiles, tile_count, seed);
    struct template *edges = load_pairs(template, template->cases, &list, setting, error);
    if (edges == NULL || first_valid(edges, genome) >= 0 || first_valid(template, genome) < 0)
        return edges;
    template_free(edges);
    return load_for_genome(template, genome, &list, setting, error);
}

/* The largest value of a dimension in the template's cases. */
static int64_t largest_value(const struct template *template, int dimension) {
    int64_t largest = 0;
    for (int c = 0; c < template->case_count; c++)
        if (template->cases[c].values[dimension] > largest)
            largest = template->cases[c].values[dimension];
    return largest;
}

struct template *thin_shapes_load(const struct template *template,
                                  const struct template_setting *setting, int halvings,
                                  struct error *error) {
    int first = largest_size(template, -1), second = largest_size(template, first);
    int64_t size = first < 0 ? 0 : largest_value(template, first);
    struct pair_list list = {0};
    size = (size < THIN_MAX ? size : THIN_MAX) >> halvings;
    if (size < THIN_MIN)
        return NULL;
    add_pair(&list, size, SMALL, 1);
    if (second >= 0)
        add_pair(&list, SMALL, size, 1);
    return load_pairs(template, template->cases, &list, setting, error);
}
