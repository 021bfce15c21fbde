/*
 * simulate_picture: the curves of a simulation as an SVG, drawn by gnuplot: a panel a space, a line
 * a strategy, and in grey what random search is expected to do.
 *
 *     const struct picture picture = {panels, 9, names, 3, 400};
 *     if (picture_draw(&picture, "curves.svg", &error) < 0) ...
 */
#ifndef EVOTILE_CMD_SIMULATE_PICTURE_H
#define EVOTILE_CMD_SIMULATE_PICTURE_H

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

/* Fails when gnuplot is not there or did not draw; the file is put in place whole. */
int picture_draw(const struct picture *picture, const char *path, struct error *error);

#endif
