#include "render/chart_internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/mustache.h"
#include "render/svg.h"

enum { LEGEND_SIZE = 11, LEGEND_LINE = 15 };

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

/* ---- panels ---- */

/* Lays the legend out in lines from `top` on and draws it if `draw`. Returns its height. */
static double lay_out_legend(struct chart *chart, double top, bool draw) {
    const struct chart_panel *panel = &chart->panel;
    double left = panel->left + 10, x = left, y = top + LEGEND_LINE;
    if (panel->legend_count == 0)
        return 0;
    for (int i = 0; i < panel->legend_count; i++) {
        const struct chart_series *series = &panel->legend[i];
        double width = 36 + svg_text_width(series->name, LEGEND_SIZE);
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
            svg_end_stroke(chart->out, &style);
            svg_begin_texts(chart->out, CHART_START, CHART_TEXT, LEGEND_SIZE);
            svg_print_text(chart->out, x + 21, y, 0, series->name);
            svg_end_texts(chart->out);
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
    chart_make_ticks(y_ticks, y, (panel->height - 44 - above) / Y_TICK);
    double beside =
        (y->title != NULL ? 34 : 14) + (y->hidden ? 0 : chart_widest_label(y_ticks, y->size));
    chart->left = panel->left + margin_or(panel->margin_left, beside, panel->width);
    chart->right = panel->left + panel->width - margin_or(panel->margin_right, 16, panel->width);
    chart_make_ticks(x_ticks, x, (chart->right - chart->left) / X_TICK);
    double below = (x->title != NULL ? 20 : 0) +
                   (x->hidden ? 6 : 24 + slope * chart_widest_label(x_ticks, x->size));
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
    chart_draw_titles(chart, &panel->x, &panel->y, panel->title);
    chart_draw_axis(chart, &panel->x, &x_ticks, false);
    chart_draw_axis(chart, &panel->y, &y_ticks, true);
}

/* ---- marks ---- */

void chart_line(struct chart *chart, const struct chart_point *points, int count,
                const struct chart_style *style) {
    struct chart_point at;
    char command = 'M';
    fputs("<path d=\"", chart->out);
    for (int i = 0; i < count; i++) {
        bool placed = chart_place_point(chart, points[i], &at);
        if (placed)
            fprintf(chart->out, "%c%.1f,%.1f", command, at.x, at.y);
        command = placed ? 'L' : 'M';
    }
    svg_end_stroke(chart->out, style);
}

void chart_steps(struct chart *chart, const struct chart_point *points, int count,
                 const struct chart_style *style) {
    struct chart_point at;
    bool open = false;
    fputs("<path d=\"", chart->out);
    for (int i = 0; i < count; i++) {
        bool placed = chart_place_point(chart, points[i], &at);
        if (placed)
            fprintf(chart->out, open ? "H%.1fV%.1f" : "M%.1f,%.1f", at.x, at.y);
        open = placed;
    }
    svg_end_stroke(chart->out, style);
}

void chart_dots(struct chart *chart, const struct chart_point *points, int count,
                const struct chart_style *style) {
    struct chart_point at;
    fputs("<path stroke-linecap=\"round\" d=\"", chart->out);
    for (int i = 0; i < count; i++)
        if (chart_place_point(chart, points[i], &at))
            fprintf(chart->out, "M%.1f,%.1fh0", at.x, at.y);
    svg_end_stroke(chart->out, style);
}

void chart_boxes(struct chart *chart, const struct chart_box *boxes, int count,
                 const struct chart_style *style) {
    struct chart_point from, to;
    fputs("<path d=\"", chart->out);
    for (int i = 0; i < count; i++)
        if (chart_place_point(chart, boxes[i].from, &from) &&
            chart_place_point(chart, boxes[i].to, &to))
            fprintf(chart->out, "M%.1f,%.1fH%.1fV%.1fH%.1fZ", from.x, from.y, to.x, to.y, from.x);
    fputs("\" stroke=\"none\"", chart->out);
    svg_print_colour(chart->out, "fill", style->colour);
    if (style->opacity > 0)
        fprintf(chart->out, " fill-opacity=\"%.2f\"", style->opacity);
    svg_print_name(chart->out, style->name);
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
    if (!chart_place_point(chart, from, &a) || !chart_place_point(chart, to, &b))
        return;
    double across = from.x == to.x ? 3 : 0, along = 3 - across;
    fprintf(chart->out, "<path d=\"M%.1f,%.1fL%.1f,%.1f", a.x, a.y, b.x, b.y);
    for (int i = 0; i < 2; i++, a = b)
        fprintf(chart->out, "M%.1f,%.1fL%.1f,%.1f", a.x - across, a.y - along, a.x + across,
                a.y + along);
    svg_end_stroke(chart->out, style);
}

void chart_text(struct chart *chart, const struct chart_text *where, const char *format, ...) {
    char text[512];
    struct chart_point at;
    va_list arguments;
    if (!chart_place_point(chart, where->at, &at))
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (where->in_box) /* a page's style sheet outlines the other ones */
        fputs("<g class=\"in-box\">", chart->out);
    svg_begin_texts(chart->out, where->anchor, where->colour, where->size);
    svg_print_text(chart->out, at.x + where->dx, at.y + where->dy, 0, text);
    svg_end_texts(chart->out);
    if (where->in_box)
        svg_end_texts(chart->out);
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
