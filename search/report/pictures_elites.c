/* pictures_elites: the elites in parallel coordinates, and the ancestors of a champion. */
#include <math.h>

#include "base/memory.h"
#include "render/chart.h"
#include "report/pictures.h"

enum { HEIGHT = 380, VALUE_SIZE = 9, VALUES_MOST = 16 };

/* ---- elites ---- */

/* Position of a value on its axis, from 0 to 1. */
static double height_of(const struct gene_column *gene, int value) {
    return gene->count > 1 ? (double)value / (gene->count - 1) : 0.5;
}

/* Lists the genes that have more than one value in the run. */
static int find_varying(const struct genes *genes, int chosen[GENES_MAX]) {
    int count = 0;
    for (int g = 0; g < genes->count; g++)
        if (genes->columns[g].count > 1)
            chosen[count++] = g;
    return count;
}

static void label_value(struct chart *chart, double axis, double height, const char *text) {
    chart_text(
        chart,
        &(struct chart_text){
            .at = {axis, height}, .dx = 4, .dy = 3, .size = VALUE_SIZE, .colour = CHART_TEXT},
        "%s", text);
}

static void draw_gene_axis(struct chart *chart, double axis) {
    const struct chart_point line[] = {{axis, -0.03}, {axis, 1.03}};
    chart_line(chart, line, 2, &(struct chart_style){.colour = CHART_MUTED, .width = 0.8});
}

/* The labels stand on the lines, so they are drawn after them. */
static void label_values(struct chart *chart, const struct run_data *run, const int *chosen,
                         int axes, double best_us, double worst_us) {
    char text[32];
    for (int i = 0; i < axes; i++) {
        const struct gene_column *gene = &run->genes.columns[chosen[i]];
        int every = gene->count > VALUES_MOST ? gene->count / (VALUES_MOST / 2) : 1;
        for (int v = 0; v < gene->count; v += every)
            label_value(chart, i, height_of(gene, v), gene->values[v]);
    }
    snprintf(text, sizeof text, "%.3f", best_us);
    label_value(chart, axes, 0, text);
    snprintf(text, sizeof text, "%.3f", worst_us);
    label_value(chart, axes, 1, text);
}

/* The best is drawn last, and highlighted. Lines of equal values are drawn side by side. */
static void draw_elites(struct chart *chart, const struct run_data *run,
                        const struct goal_view *view, const int *chosen, int axes) {
    struct chart_point points[GENES_MAX + 1];
    int drawn = view->elite_count;
    double best = run->rows[view->ranked[0]].score_us;
    double worst = run->rows[view->ranked[drawn - 1]].score_us;
    for (int rank = drawn - 1; rank >= 0; rank--) {
        const struct trial_row *it = &run->rows[view->ranked[rank]];
        double apart = 0.035 * (rank / (double)ELITES_MOST - 0.5);
        for (int i = 0; i < axes; i++)
            points[i] = (struct chart_point){
                i, height_of(&run->genes.columns[chosen[i]], it->genes[chosen[i]]) + apart};
        points[axes] =
            (struct chart_point){axes, worst > best ? (it->score_us - best) / (worst - best) : 0.5};
        chart_line(chart, points, axes + 1,
                   rank == 0 ? &(struct chart_style){.colour = CHART_STRONG, .width = 2.6}
                             : &(struct chart_style){
                                   .colour = CHART_ACCENT, .width = 1.2, .opacity = 0.4});
    }
    label_values(chart, run, chosen, axes, best, worst);
}

