#include "render/chart.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/mustache.h"

enum { TICKS_MAX = 32, LABEL_SIZE = 40, TEXT_SIZE = 12, LEGEND_SIZE = 11, LEGEND_LINE = 15 };
/* Pixels from one round number to the next, at least. */
enum { X_TICK = 76, Y_TICK = 32 };

struct chart {
    int width, height;
    FILE *out;
    char *body;
    size_t size;
    struct chart_panel panel;
    double left, top, right, bottom; /* the frame of the panel, in pixels */
};

static const struct {
    int number;
    const char *light, *dark;
} colours[] = {
    {CHART_GRID, "#e3e7eb", "#2b333d"},   {CHART_MUTED, "#8b95a1", "#78848f"},
    {CHART_ACCENT, "#2563c9", "#6ea8ff"}, {CHART_GOOD, "#1a8a4f", "#4cc785"},
    {CHART_BAD, "#cc3d3d", "#ff7d74"},    {CHART_STRONG, "#e07b16", "#ffae57"},
    {10, "#2563c9", "#6ea8ff"},           {11, "#e07b16", "#ffae57"},
    {12, "#1a8a4f", "#4cc785"},           {13, "#cc3d3d", "#ff7d74"},
    {14, "#7b4fc4", "#b99bf5"},           {15, "#0e8f9c", "#4fcfd9"},
    {16, "#b3488f", "#ee8fce"},           {17, "#7c6a2e", "#cdb86a"},
    {18, "#59718a", "#9db4cc"},           {19, "#6aa524", "#a8dd62"},
    {20, "#fdf0cf", "#3a3220"},           {21, "#f9cf72", "#5c451c"},
    {22, "#ef9c3d", "#85551a"},           {23, "#bd5417", "#e39a3c"},
    {24, "#74260a", "#ffdca3"},           {CHART_SCALE_TEXT, "#ffffff", "#13171c"},
};

struct chart *chart_new(int width, int height) {
    struct chart *chart = xcalloc(1, sizeof *chart);
    chart->width = width;
    chart->height = height;
    chart->out = xopen_memstream(&chart->body, &chart->size);
    return chart;
}

struct chart_box chart_frame(const struct chart *chart) {
    return (struct chart_box){{chart->left, chart->top}, {chart->right, chart->bottom}};
}

/* ---- attributes and text ---- */

static void print_colour(FILE *out, const char *attribute, int colour) {
    if (colour == CHART_TEXT)
        fprintf(out, " %s=\"currentColor\"", attribute);
    else
        fprintf(out, " %s=\"var(--c%d)\"", attribute, colour);
}

static void print_name(FILE *out, const char *name) {
    if (name == NULL)
        return;
    fputs(" data-name=\"", out);
    mustache_escape_html(name, out);
    fputc('"', out);
}

/* Ends a path that is a line. */
static void end_stroke(FILE *out, const struct chart_style *style) {
    static const char *const dashes[] = {"", "6 4", "2 3", "9 3 2 3"};
    fprintf(out, "\" fill=\"none\" stroke-width=\"%.3g\"", style->width > 0 ? style->width : 1);
    print_colour(out, "stroke", style->colour);
    if (style->dashes > 0)
        fprintf(out, " stroke-dasharray=\"%s\"", dashes[style->dashes]);
    if (style->opacity > 0)
        fprintf(out, " stroke-opacity=\"%.2f\"", style->opacity);
    print_name(out, style->name);
    fputs("/>\n", out);
}

/* About as wide as a sans serif font prints it. */
static double text_width(const char *text, double size) {
    int letters = 0;
    for (; *text != '\0'; text++)
        letters += (*text & 0xc0) != 0x80;
    return 0.65 * (size > 0 ? size : TEXT_SIZE) * letters;
}

static void begin_texts(FILE *out, enum chart_anchor anchor, int colour, double size) {
    static const char *const anchors[] = {"start", "middle", "end"};
    fprintf(out, "<g text-anchor=\"%s\"", anchors[anchor]);
    if (size > 0)
        fprintf(out, " font-size=\"%g\"", size);
    print_colour(out, "fill", colour);
    fputs(">", out);
}

static void print_text(FILE *out, double x, double y, double rotation, const char *text) {
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\"", x, y);
    if (rotation != 0)
        fprintf(out, " transform=\"rotate(%g %.1f %.1f)\"", -rotation, x, y);
    fputc('>', out);
    mustache_escape_html(text, out);
    fputs("</text>", out);
}

