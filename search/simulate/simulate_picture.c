#include "simulate/simulate_picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/path.h"
#include "render/chart.h"

enum { PANEL_WIDTH = 420, PANEL_HEIGHT = 320, COLUMNS_MAX = 3 };

/* The lower end of the y axis: the expected result of random search after a twentieth of the
   trials, rounded down. */
static double lower_end(const struct picture *picture, int index) {
    double start = picture->panels[index].random[picture->trials / 20];
    return fmax(0, fmin(0.95, floor(20 * start - 1) / 20));
}

/* A curve has one value for each trial. */
static void draw_curve(struct chart *chart, const double *curve, int trials,
                       const struct chart_style *style) {
    struct chart_point *points = xcalloc((size_t)trials, sizeof *points);
    for (int k = 0; k < trials; k++)
        points[k] = (struct chart_point){k + 1, curve[k]};
    chart_line(chart, points, trials, style);
    free(points);
}

static void draw_panel(struct chart *chart, const struct picture *picture, int index, int columns,
                       const struct chart_series *series) {
    const struct panel *panel = &picture->panels[index];
    chart_begin_panel(chart,
                      &(struct chart_panel){
                          .title = panel->title,
                          .left = (double)(index % columns) * PANEL_WIDTH,
                          .top = (double)(index / columns) * PANEL_HEIGHT,
                          .width = PANEL_WIDTH,
                          .height = PANEL_HEIGHT,
                          .x = {.title = "trials", .high = fmax(picture->trials, 1), .grid = true},
                          .y = {.title = "optimum / best so far",
                                .low = lower_end(picture, index),
                                .high = 1.005,
                                .grid = true},
                          .legend = series,
                          .legend_count = picture->strategy_count + 1});
    draw_curve(chart, panel->random, picture->trials, &series[0].style);
    for (int i = 0; i < picture->strategy_count; i++)
        draw_curve(chart, panel->curves[i], picture->trials, &series[i + 1].style);
}

int picture_draw(const struct picture *picture, const char *path, struct error *error) {
    if (strlen(path) >= PATH_SIZE)
        return error_input(error, "the path %.60s... is too long", path);
    int columns = picture->panel_count < COLUMNS_MAX ? picture->panel_count : COLUMNS_MAX;
    int rows = (picture->panel_count + columns - 1) / columns;
    struct chart *chart = chart_new(columns * PANEL_WIDTH, rows * PANEL_HEIGHT);
    struct chart_series *series = xcalloc((size_t)picture->strategy_count + 1, sizeof *series);
    series[0] = (struct chart_series){.name = "random, expected",
                                      .style = {.colour = CHART_MUTED, .width = 2}};
    for (int i = 0; i < picture->strategy_count; i++)
        series[i + 1] =
            (struct chart_series){.name = picture->strategies[i],
                                  .style = {.colour = CHART_SERIES + i % CHART_SERIES_COUNT,
                                            .width = 2,
                                            .dashes = i / CHART_SERIES_COUNT % 4}};
    for (int i = 0; i < picture->panel_count; i++)
        draw_panel(chart, picture, i, columns, series);
    free(series);
    char *svg = chart_free(chart, "optimum / best so far, by trial", CHART_FILE);
    int status = path_write_file(path, svg, strlen(svg), error);
    free(svg);
    return status;
}
