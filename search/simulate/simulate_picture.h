/* simulate_picture: draws the results of a simulation as an SVG file.
 *
 * One panel for each space, one line for each strategy, and in grey the expected result of random
 * search.
 *
 *     const struct picture picture = {panels, 9, names, 3, 400};
 *     int status = picture_draw(&picture, "curves.svg", &error);
 */
#ifndef EVOTILE_SIMULATE_SIMULATE_PICTURE_H
#define EVOTILE_SIMULATE_SIMULATE_PICTURE_H

#include "base/error.h"

struct panel {
    const char *title;
    const double *random;        /* optimum / best so far, by trial */
    const double *const *curves; /* the same by strategy */
};

struct picture {
    const struct panel *panels;
    int panel_count;
    const char *const *strategies;
    int strategy_count;
    int trials;
};

/* The file is replaced atomically. */
int picture_draw(const struct picture *picture, const char *path, struct error *error);

#endif