static void end_texts(FILE *out) {
    fputs("</g>\n", out);
}

static void print_one_text(FILE *out, double x, double y, double rotation, const char *text) {
    begin_texts(out, CHART_MIDDLE, CHART_TEXT, 0);
    print_text(out, x, y, rotation, text);
    end_texts(out);
}

/* ---- coordinates ---- */

static double place_on(const struct chart_axis *axis, double value) {
    if (axis->logarithmic)
        return log(value / axis->low) / log(axis->high / axis->low);
    return (value - axis->low) / (axis->high - axis->low);
}

/* What is outside of the axes is at the edge of the frame. */
static double share_of(const struct chart_axis *axis, double value) {
    return fmin(fmax(place_on(axis, value), 0), 1);
}

static double pixel_x(const struct chart *chart, const struct chart_axis *axis, double value) {
    return chart->left + share_of(axis, value) * (chart->right - chart->left);
}

static double pixel_y(const struct chart *chart, const struct chart_axis *axis, double value) {
    return chart->bottom - share_of(axis, value) * (chart->bottom - chart->top);
}

static bool has_place(const struct chart_axis *axis, double value) {
    return isfinite(value) && (!axis->logarithmic || value > 0);
}

/* Computes the pixels of a point; false: it has none. */
static bool place_point(const struct chart *chart, struct chart_point point,
                        struct chart_point *pixel) {
    const struct chart_panel *panel = &chart->panel;
    if (!has_place(&panel->x, point.x) || !has_place(&panel->y, point.y))
        return false;
    *pixel = (struct chart_point){pixel_x(chart, &panel->x, point.x),
                                  pixel_y(chart, &panel->y, point.y)};
    return true;
}

/* ---- ticks ---- */

double chart_tick_step(double range, int count) {
    double least = range / count, power = pow(10, floor(log10(least))), share = least / power;
    return power * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
}

static bool spans_much(double low, double high) {
    return low > 0 && high > 5 * low;
}

struct chart_axis chart_axis_around(const char *title, double low, double high) {
    double room = high > low ? 0.07 * (high - low) : fmax(0.02 * fabs(high), 1e-9);
    struct chart_axis axis = {.title = title, .low = low - room, .high = high + room, .grid = true};
    if (spans_much(low, high)) {
        axis.logarithmic = true;
        axis.low = 0.93 * low;
        axis.high = 1.07 * high;
    }
    return axis;
}

struct tick_list {
    const struct chart_tick *items; /* the axis's own, or `made` */
    int count;
    struct chart_tick made[TICKS_MAX];
    char labels[TICKS_MAX][LABEL_SIZE];
};

static void add_tick(struct tick_list *ticks, const struct chart_axis *axis, double at) {
    if (ticks->count == TICKS_MAX || at < axis->low || at > axis->high)
        return;
    char *label = ticks->labels[ticks->count];
    snprintf(label, LABEL_SIZE, "%.6g%s", at, axis->unit != NULL ? axis->unit : "");
    ticks->made[ticks->count++] = (struct chart_tick){at, label};
}

/* A few multiples of each power of ten; over many powers only these. */
static void add_log_ticks(struct tick_list *ticks, const struct chart_axis *axis) {
    static const struct {
        double span;
        double steps[6];
    } kinds[] = {{60, {1, 2, 3, 5, 7}}, {1000, {1, 3}}, {INFINITY, {1}}};
    int kind = 0;
    while (axis->high / axis->low > kinds[kind].span)
        kind++;
    for (double power = pow(10, floor(log10(axis->low))); power <= axis->high; power *= 10)
        for (int i = 0; kinds[kind].steps[i] > 0; i++)
            add_tick(ticks, axis, power * kinds[kind].steps[i]);
}

/* `most`: round numbers at most. */
static void make_ticks(struct tick_list *ticks, const struct chart_axis *axis, double most) {
    ticks->items = axis->ticks != NULL ? axis->ticks : ticks->made;
    ticks->count = axis->ticks != NULL ? axis->tick_count : 0;
    if (axis->ticks != NULL || axis->hidden)
        return;
    if (axis->logarithmic && spans_much(axis->low, axis->high)) {
        add_log_ticks(ticks, axis);
        return;
    }
    double step = chart_tick_step(axis->high - axis->low, most < 2    ? 2
                                                          : most > 10 ? 10
                                                                      : (int)most);
    for (double number = ceil(axis->low / step); number * step <= axis->high; number++)
        add_tick(ticks, axis, number * step + 0.0); /* no -0 */
}

