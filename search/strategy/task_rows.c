#include "strategy/task_rows.h"

#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>

enum { STREAM = 0x74726f77, DRAWN = ROWS_MAX / 2 };

/* The weight of the power 1 beside the sources, as the square of a spread of log scales: half of a
   doubling. */
static const double prior_of_power = 0.12;

int task_rows_ok(const struct source *source) {
    int count = 0;
    while (count < source->row_count && isfinite(source->rows[count].us))
        count++;
    return count;
}

const struct source_row *task_rows_at(const struct task_rows *rows, int index) {
    const struct task_row *at = &rows->items[index];
    return &rows->sources[at->source].rows[at->row];
}

static void add_row(struct task_rows *rows, int s, int row) {
    const struct output_transform *transform = &rows->transforms[s];
    const double standardised = output_transform_apply(transform, rows->sources[s].rows[row].us);
    const double value = transform->mean + transform->deviation * standardised -
                         rows->power * log(rows->tasks[s].scale_us);
    rows->items[rows->count++] = (struct task_row){s, row, value};
    rows->taken[s][row] = true;
}

/* `most` rows of a source: the fastest for one half, random others for the rest. */
static void draw_rows(struct task_rows *rows, int s, int most, struct random *random) {
    const struct source *source = &rows->sources[s];
    const int ok = task_rows_ok(source), fastest = ok <= most ? ok : most / 2;
    double *us = xcalloc((size_t)ok, sizeof *us);
    int kept = 0;
    for (int i = 0; i < ok; i++)
        us[i] = source->rows[i].us;
    rows->transforms[s] = output_transform_fit(us, ok);
    free(us);
    for (int i = 0; i < ok; i++)
        if (i < fastest || random_below(random, (uint64_t)(ok - i)) < (uint64_t)(most - kept)) {
            add_row(rows, s, i);
            kept++;
        }
}

/* By least squares. */
static double fit_power(const struct task_rows *rows) {
    double x = 0, y = 0, xx = prior_of_power, xy = prior_of_power;
    for (int s = 0; s < rows->source_count; s++) {
        x += log(rows->tasks[s].scale_us) / rows->source_count;
        y += log(rows->sources[s].rows[0].us) / rows->source_count;
    }
    for (int s = 0; s < rows->source_count; s++) {
        const double apart = log(rows->tasks[s].scale_us) - x;
        xx += apart * apart;
        xy += apart * (log(rows->sources[s].rows[0].us) - y);
    }
    return fmin(fmax(xy / xx, 0), 1);
}

struct task_rows *task_rows_new(const struct space *space, const struct source *sources,
                                const struct task *tasks, int count) {
    struct task_rows *rows = xcalloc(1, sizeof *rows);
    struct random random;
    *rows = (struct task_rows){
        .space = space, .sources = sources, .tasks = tasks, .source_count = count};
    rows->power = fit_power(rows);
    random_seed(&random, 1, STREAM);
    int all = 0;
    for (int s = 0; s < count; s++)
        all += task_rows_ok(&sources[s]);
    for (int s = 0; s < count; s++) {
        rows->taken[s] = xcalloc((size_t)sources[s].row_count, sizeof *rows->taken[s]);
        draw_rows(rows, s, all <= ROWS_MAX ? ROWS_MAX : DRAWN / count, &random);
    }
    return rows;
}

void task_rows_free(struct task_rows *rows) {
    if (rows == NULL)
        return;
    for (int s = 0; s < rows->source_count; s++)
        free(rows->taken[s]);
    free(rows);
}

static int genes_apart(const struct space *space, const struct genome *a, const struct genome *b) {
    int count = 0;
    for (int g = 0; g < space->gene_count; g++)
        count += a->value[g] != b->value[g];
    return count;
}

/* -1: all are there. */
static int nearest_row(const struct task_rows *rows, int s, const struct genome *genome) {
    const struct source *source = &rows->sources[s];
    const int ok = task_rows_ok(source);
    int nearest = -1, least = GENES_MAX + 1;
    for (int i = 0; i < ok && least > 0; i++) {
        const int apart = rows->taken[s][i]
                              ? GENES_MAX + 1
                              : genes_apart(rows->space, &source->rows[i].genome, genome);
        if (apart < least) {
            least = apart;
            nearest = i;
        }
    }
    return nearest;
}

int task_rows_add_near(struct task_rows *rows, const struct genome *genome) {
    const int before = rows->count;
    for (int s = 0; s < rows->source_count && rows->count < ROWS_MAX; s++) {
        const int row = nearest_row(rows, s, genome);
        if (row >= 0)
            add_row(rows, s, row);
    }
    return rows->count - before;
}
