/*
 * ranges: the section "ranges" of a config says which shapes a caller may have, beside the cases
 * that are searched; and shapes are drawn from it, or read from a file.
 *
 *     "ranges": { "B": { "min": 1, "max": 16 },
 *                 "S": { "min": 64, "max": 4096, "multiple_of": 64, "scale": "log" },
 *                 "H": { "min": 1, "max": 32 }, "H_KV": { "divides": "H" },
 *                 "CAUSAL": { "values": [0, 1] } }
 *
 *     struct shape *shapes;
 *     int count = config_draw_shapes(config, 200, config->seed, &shapes, &error);
 *     ...                                                // -1: `error` says why
 *     free(shapes);
 *
 * Dimensions that have no range have their defaults. Like held-out cases, shapes have the
 * specialised dimensions of a case: no kernel is compiled for others.
 */
#ifndef EVOTILE_CONFIG_RANGES_H
#define EVOTILE_CONFIG_RANGES_H

#include "config/config.h"

enum { SHAPES_MAX = 4096 };

/* Reads the section; `root` is the config, whose cases are known. Private to config/. */
int config_read_ranges(struct config *config, const struct json *root, struct error *error);

/* Draws up to `count` shapes, 1 to SHAPES_MAX, that differ from each other and from the cases.
   Returns their number, fewer only where the ranges have no more; the same seed gives the same
   shapes. The caller frees them. */
int config_draw_shapes(const struct config *config, int count, uint64_t seed, struct shape **shapes,
                       struct error *error);

/* The ends of the ranges: for each case the shape with the least values, and that with the most,
   where the values of a list are the case's. They differ from each other and from the cases.
   Returns their number, which may be 0. The caller frees them. */
int config_end_shapes(const struct config *config, struct shape **shapes);

/* Reads a file with a list of shapes, as "cases" of a config has them, or an object with such a
   list under "cases", whose other keys are ignored: a config. */
int config_read_shapes(const struct config *config, const char *path, struct shape **shapes,
                       struct error *error);

/* Whether the specialised dimensions are those of a case. */
bool config_is_compiled(const struct config *config, const struct shape *shape);

#endif
