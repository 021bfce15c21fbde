/*
 * chart: a picture of panels with axes, as SVG text.
 *
 *     const struct chart_point points[] = {{1, 60}, {20, 12}, {300, 6}};
 *     struct chart *chart = chart_new(560, 300);
 *     chart_begin_panel(chart, &(struct chart_panel){
 *         .title = "(2,8,512,64)",
 *         .x = {.title = "trials", .low = 0, .high = 400},
 *         .y = chart_axis_around("us", 6, 60)});
 *     chart_steps(chart, points, 3, &(struct chart_style){.colour = CHART_ACCENT, .width = 2});
 *     char *svg = chart_free(chart, "best so far", CHART_INLINE);
 *     puts(svg);
 *     free(svg);
 *
 * Points are in the panel's own units; what is outside of the axes is drawn at the edge of the
 * frame. A point with NaN, or without a place on a logarithmic axis, is a gap in a line and no dot.
 * Sizes, widths and offsets are in pixels of the picture, from its upper left corner. Texts may
 * come from untrusted input.
 */
#ifndef EVOTILE_RENDER_CHART_H
#define EVOTILE_RENDER_CHART_H

#include <stdbool.h>
#include <stdio.h>

/* Colours are numbers: the page or the file has a style sheet that defines each as --cN. From
   CHART_SERIES on they distinguish lines. */
enum {
    CHART_GRID,
    CHART_MUTED,
    CHART_ACCENT,
    CHART_GOOD,
    CHART_BAD,
    CHART_STRONG,
    CHART_TEXT,
    CHART_SERIES = 10,
    CHART_SERIES_COUNT = 10,
    CHART_SCALE = 20, /* steps from little to much: their lightness alone tells them apart */
    CHART_SCALE_COUNT = 5,
    CHART_SCALE_TEXT = CHART_SCALE + CHART_SCALE_COUNT /* on the last two steps; CHART_TEXT is for
                                                          the others */
};

struct chart;

struct chart_tick {
    double at;
    const char *label;
};

struct chart_axis {
    const char *title; /* NULL: none */
    double low, high;  /* low < high; above 0 if logarithmic */
    bool logarithmic;
    bool hidden; /* draws only the title */
    bool bare;   /* labels without a line */
    bool grid;
    const struct chart_tick *ticks; /* NULL: round numbers */
    int tick_count;
    const char *unit; /* after each round number: " %"; NULL: nothing */
    double rotation;  /* of an x axis's labels, in degrees */
    double size;      /* of the labels; 0: as all text */
};

struct chart_style {
    int colour;
    double width;     /* of a line or a dot; 0: 1 */
    double opacity;   /* 0: opaque */
    int dashes;       /* 0: none; up to 3: different patterns */
    const char *name; /* the attribute data-name, for a page's script; NULL: none */
    const char *tip;  /* of boxes: what a browser shows under the pointer; NULL: nothing */
};

struct chart_series {
    const char *name;
    struct chart_style style;
    bool dots; /* else a line */
};

/* Where a panel is, margins included: the frame is inside of them. With a width of 0 it is the
   whole picture. A margin of 0 is as wide as the labels need. */
struct chart_panel {
    const char *title; /* NULL: none */
    double left, top, width, height;
    double margin_left, margin_right, margin_top, margin_bottom;
    struct chart_axis x, y;
    const struct chart_series *legend; /* above the frame; NULL: none */
    int legend_count;
};

struct chart_point {
    double x, y;
};

struct chart_box {
    struct chart_point from, to;
};

enum chart_anchor { CHART_START, CHART_MIDDLE, CHART_END };

/* Text at a point, moved by (dx, dy) pixels; dy is downwards. */
struct chart_text {
    struct chart_point at;
    double dx, dy, size; /* size 0: as all text */
    int colour;
    enum chart_anchor anchor;
    bool in_box; /* a box of another colour is behind it */
};

struct chart *chart_new(int width, int height);

/* What follows is drawn into this panel. */
void chart_begin_panel(struct chart *chart, const struct chart_panel *panel);

/* The frame of the panel in pixels: `from` is its upper left corner. */
struct chart_box chart_frame(const struct chart *chart);

void chart_line(struct chart *chart, const struct chart_point *points, int count,
                const struct chart_style *style);
/* The value of a point is valid until the next one. */
void chart_steps(struct chart *chart, const struct chart_point *points, int count,
                 const struct chart_style *style);
void chart_dots(struct chart *chart, const struct chart_point *points, int count,
                const struct chart_style *style);
/* Filled rectangles. */
void chart_boxes(struct chart *chart, const struct chart_box *boxes, int count,
                 const struct chart_style *style);
/* A line along one of the axes, with a short bar at both ends. */
void chart_interval(struct chart *chart, struct chart_point from, struct chart_point to,
                    const struct chart_style *style);
void chart_text(struct chart *chart, const struct chart_text *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* An x axis in a group with the attribute data-name, for a panel whose own one is hidden: a page's
   script may show another one instead. */
void chart_add_x_axis(struct chart *chart, const struct chart_axis *axis, const char *name,
                      bool shown);

/* The step at which at most `count` ticks divide the range: 1, 2 or 5 times a power of ten. */
double chart_tick_step(double range, int count);

/* An axis with a grid that shows low to high with room around it; logarithmic if high is more than
   five times low. */
struct chart_axis chart_axis_around(const char *title, double low, double high);

enum chart_form { CHART_INLINE, CHART_FILE };

/* Frees the chart and returns its SVG, which the caller frees. `label` describes it to screen
   readers. CHART_FILE is a document with colours and a white background of its own. */
char *chart_free(struct chart *chart, const char *label, enum chart_form form);

/* The style sheet with the colours of CHART_INLINE, for a light and a dark background. */
void chart_print_colours(FILE *out);

#endif