static double widest_label(const struct tick_list *ticks, double size) {
    double widest = 0;
    for (int i = 0; i < ticks->count; i++)
        widest = fmax(widest, text_width(ticks->items[i].label, size));
    return widest;
}

/* ---- axes ---- */

static bool is_shown(const struct chart_axis *axis, const struct chart_tick *tick) {
    return tick->at >= axis->low && tick->at <= axis->high;
}

/* A path of lines across the axis, one at each tick: from `near` to `far`, in pixels. */
static void print_rules(struct chart *chart, const struct chart_axis *axis,
                        const struct tick_list *ticks, bool is_y, double near, double far) {
    for (int i = 0; i < ticks->count; i++) {
        double at = ticks->items[i].at;
        if (!is_shown(axis, &ticks->items[i]))
            continue;
        if (is_y)
            fprintf(chart->out, "M%.1f,%.1fH%.1f", near, pixel_y(chart, axis, at), far);
        else
            fprintf(chart->out, "M%.1f,%.1fV%.1f", pixel_x(chart, axis, at), near, far);
    }
}

static void print_labels(struct chart *chart, const struct chart_axis *axis,
                         const struct tick_list *ticks, bool is_y) {
    enum chart_anchor anchor = is_y || axis->rotation > 0 ? CHART_END : CHART_MIDDLE;
    begin_texts(chart->out, anchor, CHART_TEXT, axis->size);
    for (int i = 0; i < ticks->count; i++) {
        const struct chart_tick *tick = &ticks->items[i];
        if (!is_shown(axis, tick))
            continue;
        if (is_y)
            print_text(chart->out, chart->left - 7, pixel_y(chart, axis, tick->at) + 4, 0,
                       tick->label);
        else
            print_text(chart->out, pixel_x(chart, axis, tick->at),
                       chart->bottom + (axis->rotation > 0 ? 12 : 17), axis->rotation, tick->label);
    }
    end_texts(chart->out);
}

static void draw_axis(struct chart *chart, const struct chart_axis *axis,
                      const struct tick_list *ticks, bool is_y) {
    const struct chart_style grid = {.colour = CHART_GRID, .width = 0.6},
                             line = {.colour = CHART_MUTED};
    if (axis->hidden)
        return;
    if (axis->grid && ticks->count > 0) {
        fputs("<path d=\"", chart->out);
        print_rules(chart, axis, ticks, is_y, is_y ? chart->left : chart->top,
                    is_y ? chart->right : chart->bottom);
        end_stroke(chart->out, &grid);
    }
    if (!axis->bare) {
        fprintf(chart->out, "<path d=\"M%.1f,%.1f%c%.1f", chart->left, chart->bottom,
                is_y ? 'V' : 'H', is_y ? chart->top : chart->right);
        print_rules(chart, axis, ticks, is_y, is_y ? chart->left - 4 : chart->bottom,
                    is_y ? chart->left : chart->bottom + 4);
        end_stroke(chart->out, &line);
    }
    print_labels(chart, axis, ticks, is_y);
}

static void draw_titles(struct chart *chart, const struct chart_axis *x, const struct chart_axis *y,
                        const char *title) {
    const struct chart_panel *panel = &chart->panel;
    double middle = (chart->left + chart->right) / 2;
    if (x->title != NULL)
        print_one_text(chart->out, middle, panel->top + panel->height - 6, 0, x->title);
    if (y != NULL && y->title != NULL)
        print_one_text(chart->out, panel->left + 14, (chart->top + chart->bottom) / 2, 90,
                       y->title);
    if (title != NULL)
        print_one_text(chart->out, middle, panel->top + 15, 0, title);
}

void chart_add_x_axis(struct chart *chart, const struct chart_axis *axis, const char *name,
                      bool shown) {
    struct tick_list ticks;
    make_ticks(&ticks, axis, (chart->right - chart->left) / X_TICK);
    fputs("<g", chart->out);
    print_name(chart->out, name);
    fputs(shown ? ">\n" : " display=\"none\">\n", chart->out);
    draw_axis(chart, axis, &ticks, false);
    draw_titles(chart, axis, NULL, NULL);
    end_texts(chart->out);
}

