#include "dispatch/regret_shapes.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void regret_shapes_init(struct regret_shapes *shapes, const char *const *names, int count) {
    *shapes = (struct regret_shapes){.dimension_count = count,
                                     .names = xcalloc((size_t)count, sizeof *shapes->names)};
    for (int d = 0; d < count; d++)
        shapes->names[d] = xstrdup(names[d]);
}

void regret_shapes_add(struct regret_shapes *shapes, const double *values, double ratio,
                       bool fitted) {
    const size_t count = (size_t)shapes->count,
                 bytes = (size_t)shapes->dimension_count * sizeof *values;
    shapes->values = xgrow(shapes->values, count, bytes);
    shapes->ratios = xgrow(shapes->ratios, count, sizeof *shapes->ratios);
    shapes->fitted = xgrow(shapes->fitted, count, sizeof *shapes->fitted);
    memcpy(shapes->values + count * (size_t)shapes->dimension_count, values, bytes);
    shapes->ratios[count] = ratio;
    shapes->fitted[count] = fitted;
    shapes->count++;
}

void regret_shapes_release(struct regret_shapes *shapes) {
    for (int d = 0; d < shapes->dimension_count; d++)
        free(shapes->names[d]);
    free(shapes->names);
    free(shapes->values);
    free(shapes->ratios);
    free(shapes->fitted);
    *shapes = (struct regret_shapes){0};
}
