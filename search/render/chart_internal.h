/*
 * chart_internal: the panel that a chart is drawn into, and its axes. Private to render/: chart.c
 * lays out panels and draws marks, chart_axes.c places points and draws axes, svg.c writes text.
 *
 *     struct tick_list ticks;
 *     struct chart_point pixel;
 *     chart_make_ticks(&ticks, &chart->panel.x, (chart->right - chart->left) / X_TICK);
 *     chart_draw_axis(chart, &chart->panel.x, &ticks, false);
 *     if (chart_place_point(chart, point, &pixel))
 *         fprintf(chart->out, "M%.1f,%.1fh0", pixel.x, pixel.y);
 */
#ifndef EVOTILE_RENDER_CHART_INTERNAL_H
#define EVOTILE_RENDER_CHART_INTERNAL_H

#include "render/chart.h"

enum { TICKS_MAX = 32, LABEL_SIZE = 40 };
/* Pixels from one round number to the next, at least. */
enum { X_TICK = 76, Y_TICK = 32 };

struct chart {
    int width, height; /* in pixels */
    FILE *out;         /* writes `body` */
    char *body;
    size_t size;
    struct chart_panel panel;
    double left, top, right, bottom; /* the frame of the panel, in pixels */
};

struct tick_list {
    const struct chart_tick *items; /* the axis's own, or `made` */
    int count;
    struct chart_tick made[TICKS_MAX];
    char labels[TICKS_MAX][LABEL_SIZE];
};

/* Computes the pixels of a point; false: it has none. */
bool chart_place_point(const struct chart *chart, struct chart_point point,
                       struct chart_point *pixel);

/* The ticks of an axis that are shown. `most`: round numbers at most. The list must stay where it
   is. */
void chart_make_ticks(struct tick_list *ticks, const struct chart_axis *axis, double most);
/* In pixels. */
double chart_widest_label(const struct tick_list *ticks, double size);

/* Draws an axis at the frame's edge, its grid and its labels. */
void chart_draw_axis(struct chart *chart, const struct chart_axis *axis,
                     const struct tick_list *ticks, bool is_y);
/* The titles of the axes, of which `y` may be NULL, and of the panel; NULL: none. */
void chart_draw_titles(struct chart *chart, const struct chart_axis *x, const struct chart_axis *y,
                       const char *title);

#endif
