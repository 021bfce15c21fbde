/*
 * task_rows: which results of several tasks a task_model rests on: all of them, if there are at
 * most ROWS_MAX. Else half of that many are drawn, of each source the fastest and random others.
 * The rest are what the model then asks for: results near the genomes that it holds best. Private
 * to task_model.
 *
 *     struct task_rows *rows = task_rows_new(space, sources, tasks, count);
 *     ... // condition on rows->items, choose a genome
 *     int added = task_rows_add_near(rows, &genome); // 0: no place, or nothing left
 *     task_rows_free(rows);
 */
#ifndef EVOTILE_STRATEGY_TASK_ROWS_H
#define EVOTILE_STRATEGY_TASK_ROWS_H

#include "strategy/output_transform.h"
#include "strategy/source.h"
#include "strategy/surrogate.h"
#include "strategy/task_model.h"

struct task_row {
    int source, row;
    double value; /* the logarithm of latency over a power of the task's scale, compressed */
};

struct task_rows {
    const struct space *space;
    const struct source *sources;
    const struct task *tasks;
    int source_count;
    double power; /* the best latencies of the sources grow with this power of their tasks' scales:
                     1 if a task has no more than its work, less where some of its time is fixed */
    struct output_transform transforms[SOURCES_MAX];
    bool *taken[SOURCES_MAX]; /* by row of the source */
    struct task_row items[ROWS_MAX];
    int count;
};

/* The arguments must outlive the result, with the drawn rows. */
struct task_rows *task_rows_new(const struct space *space, const struct source *sources,
                                const struct task *tasks, int count);
void task_rows_free(struct task_rows *rows);

/* Adds, while there is room, of each source the result whose genome differs from this one in the
   fewest genes, of those that are not there yet; of several the fastest. Returns how many. */
int task_rows_add_near(struct task_rows *rows, const struct genome *genome);

const struct source_row *task_rows_at(const struct task_rows *rows, int index);

/* The number of results of a source that have a latency: the first so many. */
int task_rows_ok(const struct source *source);

#endif
