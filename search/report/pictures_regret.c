/* pictures_regret: the heat map of a dispatcher's regret over shapes. */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/strbuf.h"
#include "render/chart.h"
#include "report/pictures.h"

enum {
    CELL_WIDTH = 34, /* at least: four characters */
    CELL_WIDTH_MOST = 88,
    CELL_HEIGHT = 26,
    MARGIN_RIGHT = 16,
    MARGIN_TOP = 28,
    LEGEND_HEIGHT = 52,
    LEGEND_BOX = 24,
    LABEL_SIZE = 11,
    LETTER = 7, /* of a label, as wide as it gets */
    LABELS_MOST = 120
};

/* The upper ends of the scale's steps, in percent; the last one has none. */
static const double steps[CHART_SCALE_COUNT - 1] = {1, 3, 10, 30};

static int step_of(double ratio) {
    int step = 0;
    while (step < CHART_SCALE_COUNT - 1 && 100 * (ratio - 1) > steps[step])
        step++;
    return step;
}

/* ---- cells ---- */

enum cell_kind { CELL_EMPTY, CELL_SERVED, CELL_UNSERVED, CELL_UNFIT };

static enum cell_kind kind_of(const struct regret_cell *cell) {
    return cell->shapes == 0    ? CELL_EMPTY
           : cell->unserved > 0 ? CELL_UNSERVED
           : isnan(cell->worst) ? CELL_UNFIT
                                : CELL_SERVED;
}

/* Without a kernel a cell is crossed out, and where none fits it is a dash: neither is a colour of
   the scale. */
static void draw_kind(struct chart *chart, struct chart_box box, enum cell_kind kind, int step,
                      const char *tip) {
    const struct chart_style line = {.colour = CHART_TEXT, .width = 1.2};
    const struct chart_point down[] = {box.from, box.to},
                             up[] = {{box.from.x, box.to.y}, {box.to.x, box.from.y}};
    const double middle = (box.from.y + box.to.y) / 2, width = box.to.x - box.from.x;
    const struct chart_point dash[] = {{box.from.x + 0.35 * width, middle},
                                       {box.to.x - 0.35 * width, middle}};
    chart_boxes(chart, &box, 1,
                &(struct chart_style){
                    .colour = kind == CELL_SERVED ? CHART_SCALE + step : CHART_GRID, .tip = tip});
    if (kind == CELL_UNSERVED) {
        chart_line(chart, down, 2, &line);
        chart_line(chart, up, 2, &line);
    }
    if (kind == CELL_UNFIT)
        chart_line(chart, dash, 2, &line);
}

static void print_dimension(const struct regret_map *map, const struct regret_axis *axis, int bin,
                            char *text, size_t size) {
    char values[MAP_TEXT_SIZE];
    if (axis->dimension < 0)
        return;
    regret_bin_print(&axis->bins[bin], false, values);
    text_append(text, size, "%s %s, ", map->shapes->names[axis->dimension], values);
}

static void print_tip(const struct regret_map *map, int panel, int x, int y, char *text,
                      size_t size) {
    const struct regret_cell *cell = regret_map_cell(map, panel, x, y);
    char shape[512];
    regret_map_print_panel(map, panel, text, size);
    text_append(text, size, "%s", map->panel_dimension_count > 0 ? ", " : "");
    print_dimension(map, &map->y, y, text, size);
    print_dimension(map, &map->x, x, text, size);
    text_append(text, size, "%d shape%s", cell->shapes, cell->shapes == 1 ? "" : "s");
    if (cell->fitted > 0)
        text_append(text, size, " (the tree was fitted to %d)", cell->fitted);
    if (cell->unserved > 0)
        text_append(text, size, "; %d without a kernel", cell->unserved);
    if (cell->unfit > 0)
        text_append(text, size, "; %d that no kernel fits", cell->unfit);
    regret_shape_print(map->shapes, cell->worst_shape, shape, sizeof shape);
    if (isfinite(cell->worst))
        text_append(text, size, "; worst regret %.1f %%, a ratio of %.3f, at %s",
                    100 * (cell->worst - 1), cell->worst, shape);
    else if (cell->unserved > 0)
        text_append(text, size, ", as %s", shape);
}

