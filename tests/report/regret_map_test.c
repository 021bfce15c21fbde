/* Maps of random shapes: each is in one cell, which shows its worst; hostile names and values. */
#include "base/random.h"
#include "report/pictures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs these first. */
#include <cmocka.h>

enum { DIMENSIONS = 5 };

static int times(const char *text, const char *word) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += strlen(word))
        count++;
    return count;
}

/* ---- shapes ---- */

/* Of dimension d a value of one of several kinds: few, many, far apart, real, of both signs. */
static double draw_value(struct random *random, int kind) {
    switch (kind) {
    case 0:
        return (double)random_below(random, 3);
    case 1:
        return (double)(1 + random_below(random, 100));
    case 2:
        return (double)(UINT64_C(1) << random_below(random, 40)) + (double)random_below(random, 3);
    case 3:
        return 1e-5 * (double)random_below(random, 1000) - 0.003;
    default:
        return 7;
    }
}

static double draw_ratio(struct random *random) {
    const uint64_t kind = random_below(random, 12);
    return kind == 0   ? REGRET_UNFIT
           : kind == 1 ? REGRET_UNSERVED
                       : 1 + (double)random_below(random, 1000) / 700;
}

static void draw_shapes(struct regret_shapes *shapes, struct random *random, int count) {
    static const char *const names[DIMENSIONS] = {"A", "B", "C", "D", "E"};
    int kinds[DIMENSIONS];
    regret_shapes_init(shapes, names, DIMENSIONS);
    for (int d = 0; d < DIMENSIONS; d++)
        kinds[d] = (int)random_below(random, 5);
    for (int s = 0; s < count; s++) {
        double values[DIMENSIONS];
        for (int d = 0; d < DIMENSIONS; d++)
            values[d] = draw_value(random, kinds[d]);
        regret_shapes_add(shapes, values, draw_ratio(random), random_below(random, 2) == 0);
    }
}

/* ---- what holds of every map ---- */

static void check_axis(const struct regret_axis *axis) {
    assert_in_range(axis->count, 1, MAP_BINS_MAX);
    for (int b = 0; b < axis->count && axis->dimension >= 0; b++) {
        assert_true(axis->bins[b].low <= axis->bins[b].high);
        assert_int_equal(axis->bins[b].first, b == 0);
        if (b > 0)
            assert_true(axis->bins[b].high > axis->bins[b - 1].high &&
                        axis->bins[b].low >= axis->bins[b - 1].high);
    }
}

/* By what the bin's text says. */
static bool holds(const struct regret_axis *axis, int bin, const double *values) {
    if (axis->dimension < 0)
        return true;
    const struct regret_bin *it = &axis->bins[bin];
    const double value = values[axis->dimension];
    return it->low == it->high
               ? value == it->high
               : value <= it->high && (it->first ? value >= it->low : value > it->low);
}

static bool is_in(const struct regret_map *map, int panel, int x, int y, int shape) {
    const double *values = map->shapes->values + shape * map->shapes->dimension_count;
    bool in = holds(&map->x, x, values) && holds(&map->y, y, values);
    for (int i = 0; i < map->panel_dimension_count; i++)
        in = in && values[map->panel_dimensions[i]] == map->panel_values[panel][i];
    return in;
}

static int check_cell(const struct regret_map *map, int panel, int x, int y) {
    const struct regret_cell *cell = regret_map_cell(map, panel, x, y);
    int shapes = 0, fitted = 0, unserved = 0, unfit = 0;
    double worst = 0;
    for (int s = 0; s < map->shapes->count; s++) {
        const double ratio = map->shapes->ratios[s];
        if (!is_in(map, panel, x, y, s))
            continue;
        shapes++;
        fitted += map->shapes->fitted[s];
        unserved += isinf(ratio);
        unfit += isnan(ratio);
        worst = ratio > worst ? ratio : worst;
    }
    assert_int_equal(cell->shapes, shapes);
    assert_int_equal(cell->fitted, fitted);
    assert_int_equal(cell->unserved, unserved);
    assert_int_equal(cell->unfit, unfit);
    assert_true(worst > 0 ? cell->worst == worst : isnan(cell->worst));
    assert_int_equal(cell->worst_shape >= 0, shapes > 0);
    if (shapes > 0)
        assert_true(is_in(map, panel, x, y, cell->worst_shape));
    return shapes;
}

/* Returns the number of cells with shapes. */
static int check_map(const struct regret_map *map) {
    int shapes = 0, cells = 0;
    check_axis(&map->x);
    check_axis(&map->y);
    assert_true(map->x.count >= map->y.count);
    assert_in_range(map->panel_count, 1, MAP_PANELS_MAX);
    for (int p = 0; p < map->panel_count; p++)
        for (int y = 0; y < map->y.count; y++)
            for (int x = 0; x < map->x.count; x++) {
                const int count = check_cell(map, p, x, y);
                shapes += count;
                cells += count > 0;
            }
    assert_int_equal(shapes, map->shapes->count);
    return cells;
}

/* Every text starts within the picture, and every cell has a tip. */
static void check_picture(const struct regret_map *map, int cells) {
    char *svg = picture_regret(map);
    int width, height;
    if (svg == NULL) {
        assert_int_equal(map->panel_count * map->x.count * map->y.count, 1);
        return;
    }
    assert_int_equal(sscanf(svg, "<svg viewBox=\"0 0 %d %d\"", &width, &height), 2);
    assert_int_equal(times(svg, "<title>"), cells);
    for (const char *at = svg; (at = strstr(at, "<text ")) != NULL; at++) {
        double x, y;
        assert_int_equal(sscanf(at, "<text x=\"%lf\" y=\"%lf\"", &x, &y), 2);
        assert_true(x >= 0 && x <= width && y >= 0 && y <= height);
    }
    assert_null(strstr(svg, "nan"));
    free(svg);
}

