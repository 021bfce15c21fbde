#include "report/scatter.h"
#include "base/json.h"
#include "base/memory.h"
#include "render/chart.h"

#include <math.h>
#include <string.h>

/* Trials slower than the best by this factor are drawn at the edge, because their differences do
   not matter. */
static const double edge_ratio = 10;

enum { COLUMNS = 28, WIDTH = 1100, HEIGHT = 440, LABELS_MOST = 48, SHADES = 8 };

struct scatter {
    const struct run_data *run;
    FILE *out;
    int goal, rows, dots_most;
    int *valid, *dots; /* row indices of the goal's valid trials, and of those that are dots */
    int valid_count, dot_count;
    const char *flags; /* by row: see `kinds` */
    double low_us, high_us;
    double low[RESOURCE_COUNT], high[RESOURCE_COUNT]; /* NaN: unknown for all trials */
};

static const struct trial_row *trial_at(const struct scatter *scatter, int i) {
    return &scatter->run->rows[scatter->valid[i]];
}

static const struct trial_row *dot_at(const struct scatter *scatter, int i) {
    return &scatter->run->rows[scatter->dots[i]];
}

/* Before element `i` of a list. */
static const char *comma(int i) {
    return i > 0 ? "," : "";
}

/* Prints element `i` of a list: a JSON string without "<". */
static void print_string(FILE *out, int i, const char *text) {
    char *json = json_print_line(cJSON_CreateString(text));
    fputs(comma(i), out);
    for (const char *at = json; *at != '\0'; at++)
        if (*at == '<')
            fputs("\\u003c", out);
        else
            fputc(*at, out);
    free(json);
}

static void print_number(FILE *out, int i, double number) {
    fprintf(out, isnan(number) ? "%snull" : "%s%.5g", comma(i), number);
}

/* Prints the index of a value as one character, from '0' on. */
static void print_place(FILE *out, int place) {
    int code = '0' + place;
    if (code == '<' || code == '\\')
        fprintf(out, "\\u%04x", (unsigned)code);
    else if (code < 0x80)
        fputc(code, out);
    else
        fprintf(out, "%c%c", 0xc0 | code >> 6, 0x80 | (code & 0x3f));
}

/* ---- one goal ---- */

static void find_ranges(struct scatter *scatter, struct scatter_note *note) {
    double most = 0;
    scatter->low_us = INFINITY;
    for (int r = 0; r < RESOURCE_COUNT; r++)
        scatter->low[r] = scatter->high[r] = NAN;
    for (int i = 0; i < scatter->valid_count; i++) {
        const struct trial_row *trial = trial_at(scatter, i);
        scatter->low_us = fmin(scatter->low_us, trial->score_us);
        most = fmax(most, trial->score_us);
        for (int r = 0; r < RESOURCE_COUNT; r++) {
            scatter->low[r] = fmin(scatter->low[r], trial->resources[r]);
            scatter->high[r] = fmax(scatter->high[r], trial->resources[r]);
        }
    }
    scatter->high_us = fmin(1.03 * most, edge_ratio * scatter->low_us);
    scatter->low_us *= 0.97;
    for (int i = 0; i < scatter->valid_count; i++)
        note->above += trial_at(scatter, i)->score_us > scatter->high_us;
    note->high_us = scatter->high_us;
}

/* In bins, only champions and elites are dots. */
static bool is_binned(const struct scatter *scatter) {
    return scatter->valid_count > scatter->dots_most;
}

static void find_dots(struct scatter *scatter) {
    for (int i = 0; i < scatter->valid_count; i++) {
        char flag = scatter->flags[scatter->valid[i]];
        if (!is_binned(scatter) || flag == 'e' || flag == 'c')
            scatter->dots[scatter->dot_count++] = scatter->valid[i];
    }
}

