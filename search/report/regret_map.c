#include "report/regret_map.h"

#include "base/memory.h"
#include "base/strbuf.h"
#include "render/chart.h"

#include <stdlib.h>
#include <string.h>

static double value_of(const struct regret_shapes *shapes, int shape, int dimension) {
    return shapes->values[shape * shapes->dimension_count + dimension];
}

/* ---- bins ---- */

static int compare_doubles(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The values of a dimension, each once and ascending; the caller frees them. */
static double *distinct_values(const struct regret_shapes *shapes, int dimension, int *count) {
    double *values = xmalloc((size_t)shapes->count * sizeof *values);
    *count = 0;
    for (int s = 0; s < shapes->count; s++)
        values[s] = value_of(shapes, s, dimension);
    qsort(values, (size_t)shapes->count, sizeof *values, compare_doubles);
    for (int s = 0; s < shapes->count; s++)
        if (*count == 0 || values[s] > values[*count - 1])
            values[(*count)++] = values[s];
    return values;
}

static void add_bin(struct regret_axis *axis, double low, double high) {
    axis->bins[axis->count] = (struct regret_bin){low, high, axis->count == 0};
    axis->count++;
}

/* Ranges end at powers of 2, 4, 8, ..., for over a factor the ratio varies as over the next one. */
static void add_powers(struct regret_axis *axis, double low, double high) {
    double factor = 2;
    while ((log2(high) - log2(low)) / log2(factor) + 1 > MAP_BINS_MAX)
        factor *= 2;
    double end = pow(factor, ceil(log2(low) / log2(factor)));
    if (end <= low) /* a range of one value more would start with it */
        end *= factor;
    for (double start = low; start < high && axis->count < MAP_BINS_MAX; start = end, end *= factor)
        add_bin(axis, start, fmin(end, high));
}

static void add_steps(struct regret_axis *axis, double low, double high) {
    const double step = chart_tick_step(high - low, MAP_BINS_MAX - 1);
    double number = floor(low / step) + 1;
    for (double start = low; start < high && axis->count < MAP_BINS_MAX;
         start = number * step, number++)
        add_bin(axis, start, fmin(number * step, high));
}

static void bin_dimension(struct regret_axis *axis, const struct regret_shapes *shapes,
                          int dimension) {
    int count;
    double *values = distinct_values(shapes, dimension, &count);
    *axis = (struct regret_axis){.dimension = dimension};
    if (count <= MAP_VALUES_MAX)
        for (int i = 0; i < count; i++)
            add_bin(axis, values[i], values[i]);
    else if (values[0] > 0 && values[count - 1] > 5 * values[0])
        add_powers(axis, values[0], values[count - 1]);
    else
        add_steps(axis, values[0], values[count - 1]);
    axis->bins[axis->count - 1].high = values[count - 1];
    free(values);
}

static int bin_of(const struct regret_axis *axis, const struct regret_shapes *shapes, int shape) {
    if (axis->dimension < 0)
        return 0;
    const double value = value_of(shapes, shape, axis->dimension);
    int bin = 0;
    while (bin + 1 < axis->count && value > axis->bins[bin].high)
        bin++;
    return bin;
}

/* ---- the order of the dimensions ---- */

struct ranked_dimension {
    int dimension;
    double divided; /* shapes that the tree divides by it */
    double varies;  /* share of the variance of the logarithm of the ratio that lies between its
                       bins, without what chance puts there */
    struct regret_axis axis;
};

/* The cases of a node; adds those of every node that compares the dimension. */
static double add_divided(const struct tree *tree, int index, const char *name, double *divided) {
    const struct tree_node *node = &tree->nodes[index];
    if (node->feature.factor_count == 0)
        return node->case_count;
    const double cases = add_divided(tree, node->then, name, divided) +
                         add_divided(tree, node->otherwise, name, divided);
    bool compared = false;
    for (int f = 0; f < node->feature.factor_count; f++)
        compared = compared || strcmp(tree->names[node->feature.factors[f]], name) == 0;
    *divided += compared ? cases : 0;
    return cases;
}

/* Epsilon squared: eta squared, corrected for the number of bins (Kelley, "An Unbiased Correlation
   Ratio Measure", 1935). */
static double share_between(const struct regret_axis *axis, const struct regret_shapes *shapes) {
    double sums[MAP_BINS_MAX] = {0}, squares = 0, sum = 0, within;
    int counts[MAP_BINS_MAX] = {0}, count = 0, used = 0;
    for (int s = 0; s < shapes->count; s++) {
        const double ratio = log(shapes->ratios[s]);
        if (!isfinite(ratio))
            continue;
        const int bin = bin_of(axis, shapes, s);
        sums[bin] += ratio;
        counts[bin]++;
        sum += ratio;
        squares += ratio * ratio;
        count++;
    }
    within = squares;
    for (int b = 0; b < axis->count; b++)
        if (counts[b] > 0) {
            within -= sums[b] * sums[b] / counts[b];
            used++;
        }
    const double total = count > 0 ? squares - sum * sum / count : 0;
    if (count <= used || !(total > 1e-12))
        return 0;
    return 1 - within / total * (count - 1) / (count - used);
}

static int by_rank(const void *left, const void *right) {
    const struct ranked_dimension *a = left, *b = right;
    if (a->divided != b->divided)
        return a->divided > b->divided ? -1 : 1;
    if (a->varies != b->varies)
        return a->varies > b->varies ? -1 : 1;
    return a->dimension - b->dimension;
}

/* The dimensions that vary. The caller frees them. */
static struct ranked_dimension *rank_dimensions(const struct regret_shapes *shapes,
                                                const struct tree *tree, int *count) {
    struct ranked_dimension *ranked = xcalloc((size_t)shapes->dimension_count + 1, sizeof *ranked);
    *count = 0;
    for (int d = 0; d < shapes->dimension_count; d++) {
        struct ranked_dimension *it = &ranked[*count];
        *it = (struct ranked_dimension){.dimension = d};
        bin_dimension(&it->axis, shapes, d);
        if (it->axis.count < 2)
            continue;
        it->varies = share_between(&it->axis, shapes);
        if (tree != NULL)
            add_divided(tree, 0, shapes->names[d], &it->divided);
        (*count)++;
    }
    qsort(ranked, (size_t)*count, sizeof *ranked, by_rank);
    return ranked;
}

/* ---- panels ---- */

/* The panel of a shape by the first `count` panel dimensions; a new one if it has none yet and
   there is room, else -1. */
static int find_panel(struct regret_map *map, int count, int shape) {
    double values[MAP_PANELS_MAX] = {0};
    int panel = 0;
    for (int i = 0; i < count; i++)
        values[i] = value_of(map->shapes, shape, map->panel_dimensions[i]);
    while (panel < map->panel_count && memcmp(map->panel_values[panel], values, sizeof values) != 0)
        panel++;
    if (panel == MAP_PANELS_MAX)
        return -1;
    if (panel == map->panel_count)
        memcpy(map->panel_values[map->panel_count++], values, sizeof values);
    return panel;
}

static bool fill_panels(struct regret_map *map, int count) {
    map->panel_count = 0;
    for (int s = 0; s < map->shapes->count; s++)
        if (find_panel(map, count, s) < 0)
            return false;
    return true;
}

static int compare_panels(const void *left, const void *right) {
    const double *a = left, *b = right;
    int i = 0;
    while (i + 1 < MAP_PANELS_MAX && a[i] == b[i])
        i++;
    return compare_doubles(&a[i], &b[i]);
}

/* Takes each dimension after the axes as long as the panels are few; the others are the rest. */
static void divide_panels(struct regret_map *map, const struct ranked_dimension *ranked,
                          int count) {
    int taken = 0;
    map->rest = xcalloc((size_t)count + 1, sizeof *map->rest);
    for (int i = 2; i < count; i++) {
        if (taken < MAP_PANELS_MAX) {
            map->panel_dimensions[taken] = ranked[i].dimension;
            if (fill_panels(map, taken + 1)) {
                taken++;
                continue;
            }
        }
        map->rest[map->rest_count++] = ranked[i].dimension;
    }
    map->panel_dimension_count = taken;
    fill_panels(map, taken);
    qsort(map->panel_values, (size_t)map->panel_count, sizeof *map->panel_values, compare_panels);
}

/* ---- cells ---- */

static int cell_index(const struct regret_map *map, int panel, int x, int y) {
    return (panel * map->y.count + y) * map->x.count + x;
}

const struct regret_cell *regret_map_cell(const struct regret_map *map, int panel, int x, int y) {
    return &map->cells[cell_index(map, panel, x, y)];
}

static void add_to_cell(struct regret_cell *cell, const struct regret_shapes *shapes, int shape) {
    const double ratio = shapes->ratios[shape];
    cell->shapes++;
    cell->fitted += shapes->fitted[shape];
    cell->unfit += isnan(ratio);
    cell->unserved += isinf(ratio);
    if (cell->worst_shape < 0 || isnan(cell->worst) || ratio > cell->worst) {
        cell->worst = ratio;
        cell->worst_shape = shape;
    }
}

static void fill_cells(struct regret_map *map) {
    const struct regret_shapes *shapes = map->shapes;
    const int count = map->panel_count * map->x.count * map->y.count;
    map->cells = xcalloc((size_t)count, sizeof *map->cells);
    for (int i = 0; i < count; i++)
        map->cells[i] = (struct regret_cell){.worst = REGRET_UNFIT, .worst_shape = -1};
    for (int s = 0; s < shapes->count; s++) {
        const int panel = find_panel(map, map->panel_dimension_count, s),
                  x = bin_of(&map->x, shapes, s), y = bin_of(&map->y, shapes, s);
        add_to_cell(&map->cells[cell_index(map, panel, x, y)], shapes, s);
    }
}

/* ---- the map ---- */

struct regret_map *regret_map_new(const struct regret_shapes *shapes, const struct tree *tree) {
    static const struct regret_axis none = {.dimension = -1, .count = 1};
    int count;
    if (shapes->count == 0)
        return NULL;
    struct ranked_dimension *ranked = rank_dimensions(shapes, tree, &count);
    struct regret_map *map = xcalloc(1, sizeof *map);
    map->shapes = shapes;
    map->x = count > 0 ? ranked[0].axis : none;
    map->y = count > 1 ? ranked[1].axis : none;
    if (map->y.count > map->x.count) { /* a page is wider than high */
        const struct regret_axis x = map->x;
        map->x = map->y;
        map->y = x;
    }
    divide_panels(map, ranked, count);
    free(ranked);
    fill_cells(map);
    return map;
}

void regret_map_free(struct regret_map *map) {
    if (map == NULL)
        return;
    free(map->rest);
    free(map->cells);
    free(map);
}

/* ---- texts ---- */

void regret_bin_print(const struct regret_bin *bin, bool is_short, char text[MAP_TEXT_SIZE]) {
    if (bin->low == bin->high)
        snprintf(text, MAP_TEXT_SIZE, "%.15g", bin->high);
    else if (is_short)
        snprintf(text, MAP_TEXT_SIZE, "\u2264%.15g", bin->high);
    else
        snprintf(text, MAP_TEXT_SIZE, "%s%.15g to %.15g", bin->first ? "" : "over ", bin->low,
                 bin->high);
}

void regret_map_print_panel(const struct regret_map *map, int panel, char *text, size_t size) {
    text[0] = '\0';
    for (int i = 0; i < map->panel_dimension_count; i++)
        text_append(text, size, "%s%s=%.15g", i > 0 ? ", " : "",
                    map->shapes->names[map->panel_dimensions[i]], map->panel_values[panel][i]);
}

void regret_shape_print(const struct regret_shapes *shapes, int shape, char *text, size_t size) {
    text[0] = '\0';
    for (int d = 0; d < shapes->dimension_count; d++)
        text_append(text, size, "%s%s=%.15g", d > 0 ? "," : "", shapes->names[d],
                    value_of(shapes, shape, d));
}

/* ---- the table ---- */

static void add_row(struct table *table, const struct regret_map *map, int panel, int x, int y) {
    const struct regret_cell *cell = regret_map_cell(map, panel, x, y);
    char panel_text[256], x_text[MAP_TEXT_SIZE] = "", y_text[MAP_TEXT_SIZE] = "", shape[512];
    if (cell->shapes == 0)
        return;
    regret_map_print_panel(map, panel, panel_text, sizeof panel_text);
    if (map->x.dimension >= 0)
        regret_bin_print(&map->x.bins[x], false, x_text);
    if (map->y.dimension >= 0)
        regret_bin_print(&map->y.bins[y], false, y_text);
    regret_shape_print(map->shapes, cell->worst_shape, shape, sizeof shape);
    table_add(table, "%s %s %s %d %d %.1f %d %d %s", panel_text, y_text, x_text, cell->shapes,
              cell->fitted, isfinite(cell->worst) ? 100 * (cell->worst - 1) : NAN, cell->unserved,
              cell->unfit, shape);
}

struct table *regret_map_table(const struct regret_map *map) {
    const struct regret_shapes *shapes = map->shapes;
    const struct table_column columns[] = {
        {.name = "panel", .heading = map->panel_dimension_count > 0 ? "panel" : NULL},
        {.name = "y", .heading = map->y.dimension >= 0 ? shapes->names[map->y.dimension] : NULL},
        {.name = "x", .heading = map->x.dimension >= 0 ? shapes->names[map->x.dimension] : NULL},
        {.name = "shapes", .heading = "shapes", .right = true},
        {.name = "fitted", .heading = "fitted\nto", .right = true},
        {.name = "worst_regret_percent", .heading = "worst regret\nin %", .right = true},
        {.name = "unserved", .heading = "without\na kernel", .right = true},
        {.name = "unfit", .heading = "no kernel\nfits", .right = true},
        {.name = "worst_shape", .heading = "worst shape", .wrap = true},
    };
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    for (int p = 0; p < map->panel_count; p++)
        for (int y = 0; y < map->y.count; y++)
            for (int x = 0; x < map->x.count; x++)
                add_row(table, map, p, x, y);
    return table;
}
