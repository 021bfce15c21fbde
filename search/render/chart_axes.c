#include "render/chart_internal.h"

#include <math.h>

#include "render/svg.h"

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

bool chart_place_point(const struct chart *chart, struct chart_point point,
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

void chart_make_ticks(struct tick_list *ticks, const struct chart_axis *axis, double most) {
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

double chart_widest_label(const struct tick_list *ticks, double size) {
    double widest = 0;
    for (int i = 0; i < ticks->count; i++)
        widest = fmax(widest, svg_text_width(ticks->items[i].label, size));
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
    svg_begin_texts(chart->out, anchor, CHART_TEXT, axis->size);
    for (int i = 0; i < ticks->count; i++) {
        const struct chart_tick *tick = &ticks->items[i];
        if (!is_shown(axis, tick))
            continue;
        if (is_y)
            svg_print_text(chart->out, chart->left - 7, pixel_y(chart, axis, tick->at) + 4, 0,
                           tick->label);
        else
            svg_print_text(chart->out, pixel_x(chart, axis, tick->at),
                           chart->bottom + (axis->rotation > 0 ? 12 : 17), axis->rotation,
                           tick->label);
    }
    svg_end_texts(chart->out);
}

void chart_draw_axis(struct chart *chart, const struct chart_axis *axis,
                     const struct tick_list *ticks, bool is_y) {
    const struct chart_style grid = {.colour = CHART_GRID, .width = 0.6},
                             line = {.colour = CHART_MUTED};
    if (axis->hidden)
        return;
    if (axis->grid && ticks->count > 0) {
        fputs("<path d=\"", chart->out);
        print_rules(chart, axis, ticks, is_y, is_y ? chart->left : chart->top,
                    is_y ? chart->right : chart->bottom);
        svg_end_stroke(chart->out, &grid);
    }
    if (!axis->bare) {
        fprintf(chart->out, "<path d=\"M%.1f,%.1f%c%.1f", chart->left, chart->bottom,
                is_y ? 'V' : 'H', is_y ? chart->top : chart->right);
        print_rules(chart, axis, ticks, is_y, is_y ? chart->left - 4 : chart->bottom,
                    is_y ? chart->left : chart->bottom + 4);
        svg_end_stroke(chart->out, &line);
    }
    print_labels(chart, axis, ticks, is_y);
}

void chart_draw_titles(struct chart *chart, const struct chart_axis *x, const struct chart_axis *y,
                       const char *title) {
    const struct chart_panel *panel = &chart->panel;
    double middle = (chart->left + chart->right) / 2;
    if (x->title != NULL)
        svg_print_centred(chart->out, middle, panel->top + panel->height - 6, 0, x->title);
    if (y != NULL && y->title != NULL)
        svg_print_centred(chart->out, panel->left + 14, (chart->top + chart->bottom) / 2, 90,
                          y->title);
    if (title != NULL)
        svg_print_centred(chart->out, middle, panel->top + 15, 0, title);
}

void chart_add_x_axis(struct chart *chart, const struct chart_axis *axis, const char *name,
                      bool shown) {
    struct tick_list ticks;
    chart_make_ticks(&ticks, axis, (chart->right - chart->left) / X_TICK);
    fputs("<g", chart->out);
    svg_print_name(chart->out, name);
    fputs(shown ? ">\n" : " display=\"none\">\n", chart->out);
    chart_draw_axis(chart, axis, &ticks, false);
    chart_draw_titles(chart, axis, NULL, NULL);
    svg_end_texts(chart->out);
}
