/* pictures_genes: the pictures of gene costs and pairs. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "render/chart.h"
#include "report/pictures.h"

enum {
    COLUMNS = 5,
    PANEL_HEIGHT = 190,
    LEVEL_MARGIN = 26,
    STEEP_MARGIN = 48,
    NAMES_MOST = 12,
    LABEL_SIZE = 4 * NAME_SIZE
};

/* ---- gene costs ---- */

/* The common range of all panels: the costs of values with enough trials. */
static void range_of(const struct gene_importance *importance, const struct genes *genes,
                     double *low, double *high) {
    *low = *high = 0;
    for (int i = 0; i < importance->fitted_count; i++) {
        int g = importance->order[i];
        for (int v = 0; v < genes->columns[g].count; v++) {
            const struct value_cost *it = &importance->genes[g].values[v];
            if (it->count < IMPORTANCE_TRIALS_MIN)
                continue;
            *low = fmin(*low, it->low);
            *high = fmax(*high, fmin(it->high, 1.5));
        }
    }
}

/* Side by side, the value names of a panel have room for about thirty characters. */
static bool are_crowded(const struct gene_column *gene) {
    size_t characters = 0;
    for (int v = 0; v < gene->count; v++)
        characters += strlen(gene->values[v]) + 2;
    return characters > 28;
}

/* Shows names of values: every one, every second, ... Returns how many. */
static int name_values(const struct gene_column *gene, struct chart_tick ticks[NAMES_MOST]) {
    int every = 1 + (gene->count - 1) / NAMES_MOST, named = 0;
    for (int v = 0; v < gene->count; v += every)
        ticks[named++] = (struct chart_tick){v, gene->values[v]};
    return named;
}

static void draw_costs(struct chart *chart, const struct gene_column *gene,
                       const struct value_cost *values) {
    const struct chart_style accent = {.colour = CHART_ACCENT, .width = 1.4};
    const struct chart_point zero[] = {{-0.6, 0}, {gene->count - 0.4, 0}};
    struct chart_point *costs = xcalloc((size_t)gene->count, sizeof *costs);
    int count = 0;
    chart_line(chart, zero, 2, &(struct chart_style){.colour = CHART_MUTED});
    for (int v = 0; v < gene->count; v++)
        if (values[v].count >= IMPORTANCE_TRIALS_MIN) {
            costs[count++] = (struct chart_point){v, 100 * values[v].cost};
            chart_interval(chart, (struct chart_point){v, 100 * values[v].low},
                           (struct chart_point){v, 100 * values[v].high}, &accent);
        }
    chart_line(chart, costs, count, &(struct chart_style){.colour = CHART_MUTED, .opacity = 0.5});
    chart_dots(chart, costs, count, &(struct chart_style){.colour = CHART_ACCENT, .width = 6});
    free(costs);
}

char *picture_genes(const struct run_data *run, const struct gene_importance *importance,
                    int most) {
    double low, high;
    if (importance == NULL || importance->fitted_count == 0)
        return NULL;
    int panels = importance->fitted_count < most ? importance->fitted_count : most;
    int columns = panels < COLUMNS ? panels : COLUMNS;
    int rows = (panels + columns - 1) / columns;
    range_of(importance, &run->genes, &low, &high);
    double room = 0.12 * (high - low) + 0.001, width = (double)PICTURE_WIDE / columns;
    bool steep = false; /* the labels of any panel: all frames have the same height */
    for (int i = 0; i < panels; i++)
        steep = steep || are_crowded(&run->genes.columns[importance->order[i]]);
    struct chart *chart = chart_new(PICTURE_WIDE, PANEL_HEIGHT * rows);
    for (int i = 0; i < panels; i++) {
        int g = importance->order[i];
        const struct gene_column *gene = &run->genes.columns[g];
        struct chart_tick ticks[NAMES_MOST];
        chart_begin_panel(
            chart, &(struct chart_panel){.title = gene->name,
                                         .left = i % columns * width,
                                         .top = (double)(i / columns) * PANEL_HEIGHT,
                                         .width = width,
                                         .height = PANEL_HEIGHT,
                                         .margin_left = 50,
                                         .margin_bottom = steep ? STEEP_MARGIN : LEVEL_MARGIN,
                                         .x = {.low = -0.6,
                                               .high = gene->count - 0.4,
                                               .ticks = ticks,
                                               .tick_count = name_values(gene, ticks),
                                               .rotation = are_crowded(gene) ? 60 : 0,
                                               .size = 10},
                                         .y = {.low = 100 * (low - room),
                                               .high = 100 * (high + room),
                                               .grid = true,
                                               .unit = " %",
                                               .size = 10}});
        draw_costs(chart, gene, importance->genes[g].values);
    }
    return chart_free(chart, "cost of each value of each gene", CHART_INLINE);
}

/* ---- pairs ---- */

static void name_pair(const struct run_data *run, const struct pair_cost *pair,
                      char label[LABEL_SIZE]) {
    const struct gene_column *a = &run->genes.columns[pair->genes[0]],
                             *b = &run->genes.columns[pair->genes[1]];
    snprintf(label, LABEL_SIZE, "%s=%s, %s=%s", a->name, a->values[pair->values[0]], b->name,
             b->values[pair->values[1]]);
}

static void draw_pair(struct chart *chart, const struct value_cost *cost, int row) {
    const struct chart_style style = {.colour = cost->cost < 0 ? CHART_GOOD : CHART_BAD,
                                      .width = 1.6},
                             dot = {.colour = style.colour, .width = 7};
    const struct chart_point at = {100 * cost->cost, row};
    chart_interval(chart, (struct chart_point){100 * cost->low, row},
                   (struct chart_point){100 * cost->high, row}, &style);
    chart_dots(chart, &at, 1, &dot);
}

char *picture_pairs(const struct run_data *run, const struct gene_importance *importance) {
    if (importance == NULL || importance->pair_count == 0)
        return NULL;
    int count = importance->pair_count, height = 60 + 24 * count;
    struct chart_tick *ticks = xcalloc((size_t)count, sizeof *ticks);
    char(*labels)[LABEL_SIZE] = xcalloc((size_t)count, sizeof *labels);
    double low = 0, high = 0;
    for (int i = 0; i < count; i++) {
        const struct pair_cost *pair = &importance->pairs[i];
        name_pair(run, pair, labels[i]);
        ticks[i] = (struct chart_tick){-i, labels[i]};
        low = fmin(low, 100 * pair->cost.low);
        high = fmax(high, 100 * pair->cost.high);
    }
    double room = 0.04 * (high - low) + 0.1;
    struct chart *chart = chart_new(PICTURE_WIDE, height);
    chart_begin_panel(
        chart, &(struct chart_panel){
                   .x = {.title = "latency of the pair, relative to the product of both effects",
                         .low = low - room,
                         .high = high + room,
                         .grid = true,
                         .unit = " %"},
                   .y = {.low = 0.4 - count,
                         .high = 0.6,
                         .bare = true,
                         .ticks = ticks,
                         .tick_count = count}});
    const struct chart_point zero[] = {{0, 0.6}, {0, 0.4 - count}};
    chart_line(chart, zero, 2, &(struct chart_style){.colour = CHART_MUTED});
    for (int i = 0; i < count; i++)
        draw_pair(chart, &importance->pairs[i].cost, -i);
    free(ticks);
    free(labels);
    return chart_free(chart, "significant pairs of values", CHART_INLINE);
}