/* Prints the properties of all dots as arrays or strings with one element per dot. */
static void print_dots(const struct scatter *scatter) {
    FILE *out = scatter->out;
    int count = scatter->dot_count;
    fputs("\"dots\":{\"n\":[", out);
    for (int i = 0; i < count; i++)
        fprintf(out, "%s%lld", comma(i), (long long)dot_at(scatter, i)->number);
    fputs("],\"f\":\"", out);
    for (int i = 0; i < count; i++)
        fputc(scatter->flags[scatter->dots[i]], out);
    fputs("\",\"us\":[", out);
    for (int i = 0; i < count; i++)
        print_number(out, i, dot_at(scatter, i)->score_us);
    fputs("],\"g\":[", out);
    for (int i = 0; i < count; i++) {
        fprintf(out, "%s\"", comma(i));
        for (int g = 0; g < scatter->run->genes.count; g++)
            print_place(out, dot_at(scatter, i)->genes[g]);
        fputc('"', out);
    }
    fputs("],\"r\":[", out);
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        fprintf(out, "%s[", comma(r));
        for (int i = 0; i < count && !isnan(scatter->low[r]); i++)
            print_number(out, i, dot_at(scatter, i)->resources[r]);
        fputc(']', out);
    }
    fputs("]}", out);
}

static int row_of(const struct scatter *scatter, const struct trial_row *trial) {
    double share = log(trial->score_us / scatter->low_us) / log(scatter->high_us / scatter->low_us);
    int row = (int)(share * scatter->rows);
    return row < 0 ? 0 : row >= scatter->rows ? scatter->rows - 1 : row;
}

/* The bin column of a trial on the axis of a gene, or (axes after the genes) of a resource; -1:
   unknown. */
static int column_of(const struct scatter *scatter, const struct trial_row *trial, int axis) {
    if (axis < scatter->run->genes.count)
        return trial->genes[axis];
    int r = axis - scatter->run->genes.count;
    double span = scatter->high[r] - scatter->low[r];
    if (isnan(trial->resources[r]))
        return -1;
    int column = span > 0 ? (int)((trial->resources[r] - scatter->low[r]) / span * COLUMNS) : 0;
    return column < COLUMNS ? column : COLUMNS - 1;
}

/* Counts the trials by column, then by row. `bins` has DOMAIN_MAX columns. */
static void count_bins(const struct scatter *scatter, int axis, int *bins) {
    int rows = scatter->rows;
    memset(bins, 0, (size_t)(DOMAIN_MAX * rows) * sizeof *bins);
    for (int i = 0; i < scatter->valid_count; i++) {
        const struct trial_row *trial = trial_at(scatter, i);
        int column = column_of(scatter, trial, axis);
        if (column >= 0)
            bins[column * rows + row_of(scatter, trial)]++;
    }
}

static int *bins_new(const struct scatter *scatter) {
    return xmalloc((size_t)(DOMAIN_MAX * scatter->rows) * sizeof(int));
}

/* Prints [column, row, count, ...] of the bins that are not empty. */
static void print_cells(const struct scatter *scatter, int axis, int *bins) {
    int rows = scatter->rows, printed = 0;
    count_bins(scatter, axis, bins);
    fputc('[', scatter->out);
    for (int i = 0; i < DOMAIN_MAX * rows; i++)
        if (bins[i] > 0)
            fprintf(scatter->out, "%s%d,%d,%d", comma(printed++), i / rows, i % rows, bins[i]);
    fputc(']', scatter->out);
}

static void print_bins(const struct scatter *scatter) {
    int genes = scatter->run->genes.count;
    int *bins = bins_new(scatter);
    fputs(",\"cells\":{\"g\":[", scatter->out);
    for (int axis = 0; axis < genes + RESOURCE_COUNT; axis++) {
        if (axis == genes)
            fputs("],\"r\":[", scatter->out);
        else if (axis > 0)
            fputc(',', scatter->out);
        print_cells(scatter, axis, bins);
    }
    fputs("]}", scatter->out);
    free(bins);
}

/* ---- the picture ---- */