static void every_shape_is_in_one_cell(void **state) {
    struct random random;
    (void)state;
    random_seed(&random, 26, 1);
    for (int round = 0; round < 60; round++) {
        struct regret_shapes shapes;
        draw_shapes(&shapes, &random, 1 + (int)random_below(&random, 90));
        struct regret_map *map = regret_map_new(&shapes, NULL);
        const int cells = check_map(map);
        check_picture(map, cells);
        struct table *table = regret_map_table(map);
        assert_int_equal(table_row_count(table), cells);
        table_free(table);
        regret_map_free(map);
        regret_shapes_release(&shapes);
    }
}

/* ---- the axes ---- */

static void shapes_of_grid(struct regret_shapes *shapes) {
    static const char *const names[] = {"A", "B", "C", "D"};
    regret_shapes_init(shapes, names, 4);
    for (int i = 0; i < 81; i++) {
        const double values[] = {i % 3, i / 3 % 3, i / 9 % 3, i / 27};
        /* It varies most along C, then along A. */
        regret_shapes_add(shapes, values, 1 + 0.2 * values[2] + 0.05 * values[0], i % 2 == 0);
    }
}

static void expect_axes(const struct regret_map *map, int first, int second) {
    const int x = map->x.dimension, y = map->y.dimension;
    assert_true((x == first && y == second) || (x == second && y == first));
}

static void the_tree_names_the_axes(void **state) {
    struct tree_node nodes[] = {
        {.feature = {1, {1}}, .at_most = 0, .then = 1, .otherwise = 2},
        {.case_count = 27},
        {.feature = {1, {0}}, .at_most = 0, .then = 3, .otherwise = 4},
        {.case_count = 27},
        {.case_count = 27},
    };
    const struct tree tree = {
        .input_count = 2, .kernel_count = 1, .names = {"D", "B"}, .node_count = 5, .nodes = nodes};
    struct regret_shapes shapes;
    (void)state;
    shapes_of_grid(&shapes);
    struct regret_map *map = regret_map_new(&shapes, &tree);
    expect_axes(map, 1, 3);
    /* Then C, which varies more than A, which is left to the cells. */
    assert_int_equal(map->panel_dimension_count, 1);
    assert_int_equal(map->panel_dimensions[0], 2);
    assert_int_equal(map->rest_count, 1);
    assert_int_equal(map->rest[0], 0);
    regret_map_free(map);
    map = regret_map_new(&shapes, NULL);
    expect_axes(map, 0, 2);
    regret_map_free(map);
    regret_shapes_release(&shapes);
}

/* ---- what could break it ---- */

static void extreme_values_have_bins(void **state) {
    static const double ends[][2] = {{-1e308, 1e308},
                                     {1e-308, 1e308},
                                     {0x1p62, 0x1p62 + 0x1p15},
                                     {-5e-324, 5e-324},
                                     {1, 1.0000001}};
    static const char *const names[] = {"A", "B"};
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct regret_shapes shapes;
        regret_shapes_init(&shapes, names, 2);
        for (int s = 0; s <= 20; s++) {
            const double share = s / 20.0, value = (1 - share) * ends[i][0] + share * ends[i][1];
            regret_shapes_add(&shapes, (double[]){value, -value}, 1 + 1e300 * (s == 3), false);
        }
        struct regret_map *map = regret_map_new(&shapes, NULL);
        check_picture(map, check_map(map));
        regret_map_free(map);
        regret_shapes_release(&shapes);
    }
}

static void few_shapes_need_no_picture(void **state) {
    static const char *const names[] = {"A"};
    struct regret_shapes shapes;
    (void)state;
    regret_shapes_init(&shapes, names, 1);
    assert_null(regret_map_new(&shapes, NULL));
    regret_shapes_add(&shapes, (double[]){4}, REGRET_UNFIT, true);
    struct regret_map *map = regret_map_new(&shapes, NULL);
    assert_null(picture_regret(map));
    check_map(map);
    regret_map_free(map);
    regret_shapes_release(&shapes);
}

static void names_are_no_markup(void **state) {
    static const char *const names[] = {"<b>&\"'</title></svg>", "<script>alert(1)</script>",
                                        "%s%n", "x\"onload=\"alert(2)"};
    struct regret_shapes shapes;
    struct random random;
    (void)state;
    random_seed(&random, 1, 1);
    regret_shapes_init(&shapes, names, 4);
    for (int s = 0; s < 40; s++)
        regret_shapes_add(&shapes, (double[]){s % 7, s % 5, s % 2, s % 11}, draw_ratio(&random),
                          false);
    struct regret_map *map = regret_map_new(&shapes, NULL);
    char *svg = picture_regret(map);
    assert_int_equal(times(svg, "</svg>"), 1);
    assert_int_equal(times(svg, "<title>"), times(svg, "</title>"));
    assert_null(strstr(svg, "<b>"));
    assert_null(strstr(svg, "<script"));
    assert_null(strstr(svg, "\"onload"));
    assert_non_null(strstr(svg, "%s%n"));
    free(svg);
    regret_map_free(map);
    regret_shapes_release(&shapes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_is_in_one_cell), cmocka_unit_test(the_tree_names_the_axes),
        cmocka_unit_test(extreme_values_have_bins),   cmocka_unit_test(few_shapes_need_no_picture),
        cmocka_unit_test(names_are_no_markup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
