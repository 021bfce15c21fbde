#include "report/scatter.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

/* Trials slower than the best by this factor are drawn at the edge, because their differences do
   not matter. */
static const double edge_ratio = 10;

enum { COLUMNS = 28 };

struct scatter {
    const struct run_data *run;
    FILE *out;
    int goal, rows;
    const int *valid; /* row indices of the goal's valid trials */
    int valid_count;
    const char *flags; /* by row: ' ' timed in full, 'r' raced, 'e' elite, 'c' champion */
    double low_us, high_us;
    double low[RESOURCE_COUNT], high[RESOURCE_COUNT]; /* NaN: unknown for all trials */
};

static const struct trial_row *trial_at(const struct scatter *scatter, int i) {
    return &scatter->run->rows[scatter->valid[i]];
}

/* Prints a JSON string without "<". */
static void print_string(FILE *out, const char *text) {
    cJSON *value = cJSON_CreateString(text);
    char *json = cJSON_PrintUnformatted(value);
    for (const char *at = json; *at != '\0'; at++)
        if (*at == '<')
            fputs("\\u003c", out);
        else
            fputc(*at, out);
    cJSON_free(json);
    cJSON_Delete(value);
}

static void print_number(FILE *out, double number) {
    if (isnan(number))
        fputs("null", out);
    else
        fprintf(out, "%.5g", number);
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

static bool is_dot(const struct scatter *scatter, int i, bool binned) {
    char flag = scatter->flags[scatter->valid[i]];
    return !binned || flag == 'e' || flag == 'c';
}

/* Prints the properties of all dots as arrays or strings with one element per dot. Returns the
   number of dots. */
static int print_dots(const struct scatter *scatter, bool binned) {
    FILE *out = scatter->out;
    int count = 0;
    fputs("\"dots\":{\"n\":[", out);
    for (int i = 0; i < scatter->valid_count; i++)
        if (is_dot(scatter, i, binned))
            fprintf(out, "%s%lld", count++ > 0 ? "," : "", (long long)trial_at(scatter, i)->number);
    fputs("],\"f\":\"", out);
    for (int i = 0; i < scatter->valid_count; i++)
        if (is_dot(scatter, i, binned))
            fputc(scatter->flags[scatter->valid[i]], out);
    fputs("\",\"us\":[", out);
    for (int i = 0, printed = 0; i < scatter->valid_count; i++)
        if (is_dot(scatter, i, binned)) {
            fputs(printed++ > 0 ? "," : "", out);
            print_number(out, trial_at(scatter, i)->score_us);
        }
    fputs("],\"g\":[", out);
    for (int i = 0, printed = 0; i < scatter->valid_count; i++)
        if (is_dot(scatter, i, binned)) {
            fputs(printed++ > 0 ? ",\"" : "\"", out);
            for (int g = 0; g < scatter->run->genes.count; g++)
                print_place(out, trial_at(scatter, i)->genes[g]);
            fputc('"', out);
        }
    fputs("],\"r\":[", out);
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        fputs(r > 0 ? ",[" : "[", out);
        for (int i = 0, printed = 0; i < scatter->valid_count && !isnan(scatter->low[r]); i++)
            if (is_dot(scatter, i, binned)) {
                fputs(printed++ > 0 ? "," : "", out);
                print_number(out, trial_at(scatter, i)->resources[r]);
            }
        fputc(']', out);
    }
    fputs("]}", out);
    return count;
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

/* Prints [column, row, count, ...] of the bins that are not empty. */
static void print_cells(const struct scatter *scatter, int axis, int *bins) {
    int rows = scatter->rows, printed = 0;
    memset(bins, 0, (size_t)(DOMAIN_MAX * rows) * sizeof *bins);
    for (int i = 0; i < scatter->valid_count; i++) {
        const struct trial_row *trial = trial_at(scatter, i);
        int column = column_of(scatter, trial, axis);
        if (column >= 0)
            bins[column * rows + row_of(scatter, trial)]++;
    }
    fputc('[', scatter->out);
    for (int i = 0; i < DOMAIN_MAX * rows; i++)
        if (bins[i] > 0)
            fprintf(scatter->out, "%s%d,%d,%d", printed++ > 0 ? "," : "", i / rows, i % rows,
                    bins[i]);
    fputc(']', scatter->out);
}

static void print_bins(const struct scatter *scatter) {
    int genes = scatter->run->genes.count;
    int *bins = xmalloc((size_t)(DOMAIN_MAX * scatter->rows) * sizeof *bins);
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

static void print_goal(struct scatter *scatter, int weightiest, int dots_most,
                       struct scatter_note *note) {
    FILE *out = scatter->out;
    bool binned = scatter->valid_count > dots_most;
    *note = (struct scatter_note){.valid = scatter->valid_count};
    find_ranges(scatter, note);
    fprintf(out, "{\"low\":%.6g,\"high\":%.6g,\"weightiest\":%d,\"ranges\":[",
            scatter->valid_count > 0 ? scatter->low_us : 1,
            scatter->valid_count > 0 ? scatter->high_us : 1, weightiest);
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        fputs(r > 0 ? "," : "", out);
        if (isnan(scatter->low[r]))
            fputs("null", out);
        else
            fprintf(out, "[%.6g,%.6g]", scatter->low[r], scatter->high[r]);
    }
    fputs("],", out);
    note->dots = print_dots(scatter, binned);
    if (binned)
        print_bins(scatter);
    fputc('}', out);
}

/* ---- the run ---- */

static char *flag_trials(const struct run_data *run) {
    char *flags = xmalloc((size_t)run->count + 1);
    for (int i = 0; i < run->count; i++)
        flags[i] = run->rows[i].raced ? 'r' : ' ';
    for (int g = 0; g < run->goal_count; g++) {
        const struct goal_view *goal = &run->goals[g];
        for (int rank = 0; rank < goal->elite_count; rank++)
            flags[goal->ranked[rank]] = 'e';
        for (int i = 0; i < goal->champion_change_count; i++)
            flags[goal->champion_changes[i].row] = 'c';
    }
    return flags;
}

static void print_head(FILE *out, const struct run_data *run, int rows) {
    fprintf(out, "{\"unit\":\"%s\",\"rows\":%d,\"columns\":%d,\"genes\":[", run_data_unit(run),
            rows, COLUMNS);
    for (int g = 0; g < run->genes.count; g++) {
        const struct gene_column *gene = &run->genes.columns[g];
        fputs(g > 0 ? ",{\"name\":" : "{\"name\":", out);
        print_string(out, gene->name);
        fputs(",\"values\":[", out);
        for (int v = 0; v < gene->count; v++) {
            fputs(v > 0 ? "," : "", out);
            print_string(out, gene->values[v]);
        }
        fputs("]}", out);
    }
    fputs("],\"resources\":[", out);
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        fputs(r > 0 ? "," : "", out);
        print_string(out, resource_rows[r].title);
    }
    fputs("],\"goals\":[", out);
}

char *scatter_json(const struct run_data *run, const int *weightiest, int dots_most, int rows,
                   struct scatter_note *notes) {
    char *text = NULL;
    size_t size = 0;
    char *flags = flag_trials(run);
    int *valid = malloc(((size_t)run->count + 1) * sizeof *valid);
    FILE *out = open_memstream(&text, &size);
    if (valid == NULL || out == NULL)
        BUG("out of memory");
    print_head(out, run, rows);
    for (int g = 0; g < run->goal_count; g++) {
        struct scatter scatter = {
            .run = run, .out = out, .goal = g, .rows = rows, .valid = valid, .flags = flags};
        for (int i = 0; i < run->count; i++)
            if (run->rows[i].goal == g && !run->rows[i].outdated && !isnan(run->rows[i].score_us))
                valid[scatter.valid_count++] = i;
        fputs(g > 0 ? "," : "", out);
        print_goal(&scatter, weightiest[g], dots_most, &notes[g]);
    }
    fputs("]}", out);
    fclose(out);
    free(flags);
    free(valid);
    return text;
}
