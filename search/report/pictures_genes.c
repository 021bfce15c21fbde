/* pictures_genes: what each change of one gene of the champion costs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "render/chart.h"
#include "report/pictures.h"

enum { COLUMNS = 5, PANEL_HEIGHT = 190, LEVEL_MARGIN = 26, STEEP_MARGIN = 48, NAMES_MOST = 12 };

/* Costs beyond this share are drawn at the edge. */
static const double cost_most = 1.5;

struct gene_panel {
    int gene;
    double least; /* of the gene's changes, the strongest certain effect */
};

static double cost_of(double ratio) {
    return fmin(ratio - 1, cost_most);
}

/* An untried value says nothing. */
static bool is_shown(const struct gene_change *change) {
    return change->effect.measured || change->effect.tried > 0;
}

static int by_least(const void *left, const void *right) {
    const struct gene_panel *a = left, *b = right;
    return a->least != b->least ? (a->least > b->least ? -1 : 1) : a->gene - b->gene;
}

/* Lists the genes with a change to show, the strongest first; returns their number. */
static int list_panels(const struct gene_changes *changes, struct gene_panel panels[GENES_MAX]) {
    int count = 0;
    for (int i = 0; i < changes->count; i++) {
        const struct gene_change *change = &changes->rows[i];
        if (!is_shown(change))
            continue;
        if (count == 0 || panels[count - 1].gene != change->gene)
            panels[count++] = (struct gene_panel){change->gene, 0};
        panels[count - 1].least =
            fmax(panels[count - 1].least, gene_effects_least(&change->effect));
    }
    qsort(panels, (size_t)count, sizeof *panels, by_least);
    return count;
}

/* The common range of all panels. */
static void range_of(const struct gene_changes *changes, double *low, double *high) {
    *low = *high = 0;
    for (int i = 0; i < changes->count; i++)
        if (is_shown(&changes->rows[i])) {
            *low = fmin(*low, cost_of(changes->rows[i].effect.low));
            *high = fmax(*high, cost_of(changes->rows[i].effect.high));
        }
}

/* The storage of a panel's labels. */
struct value_names {
    char texts[NAMES_MOST][NAME_SIZE];
    struct chart_tick ticks[NAMES_MOST];
    int count;
};

/* Shows names of values: every one, every second, ... */
static void name_values(const struct space *space, int gene, struct value_names *names) {
    const int values = space->genes[gene].count;
    const int every = 1 + (values - 1) / NAMES_MOST;
    names->count = 0;
    for (int v = 0; v < values; v += every) {
        char *text = names->texts[names->count];
        space_value_text(space, gene, v, text);
        names->ticks[names->count++] = (struct chart_tick){v, text};
    }
}

/* Side by side, the value names of a panel have room for about thirty characters. */
static bool are_crowded(const struct space *space, int gene) {
    size_t characters = 0;
    char text[NAME_SIZE];
    for (int v = 0; v < space->genes[gene].count; v++)
        characters += strlen(space_value_text(space, gene, v, text)) + 2;
    return characters > 28;
}

static void draw_changes(struct chart *chart, const struct gene_changes *changes, int gene) {
    const int values = changes->space->genes[gene].count;
    const struct chart_point zero[] = {{-0.6, 0}, {values - 0.4, 0}};
    const struct chart_point champion = {changes->champion.value[gene], 0};
    chart_line(chart, zero, 2, &(struct chart_style){.colour = CHART_MUTED});
    for (int i = 0; i < changes->count; i++) {
        const struct gene_change *change = &changes->rows[i];
        const struct chart_style style = {
            .colour = change->effect.measured ? CHART_ACCENT : CHART_MUTED, .width = 1.4};
        const struct chart_point at = {change->value, 100 * cost_of(change->effect.ratio)};
        if (change->gene != gene || !is_shown(change))
            continue;
        chart_interval(
            chart, (struct chart_point){change->value, 100 * cost_of(change->effect.low)},
            (struct chart_point){change->value, 100 * cost_of(change->effect.high)}, &style);
        chart_dots(chart, &at, 1, &(struct chart_style){.colour = style.colour, .width = 6});
    }
    chart_dots(chart, &champion, 1, &(struct chart_style){.colour = CHART_STRONG, .width = 7});
}

static void draw_panel(struct chart *chart, const struct gene_changes *changes, int gene,
                       struct chart_panel panel) {
    const struct space *space = changes->space;
    struct value_names *names = xcalloc(1, sizeof *names);
    name_values(space, gene, names);
    panel.title = space->genes[gene].name;
    panel.margin_left = 50;
    panel.x.low = -0.6;
    panel.x.high = space->genes[gene].count - 0.4;
    panel.x.ticks = names->ticks;
    panel.x.tick_count = names->count;
    panel.x.rotation = are_crowded(space, gene) ? 60 : 0;
    panel.x.size = panel.y.size = 10;
    panel.y.grid = true;
    panel.y.unit = " %";
    chart_begin_panel(chart, &panel);
    draw_changes(chart, changes, gene);
    free(names);
}

char *picture_genes(const struct gene_changes *changes, int most) {
    struct gene_panel list[GENES_MAX];
    double low, high;
    const int listed = changes != NULL ? list_panels(changes, list) : 0;
    if (listed == 0)
        return NULL;
    const int panels = listed < most ? listed : most;
    const int columns = panels < COLUMNS ? panels : COLUMNS;
    const int rows = (panels + columns - 1) / columns;
    range_of(changes, &low, &high);
    const double room = 0.12 * (high - low) + 0.001, width = (double)PICTURE_WIDE / columns;
    bool steep = false; /* the labels of any panel: all frames have the same height */
    for (int i = 0; i < panels; i++)
        steep = steep || are_crowded(changes->space, list[i].gene);
    struct chart *chart = chart_new(PICTURE_WIDE, PANEL_HEIGHT * rows);
    for (int i = 0; i < panels; i++)
        draw_panel(
            chart, changes, list[i].gene,
            (struct chart_panel){.left = i % columns * width,
                                 .top = (double)(i / columns) * PANEL_HEIGHT,
                                 .width = width,
                                 .height = PANEL_HEIGHT,
                                 .margin_bottom = steep ? STEEP_MARGIN : LEVEL_MARGIN,
                                 .y = {.low = 100 * (low - room), .high = 100 * (high + room)}});
    return chart_free(chart, "cost of each change of the champion", CHART_INLINE);
}