/* ---- panels ---- */

/* Lays the legend out in lines from `top` on and draws it if `draw`. Returns its height. */
static double lay_out_legend(struct chart *chart, double top, bool draw) {
    const struct chart_panel *panel = &chart->panel;
    double left = panel->left + 10, x = left, y = top + LEGEND_LINE;
    if (panel->legend_count == 0)
        return 0;
    for (int i = 0; i < panel->legend_count; i++) {
        const struct chart_series *series = &panel->legend[i];
        double width = 36 + text_width(series->name, LEGEND_SIZE);
        if (x + width > panel->left + panel->width && x > left) {
            x = left;
            y += LEGEND_LINE;
        }
        if (draw && series->dots)
            fprintf(chart->out, "<path stroke-linecap=\"round\" d=\"M%.1f,%.1fh0", x + 10, y - 3.5);
        else if (draw)
            fprintf(chart->out, "<path d=\"M%.1f,%.1fh16", x, y - 3.5);
        if (draw) {
            struct chart_style style = series->style;
            style.name = NULL;
            end_stroke(chart->out, &style);
            begin_texts(chart->out, CHART_START, CHART_TEXT, LEGEND_SIZE);
            print_text(chart->out, x + 21, y, 0, series->name);
            end_texts(chart->out);
        }
        x += width;
    }
    return y - top + 6;
}

/* Labels that need more than half of the panel leave it. */
static double margin_or(double margin, double needed, double panel_size) {
    return margin > 0 ? margin : fmin(needed, panel_size / 2);
}

static void set_frame(struct chart *chart, struct tick_list *x_ticks, struct tick_list *y_ticks) {
    const struct chart_panel *panel = &chart->panel;
    const struct chart_axis *x = &panel->x, *y = &panel->y;
    double slope = sin(x->rotation * M_PI / 180);
    double above = (panel->title != NULL ? 24 : 12) + lay_out_legend(chart, panel->top, false);
    chart->top = panel->top + margin_or(panel->margin_top, above, panel->height);
    make_ticks(y_ticks, y, (panel->height - 44 - above) / Y_TICK);
    double beside = (y->title != NULL ? 34 : 14) + (y->hidden ? 0 : widest_label(y_ticks, y->size));
    chart->left = panel->left + margin_or(panel->margin_left, beside, panel->width);
    chart->right = panel->left + panel->width - margin_or(panel->margin_right, 16, panel->width);
    make_ticks(x_ticks, x, (chart->right - chart->left) / X_TICK);
    double below =
        (x->title != NULL ? 20 : 0) + (x->hidden ? 6 : 24 + slope * widest_label(x_ticks, x->size));
    chart->bottom =
        panel->top + panel->height - margin_or(panel->margin_bottom, below, panel->height);
}

void chart_begin_panel(struct chart *chart, const struct chart_panel *panel) {
    struct tick_list x_ticks, y_ticks;
    chart->panel = *panel;
    if (panel->width == 0) {
        chart->panel.width = chart->width;
        chart->panel.height = chart->height;
    }
    set_frame(chart, &x_ticks, &y_ticks);
    lay_out_legend(chart, panel->top + (panel->title != NULL ? 15 : 0), true);
    draw_titles(chart, &panel->x, &panel->y, panel->title);
    draw_axis(chart, &panel->x, &x_ticks, false);
    draw_axis(chart, &panel->y, &y_ticks, true);
}

/* ---- marks ---- */

void chart_line(struct chart *chart, const struct chart_point *points, int count,
                const struct chart_style *style) {
    struct chart_point at;
    char command = 'M';
    fputs("<path d=\"", chart->out);
    for (int i = 0; i < count; i++) {
        bool placed = place_point(chart, points[i], &at);
        if (placed)
            fprintf(chart->out, "%c%.1f,%.1f", command, at.x, at.y);
        command = placed ? 'L' : 'M';
    }
    end_stroke(chart->out, style);
}

void chart_steps(struct chart *chart, const struct chart_point *points, int count,
                 const struct chart_style *style) {
    struct chart_point at;
    bool open = false;
    fputs("<path d=\"", chart->out);
    for (int i = 0; i < count; i++) {
        bool placed = place_point(chart, points[i], &at);
        if (placed)
            fprintf(chart->out, open ? "H%.1fV%.1f" : "M%.1f,%.1f", at.x, at.y);
        open = placed;
    }
    end_stroke(chart->out, style);
}