static void draw_cell(struct chart *chart, const struct regret_map *map, int panel, int x, int y) {
    const struct regret_cell *cell = regret_map_cell(map, panel, x, y);
    const enum cell_kind kind = kind_of(cell);
    const struct chart_box box = {{x + 0.03, y + 0.05}, {x + 0.97, y + 0.95}};
    char tip[2048];
    if (kind == CELL_EMPTY)
        return;
    const int step = kind == CELL_SERVED ? step_of(cell->worst) : 0;
    print_tip(map, panel, x, y, tip, sizeof tip);
    draw_kind(chart, box, kind, step, tip);
    if (kind != CELL_SERVED)
        return;
    const double percent = 100 * (cell->worst - 1);
    const struct chart_text text = {.at = {x + 0.5, y + 0.5},
                                    .dy = 4,
                                    .size = LABEL_SIZE,
                                    .colour = step >= CHART_SCALE_COUNT - 2 ? CHART_SCALE_TEXT
                                                                            : CHART_TEXT,
                                    .anchor = CHART_MIDDLE,
                                    .in_box = true};
    if (percent < 999.5)
        chart_text(chart, &text, "%.*f", percent < 99.95, percent);
    else
        chart_text(chart, &text, ">999");
}

/* ---- panels ---- */

/* Of every panel. */
struct layout {
    double left, bottom, width, height; /* margins, and the whole panel */
    bool steep;                         /* labels below do not fit side by side */
    int columns;
};

/* The pixels of an axis's longest label. */
static int label_width(const struct regret_axis *axis) {
    int longest = 0;
    for (int b = 0; b < axis->count && axis->dimension >= 0; b++) {
        char text[MAP_TEXT_SIZE];
        int letters = 0;
        regret_bin_print(&axis->bins[b], true, text);
        for (const char *at = text; *at != '\0'; at++)
            letters += (*at & 0xc0) != 0x80;
        longest = letters > longest ? letters : longest;
    }
    return longest * LETTER < LABELS_MOST ? longest * LETTER : LABELS_MOST;
}

static struct layout lay_out(const struct regret_map *map) {
    const int count = map->x.count, label = label_width(&map->x);
    struct layout it = {.left = 36 + label_width(&map->y)};
    const double margins = it.left + MARGIN_RIGHT;
    it.columns = (int)(PICTURE_WIDE / (margins + count * CELL_WIDTH));
    it.columns = it.columns > map->panel_count ? map->panel_count : it.columns;
    it.columns = it.columns < 1 ? 1 : it.columns;
    const double cells = fmin(PICTURE_WIDE / it.columns - margins, count * CELL_WIDTH_MOST);
    it.steep = label > cells / count;
    it.bottom = it.steep ? 36 + 0.7 * label : 46;
    it.width = margins + cells;
    it.height = MARGIN_TOP + map->y.count * CELL_HEIGHT + it.bottom;
    return it;
}

struct tick_labels {
    char texts[MAP_BINS_MAX][MAP_TEXT_SIZE];
    struct chart_tick ticks[MAP_BINS_MAX];
};

static struct chart_axis axis_of(const struct regret_map *map, const struct regret_axis *of,
                                 struct tick_labels *labels) {
    struct chart_axis axis = {.high = of->count, .size = LABEL_SIZE, .bare = true};
    if (of->dimension < 0) {
        axis.hidden = true;
        return axis;
    }
    axis.title = map->shapes->names[of->dimension];
    axis.ticks = labels->ticks;
    axis.tick_count = of->count;
    for (int b = 0; b < of->count; b++) {
        regret_bin_print(&of->bins[b], true, labels->texts[b]);
        labels->ticks[b] = (struct chart_tick){b + 0.5, labels->texts[b]};
    }
    return axis;
}

/* The lines between the cells, so that one without shapes is seen as empty. */
static void draw_grid(struct chart *chart, const struct regret_map *map) {
    const struct chart_style line = {.colour = CHART_GRID};
    for (int x = 0; x <= map->x.count; x++)
        chart_line(chart, (struct chart_point[]){{x, 0}, {x, map->y.count}}, 2, &line);
    for (int y = 0; y <= map->y.count; y++)
        chart_line(chart, (struct chart_point[]){{0, y}, {map->x.count, y}}, 2, &line);
}