/* In the order in which they are drawn. page.js.in finds the path of a kind by its flag. */
static const struct {
    char flag;
    const char *name, *path;
    int colour;
    double width, opacity;
} kinds[] = {
    {'r', "dropped by the race", "dots-r", CHART_MUTED, 3.2, 0.55},
    {'t', "timed in full", "dots-t", CHART_ACCENT, 4, 0.65},
    {'e', "elite", "dots-e", CHART_GOOD, 6.5, 1},
    {'c', "was champion", "dots-c", CHART_STRONG, 7.5, 1},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Axes are numbered as in column_of; one with a single value is no choice. */
static bool is_choice(const struct scatter *scatter, int axis) {
    const struct genes *genes = &scatter->run->genes;
    return axis < genes->count ? genes->columns[axis].count > 1
                               : !isnan(scatter->low[axis - genes->count]);
}

/* The axis to show first, or -1. */
static int first_choice(const struct scatter *scatter, int weightiest) {
    int axes = scatter->run->genes.count + RESOURCE_COUNT;
    for (int axis = weightiest >= 0 ? weightiest : 0; axis < axes; axis++)
        if (is_choice(scatter, axis))
            return axis;
    return -1;
}

/* Deterministic, from -0.5 to 0.5: a dot always has the same position. As in page.js.in. */
static double jitter(int64_t number) {
    return (uint32_t)((uint64_t)(number + 1) * 2654435761u) / 4294967296.0 - 0.5;
}

/* The range of a resource, with room for dots at both ends. */
static void resource_range(const struct scatter *scatter, int r, double *low, double *span) {
    double known = scatter->high[r] - scatter->low[r];
    *span = (known > 0 ? known : 1) / 0.94;
    *low = scatter->low[r] - 0.03 * *span;
}

/* The place of a trial along an axis, from 0 to 1; NaN: unknown. */
static double share_of(const struct scatter *scatter, const struct trial_row *trial, int axis) {
    const struct genes *genes = &scatter->run->genes;
    double low, span;
    if (axis < genes->count)
        return (trial->genes[axis] + 0.5 + 0.7 * jitter(trial->number)) /
               genes->columns[axis].count;
    resource_range(scatter, axis - genes->count, &low, &span);
    return (trial->resources[axis - genes->count] - low) / span + 3 * jitter(trial->number) / WIDTH;
}

static void draw_axis(const struct scatter *scatter, struct chart *chart, int axis, bool shown) {
    const struct genes *genes = &scatter->run->genes;
    struct chart_tick ticks[LABELS_MOST];
    char name[16];
    if (axis >= genes->count) {
        struct chart_axis resource = {.title = resource_rows[axis - genes->count].title};
        double span;
        resource_range(scatter, axis - genes->count, &resource.low, &span);
        resource.high = resource.low + span;
        snprintf(name, sizeof name, "r%d", axis - genes->count);
        chart_add_x_axis(chart, &resource, name, shown);
        return;
    }
    const struct gene_column *gene = &genes->columns[axis];
    int every = 1 + (gene->count - 1) / LABELS_MOST, named = 0;
    for (int v = 0; v < gene->count; v += every)
        ticks[named++] = (struct chart_tick){v + 0.5, gene->values[v]};
    bool steep = named > LABELS_MOST / 2;
    snprintf(name, sizeof name, "g%d", axis);
    chart_add_x_axis(chart,
                     &(struct chart_axis){.title = gene->name,
                                          .high = gene->count,
                                          .bare = true,
                                          .ticks = ticks,
                                          .tick_count = named,
                                          .rotation = steep ? 60 : 0,
                                          .size = steep ? 9 : 0},
                     name, shown);
}

static double latency_at(const struct scatter *scatter, double row) {
    return scatter->low_us * pow(scatter->high_us / scatter->low_us, row / scatter->rows);
}

/* The rectangle of a bin: x from 0 to 1, y a latency. */
static struct chart_box bin_box(const struct scatter *scatter, int axis, int column, int row) {
    const struct genes *genes = &scatter->run->genes;
    double left = 0.03 + 0.94 * column / COLUMNS, width = 0.94 / COLUMNS;
    if (axis < genes->count) {
        left = (column + 0.12) / genes->columns[axis].count;
        width = 0.76 / genes->columns[axis].count;
    }
    return (struct chart_box){{left, latency_at(scatter, row)},
                              {left + width, latency_at(scatter, row + 0.92)}};
}

/* A stronger shade for more trials, as in page.js.in. */
static void draw_cells(const struct scatter *scatter, struct chart *chart, int axis) {
    int cells = DOMAIN_MAX * scatter->rows, most = 1;
    int *bins = bins_new(scatter);
    struct chart_box *boxes = xmalloc((size_t)cells * sizeof *boxes);
    count_bins(scatter, axis, bins);
    for (int i = 0; i < cells; i++)
        most = bins[i] > most ? bins[i] : most;
    for (int shade = 0; shade < SHADES; shade++) {
        char name[16];
        int count = 0;
        for (int i = 0; i < cells; i++)
            if (bins[i] > 0 && (int)((SHADES - 1) * log1p(bins[i]) / log1p(most)) == shade)
                boxes[count++] = bin_box(scatter, axis, i / scatter->rows, i % scatter->rows);
        snprintf(name, sizeof name, "cells-%d", shade);
        chart_boxes(chart, boxes, count,
                    &(struct chart_style){
                        .colour = CHART_ACCENT, .opacity = 0.15 + 0.1 * shade, .name = name});
    }
    free(boxes);
    free(bins);
}

/* Lists the kinds of which the goal has a dot. */
static int list_kinds(const struct scatter *scatter, double scale,
                      struct chart_series series[KINDS]) {
    int count = 0;
    for (int k = 0; k < KINDS; k++)
        for (int i = 0; i < scatter->dot_count; i++)
            if (scatter->flags[scatter->dots[i]] == kinds[k].flag) {
                series[count++] = (struct chart_series){.name = kinds[k].name,
                                                        .style = {.colour = kinds[k].colour,
                                                                  .width = scale * kinds[k].width,
                                                                  .opacity = kinds[k].opacity,
                                                                  .name = kinds[k].path},
                                                        .dots = true};
                break;
            }
    return count;
}

static void draw_dots(const struct scatter *scatter, struct chart *chart, int axis,
                      const struct chart_series *series) {
    struct chart_point *points = xmalloc(((size_t)scatter->dot_count + 1) * sizeof *points);
    char flag = series->style.name[strlen("dots-")];
    int count = 0;
    for (int i = 0; i < scatter->dot_count; i++) {
        const struct trial_row *trial = dot_at(scatter, i);
        if (scatter->flags[scatter->dots[i]] == flag)
            points[count++] = (struct chart_point){share_of(scatter, trial, axis), trial->score_us};
    }
    chart_dots(chart, points, count, &series->style);
    free(points);
}

/* Draws the first choice, and the axes of the others. Prints the frame for page.js.in. */
static char *draw_picture(const struct scatter *scatter, int weightiest) {
    int first = first_choice(scatter, weightiest);
    struct chart_series series[KINDS];
    char label[128];
    if (scatter->valid_count == 0 || first < 0)
        return NULL;
    int count = list_kinds(scatter, scatter->dot_count < 500 ? 1.5 : 1, series);
    struct chart *chart = chart_new(WIDTH, HEIGHT);
    chart_begin_panel(chart, &(struct chart_panel){.margin_left = 64,
                                                   .margin_bottom = 50,
                                                   .x = {.high = 1, .hidden = true},
                                                   .y = {.title = run_data_unit(scatter->run),
                                                         .low = scatter->low_us,
                                                         .high = scatter->high_us,
                                                         .logarithmic = true,
                                                         .grid = true},
                                                   .legend = series,
                                                   .legend_count = count});
    for (int axis = 0; axis < scatter->run->genes.count + RESOURCE_COUNT; axis++)
        if (is_choice(scatter, axis))
            draw_axis(scatter, chart, axis, axis == first);
    if (is_binned(scatter))
        draw_cells(scatter, chart, first);
    for (int i = 0; i < count; i++)
        draw_dots(scatter, chart, first, &series[i]);
    struct chart_box frame = chart_frame(chart);
    fprintf(scatter->out, ",\"frame\":[%.1f,%.1f,%.1f,%.1f]", frame.from.x, frame.from.y,
            frame.to.x, frame.to.y);
    snprintf(label, sizeof label, "all valid trials of goal %d", scatter->goal);
    return chart_free(chart, label, CHART_INLINE);
}

/* ---- the goal ---- */

static void print_goal(struct scatter *scatter, int weightiest, struct scatter_note *note) {
    FILE *out = scatter->out;
    find_dots(scatter);
    *note = (struct scatter_note){.valid = scatter->valid_count, .dots = scatter->dot_count};
    find_ranges(scatter, note);
    fprintf(out, "{\"low\":%.6g,\"high\":%.6g,\"ranges\":[",
            scatter->valid_count > 0 ? scatter->low_us : 1,
            scatter->valid_count > 0 ? scatter->high_us : 1);
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        fprintf(out, isnan(scatter->low[r]) ? "%snull" : "%s[%.6g,%.6g]", comma(r), scatter->low[r],
                scatter->high[r]);
    }
    fputs("],", out);
    print_dots(scatter);
    if (is_binned(scatter))
        print_bins(scatter);
    note->picture = draw_picture(scatter, weightiest);
    fputc('}', out);
}

