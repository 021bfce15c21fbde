/*
 * regret_map: the regret of a dispatcher over shapes, in the cells of a grid.
 *
 *     struct regret_map *map = regret_map_new(&shapes, tree);
 *     for (int p = 0; p < map->panel_count; p++)
 *         for (int y = 0; y < map->y.count; y++)
 *             for (int x = 0; x < map->x.count; x++)
 *                 if (regret_map_cell(map, p, x, y)->shapes > 0)
 *                     ...;
 *     regret_map_free(map);
 *
 * The two axes are the dimensions by which the tree divides most shapes; without such ones, those
 * along which the logarithm of the ratio varies most. An axis of few values has a bin for each;
 * of many it has ranges. Of the other dimensions, those of few values divide the map into panels;
 * a cell has all values of the rest, and shows its worst shape.
 */
#ifndef EVOTILE_REPORT_REGRET_MAP_H
#define EVOTILE_REPORT_REGRET_MAP_H

#include "dispatch/regret_shapes.h"
#include "dispatch/tree.h"
#include "render/table.h"

enum {
    MAP_BINS_MAX = 14,
    MAP_VALUES_MAX = 12, /* of an axis with a bin for each value */
    MAP_PANELS_MAX = 6,
    MAP_TEXT_SIZE = 96
};

/* Values above `low` up to `high`; a single value if both are equal. The first range of an axis has
   `low`, too. */
struct regret_bin {
    double low, high;
    bool first;
};

struct regret_axis {
    int dimension; /* -1: no other dimension varies, and there is one bin of all shapes */
    int count;
    struct regret_bin bins[MAP_BINS_MAX]; /* ascending */
};

struct regret_cell {
    int shapes; /* of which */
    int fitted, unserved, unfit;
    double worst;    /* ratio; INFINITY: a shape is unserved; NAN: no kernel fits any */
    int worst_shape; /* -1: there is no shape */
};

struct regret_map {
    const struct regret_shapes *shapes;
    struct regret_axis x, y;
    int panel_count, panel_dimension_count, panel_dimensions[MAP_PANELS_MAX];
    double panel_values[MAP_PANELS_MAX][MAP_PANELS_MAX]; /* [panel][panel dimension] */
    int rest_count, *rest;                               /* dimensions that vary within a cell */
    struct regret_cell *cells;
};

/* NULL: there are no shapes. The shapes must outlive the map. */
struct regret_map *regret_map_new(const struct regret_shapes *shapes, const struct tree *tree);
void regret_map_free(struct regret_map *map);

const struct regret_cell *regret_map_cell(const struct regret_map *map, int panel, int x, int y);

/* "64", "8 to 16" and "over 16 to 32"; or short, for a tick: "64", "<=16". */
void regret_bin_print(const struct regret_bin *bin, bool is_short, char text[MAP_TEXT_SIZE]);
/* "S=64, D=128": of a panel; "" if it is the only one. The size holds any names of templates;
   longer ones are cut. */
void regret_map_print_panel(const struct regret_map *map, int panel, char *text, size_t size);
/* "S=64,B=4": every dimension of a shape. */
void regret_shape_print(const struct regret_shapes *shapes, int shape, char *text, size_t size);

/* The cells with shapes, a row each. */
struct table *regret_map_table(const struct regret_map *map);

#endif