static void draw_panel(struct chart *chart, const struct regret_map *map, int panel,
                       const struct layout *layout) {
    struct tick_labels x_labels, y_labels;
    char title[256];
    regret_map_print_panel(map, panel, title, sizeof title);
    struct chart_panel where = {.title = title[0] != '\0' ? title : NULL,
                                .left = panel % layout->columns * layout->width,
                                .top = LEGEND_HEIGHT +
                                       (double)(panel / layout->columns) * layout->height,
                                .width = layout->width,
                                .height = layout->height,
                                .margin_left = layout->left,
                                .margin_right = MARGIN_RIGHT,
                                .margin_top = MARGIN_TOP,
                                .margin_bottom = layout->bottom,
                                .x = axis_of(map, &map->x, &x_labels),
                                .y = axis_of(map, &map->y, &y_labels)};
    where.x.rotation = layout->steep ? 45 : 0;
    chart_begin_panel(chart, &where);
    draw_grid(chart, map);
    for (int y = 0; y < map->y.count; y++)
        for (int x = 0; x < map->x.count; x++)
            draw_cell(chart, map, panel, x, y);
}

/* ---- the legend ---- */

struct legend_entry {
    enum cell_kind kind;
    int step, width; /* of its text, in pixels */
    const char *text;
};

static void draw_legend(struct chart *chart) {
    static const struct legend_entry entries[] = {
        {CELL_SERVED, 0, 66, "up to 1 %"},     {CELL_SERVED, 1, 66, "up to 3 %"},
        {CELL_SERVED, 2, 72, "up to 10 %"},    {CELL_SERVED, 3, 72, "up to 30 %"},
        {CELL_SERVED, 4, 40, "more"},          {CELL_UNSERVED, 0, 138, "a shape has no kernel"},
        {CELL_UNFIT, 0, 94, "no kernel fits"}, {CELL_EMPTY, 0, 60, "no shape"},
    };
    double x = 10;
    chart_begin_panel(chart, &(struct chart_panel){.width = PICTURE_WIDE,
                                                   .height = LEGEND_HEIGHT,
                                                   .margin_left = 0.01,
                                                   .margin_right = 0.01,
                                                   .margin_top = 0.01,
                                                   .margin_bottom = 0.01,
                                                   .x = {.high = PICTURE_WIDE, .hidden = true},
                                                   .y = {.high = LEGEND_HEIGHT, .hidden = true}});
    chart_text(chart, &(struct chart_text){.at = {x, 36}, .size = LABEL_SIZE, .colour = CHART_TEXT},
               "worst regret of the shapes in a cell, in percent:");
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        const struct legend_entry *entry = &entries[i];
        const struct chart_box box = {{x, 8}, {x + LEGEND_BOX, 24}};
        if (entry->kind == CELL_EMPTY)
            chart_line(
                chart,
                (struct chart_point[]){
                    box.from, {box.to.x, box.from.y}, box.to, {box.from.x, box.to.y}, box.from},
                5, &(struct chart_style){.colour = CHART_GRID});
        else
            draw_kind(chart, box, entry->kind, entry->step, NULL);
        chart_text(chart,
                   &(struct chart_text){
                       .at = {box.to.x, 12}, .dx = 6, .size = LABEL_SIZE, .colour = CHART_TEXT},
                   "%s", entry->text);
        x = box.to.x + 6 + entry->width + 14;
    }
}

/* ---- the picture ---- */

char *picture_regret(const struct regret_map *map) {
    if (map->panel_count * map->x.count * map->y.count < 2)
        return NULL;
    const struct layout layout = lay_out(map);
    const int rows = (map->panel_count + layout.columns - 1) / layout.columns;
    struct chart *chart = chart_new(PICTURE_WIDE, LEGEND_HEIGHT + (int)ceil(rows * layout.height));
    draw_legend(chart);
    for (int p = 0; p < map->panel_count; p++)
        draw_panel(chart, map, p, &layout);
    return chart_free(chart, "regret over shapes", CHART_INLINE);
}