/* ---- the run ---- */

static char *flag_trials(const struct run_data *run) {
    char *flags = xmalloc((size_t)run->count + 1);
    for (int i = 0; i < run->count; i++)
        flags[i] = run->rows[i].raced ? 'r' : 't';
    for (int g = 0; g < run->goal_count; g++) {
        const struct goal_view *goal = &run->goals[g];
        for (int rank = 0; rank < goal->elite_count; rank++)
            flags[goal->ranked[rank]] = 'e';
        for (int i = 0; i < goal->champion_count; i++)
            flags[goal->champions[i].row] = 'c';
    }
    return flags;
}

static void print_head(FILE *out, const struct run_data *run, int rows) {
    fprintf(out, "{\"unit\":\"%s\",\"rows\":%d,\"columns\":%d,\"shades\":%d,\"genes\":[",
            run_data_unit(run), rows, COLUMNS, SHADES);
    for (int g = 0; g < run->genes.count; g++) {
        const struct gene_column *gene = &run->genes.columns[g];
        fprintf(out, "%s{\"name\":", comma(g));
        print_string(out, 0, gene->name);
        fputs(",\"values\":[", out);
        for (int v = 0; v < gene->count; v++)
            print_string(out, v, gene->values[v]);
        fputs("]}", out);
    }
    fputs("],\"resources\":[", out);
    for (int r = 0; r < RESOURCE_COUNT; r++)
        print_string(out, r, resource_rows[r].title);
    fputs("],\"goals\":[", out);
}

char *scatter_json(const struct run_data *run, const int *weightiest, int dots_most, int rows,
                   struct scatter_note *notes) {
    char *text = NULL;
    size_t size = 0;
    char *flags = flag_trials(run);
    int *valid = xmalloc(((size_t)run->count + 1) * sizeof *valid);
    int *dots = xmalloc(((size_t)run->count + 1) * sizeof *dots);
    FILE *out = xopen_memstream(&text, &size);
    print_head(out, run, rows);
    for (int g = 0; g < run->goal_count; g++) {
        struct scatter scatter = {.run = run,
                                  .out = out,
                                  .goal = g,
                                  .rows = rows,
                                  .dots_most = dots_most,
                                  .valid = valid,
                                  .dots = dots,
                                  .flags = flags};
        for (int i = 0; i < run->count; i++)
            if (run->rows[i].goal == g && !run->rows[i].outdated && !isnan(run->rows[i].score_us))
                valid[scatter.valid_count++] = i;
        fputs(comma(g), out);
        print_goal(&scatter, weightiest[g], &notes[g]);
    }
    fputs("]}", out);
    fclose(out);
    free(flags);
    free(valid);
    free(dots);
    return text;
}