void chart_dots(struct chart *chart, const struct chart_point *points, int count,
                const struct chart_style *style) {
    struct chart_point at;
    fputs("<path stroke-linecap=\"round\" d=\"", chart->out);
    for (int i = 0; i < count; i++)
        if (place_point(chart, points[i], &at))
            fprintf(chart->out, "M%.1f,%.1fh0", at.x, at.y);
    end_stroke(chart->out, style);
}

void chart_boxes(struct chart *chart, const struct chart_box *boxes, int count,
                 const struct chart_style *style) {
    struct chart_point from, to;
    fputs("<path d=\"", chart->out);
    for (int i = 0; i < count; i++)
        if (place_point(chart, boxes[i].from, &from) && place_point(chart, boxes[i].to, &to))
            fprintf(chart->out, "M%.1f,%.1fH%.1fV%.1fH%.1fZ", from.x, from.y, to.x, to.y, from.x);
    fputs("\" stroke=\"none\"", chart->out);
    print_colour(chart->out, "fill", style->colour);
    if (style->opacity > 0)
        fprintf(chart->out, " fill-opacity=\"%.2f\"", style->opacity);
    print_name(chart->out, style->name);
    if (style->tip == NULL) {
        fputs("/>\n", chart->out);
        return;
    }
    fputs("><title>", chart->out);
    mustache_escape_html(style->tip, chart->out);
    fputs("</title></path>\n", chart->out);
}

void chart_interval(struct chart *chart, struct chart_point from, struct chart_point to,
                    const struct chart_style *style) {
    struct chart_point a, b;
    if (!place_point(chart, from, &a) || !place_point(chart, to, &b))
        return;
    double across = from.x == to.x ? 3 : 0, along = 3 - across;
    fprintf(chart->out, "<path d=\"M%.1f,%.1fL%.1f,%.1f", a.x, a.y, b.x, b.y);
    for (int i = 0; i < 2; i++, a = b)
        fprintf(chart->out, "M%.1f,%.1fL%.1f,%.1f", a.x - across, a.y - along, a.x + across,
                a.y + along);
    end_stroke(chart->out, style);
}

void chart_text(struct chart *chart, const struct chart_text *where, const char *format, ...) {
    char text[512];
    struct chart_point at;
    va_list arguments;
    if (!place_point(chart, where->at, &at))
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (where->in_box) /* a page's style sheet outlines the other ones */
        fputs("<g class=\"in-box\">", chart->out);
    begin_texts(chart->out, where->anchor, where->colour, where->size);
    print_text(chart->out, at.x + where->dx, at.y + where->dy, 0, text);
    end_texts(chart->out);
    if (where->in_box)
        end_texts(chart->out);
}

/* ---- the document ---- */

static void print_palette(FILE *out, bool dark) {
    for (size_t i = 0; i < sizeof colours / sizeof *colours; i++)
        fprintf(out, "--c%d:%s;", colours[i].number, dark ? colours[i].dark : colours[i].light);
}

void chart_print_colours(FILE *out) {
    fputs(":root{", out);
    print_palette(out, false);
    fputs("}\n@media screen and (prefers-color-scheme:dark){:root{", out);
    print_palette(out, true);
    fputs("}}\n", out);
}

char *chart_free(struct chart *chart, const char *label, enum chart_form form) {
    char *svg = NULL;
    size_t size = 0;
    FILE *out = xopen_memstream(&svg, &size);
    fclose(chart->out);
    fputs("<svg", out);
    if (form == CHART_FILE)
        fputs(" xmlns=\"http://www.w3.org/2000/svg\"", out);
    fprintf(out, " viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", chart->width, chart->height);
    mustache_escape_html(label, out);
    fputs("\">\n", out);
    if (form == CHART_FILE) {
        fputs("<style>svg{color:#1c2430;background:#fff;font:12px sans-serif;", out);
        print_palette(out, false);
        fputs("}</style>\n", out);
    }
    fwrite(chart->body, 1, chart->size, out);
    fputs("</svg>\n", out);
    fclose(out);
    free(chart->body);
    free(chart);
    return svg;
}