char *picture_elites(const struct run_data *run, int goal) {
    const struct goal_view *view = &run->goals[goal];
    int chosen[GENES_MAX];
    struct chart_tick names[GENES_MAX + 1];
    int axes = find_varying(&run->genes, chosen);
    if (view->elite_count < 2 || axes == 0)
        return NULL;
    for (int i = 0; i < axes; i++)
        names[i] = (struct chart_tick){i, run->genes.columns[chosen[i]].name};
    names[axes] = (struct chart_tick){axes, run_data_unit(run)};
    struct chart *chart = chart_new(PICTURE_WIDE, HEIGHT);
    chart_begin_panel(chart,
                      &(struct chart_panel){.margin_left = 40,
                                            .x = {.low = -0.2,
                                                  .high = axes + 0.6,
                                                  .bare = true,
                                                  .ticks = names,
                                                  .tick_count = axes + 1,
                                                  .rotation = 20,
                                                  .size = 10},
                                            .y = {.low = -0.06, .high = 1.06, .hidden = true}});
    for (int i = 0; i <= axes; i++)
        draw_gene_axis(chart, i);
    draw_elites(chart, run, view, chosen, axes);
    return chart_free(chart, "elites in parallel coordinates", CHART_INLINE);
}

/* ---- ancestry ---- */

static struct chart_point point_of(const struct trial_row *row) {
    return (struct chart_point){row->order, row->score_us};
}

static void draw_edges(struct chart *chart, const struct run_data *run,
                       const struct ancestry *ancestry, int members) {
    struct chart_point *points = xcalloc((size_t)members * 6, sizeof *points);
    int count = 0;
    for (int i = 0; i < members; i++) {
        const struct trial_row *child = ancestry->members[i];
        const int64_t parents[2] = {child->parent_a, child->parent_b};
        for (int p = 0; p < 2; p++) {
            const struct trial_row *parent = run_data_find_trial(run, parents[p]);
            if (parent == NULL || !ancestry_has(ancestry, parents[p]))
                continue;
            points[count++] = point_of(parent);
            points[count++] = point_of(child);
            points[count++] = (struct chart_point){NAN, NAN};
        }
    }
    chart_line(chart, points, count, &(struct chart_style){.colour = CHART_MUTED, .width = 0.8});
    free(points);
}

/* The line of first parents, each with its number. */
static void draw_first_parents(struct chart *chart, const struct trial_row *const *rows,
                               int count) {
    struct chart_point *points = xcalloc((size_t)count + 1, sizeof *points);
    for (int i = 0; i < count; i++)
        points[i] = point_of(rows[i]);
    chart_line(chart, points, count, &(struct chart_style){.colour = CHART_ACCENT, .width = 2});
    chart_dots(chart, points, count, &(struct chart_style){.colour = CHART_ACCENT, .width = 8});
    for (int i = 0; i < count; i++)
        chart_text(
            chart,
            &(struct chart_text){
                .at = points[i], .dx = 5, .dy = -6, .size = VALUE_SIZE, .colour = CHART_TEXT},
            "%lld", (long long)rows[i]->number);
    free(points);
}

char *picture_ancestry(const struct run_data *run, const struct ancestry *ancestry, int most) {
    double low = INFINITY, high = 0;
    if (ancestry == NULL || ancestry->count < 2)
        return NULL;
    int members = ancestry->count < most ? ancestry->count : most;
    struct chart_point *points = xcalloc((size_t)members, sizeof *points);
    for (int i = 0; i < members; i++) {
        points[i] = point_of(ancestry->members[i]);
        low = fmin(low, points[i].y);
        high = fmax(high, points[i].y);
    }
    struct chart *chart = chart_new(PICTURE_WIDE, HEIGHT);
    chart_begin_panel(chart, &(struct chart_panel){
                                 .x = {.title = "trials of this goal", .high = 1.05 * points[0].x},
                                 .y = chart_axis_around(run_data_unit(run), low, high)});
    draw_edges(chart, run, ancestry, members);
    chart_dots(chart, points, members, &(struct chart_style){.colour = CHART_MUTED, .width = 6});
    draw_first_parents(chart, ancestry->line,
                       ancestry->line_count < most ? ancestry->line_count : most);
    free(points);
    return chart_free(chart, "ancestors of the champion", CHART_INLINE);
}
