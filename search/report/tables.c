#include "report/tables.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

static double first_us(const struct run_data *run, int goal) {
    int first = run->goals[goal].first;
    return first >= 0 ? run->rows[first].score_us : NAN;
}

/* ---- goals ---- */

/* The genes that differ from the default genome; the whole genome if the default was not tried. */
static void add_changes(struct table *table, const struct run_data *run, int goal,
                        const struct trial_row *row) {
    char genome[GENOME_TEXT_SIZE], first[GENOME_TEXT_SIZE], changes[CHANGES_SIZE];
    const char *const parents[2] = {first, NULL};
    int index = run->goals[goal].first;
    genes_print(&run->genes, row->genes, genome);
    if (index < 0) {
        table_add(table, "%s", genome);
        return;
    }
    genes_print(&run->genes, run->rows[index].genes, first);
    run_history_print_changes(genome, parents, changes);
    table_add(table, "%s", changes[0] != '\0' ? changes : "(the default)");
}

struct table *table_of_goals(const struct run_data *run) {
    struct table_column columns[] = {
        {.name = "goal", .heading = "goal"},
        {.name = "score_us", .heading = "champion\nus", .right = true},
        {.name = "default_us", .heading = "default\nus", .right = true},
        {.name = "ratio", .heading = "times\nas fast", .right = true},
        {.name = "tflops", .heading = "TFLOP/s", .right = true},
        {.name = "trial", .heading = "trial", .right = true},
        {.name = "order", .heading = "its rank\nin time", .right = true},
        {.name = "trials", .heading = "trials", .right = true},
        {.name = "valid", .heading = "valid", .right = true},
        {.name = "changes", .heading = "what differs from the default", .wrap = true},
    };
    if (run->minimised != MINIMISED_LATENCY) {
        columns[1].heading = "champion's\nscore";
        columns[2].heading = "default's\nscore";
        columns[3].heading = "times\nas low";
    } else if (run->predicted > 0 && run->measured == 0) {
        columns[1].heading = "champion\npredicted us";
        columns[2].heading = "default\npredicted us";
    }
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    for (int g = 0; g < run->goal_count; g++) {
        const struct trial_row *row = run_data_champion(run, g);
        const struct goal_view *view = &run->goals[g];
        const char *name = store_goal_name(run->store, g);
        double preset_us = first_us(run, g);
        if (row == NULL) {
            table_add(table, "%s - %.3f - - - - %d %d -", name, preset_us, view->observed,
                      view->valid);
            continue;
        }
        table_add(table, "%s %.3f %.3f %.2f %.2f %ld %d %d %d", name, row->score_us, preset_us,
                  preset_us / row->score_us, row->tflops, row->number, row->order, view->observed,
                  view->valid);
        add_changes(table, run, g, row);
    }
    return table;
}

/* ---- workers ---- */

struct table *table_of_workers(const struct run_data *run) {
    static const struct table_column columns[] = {
        {.name = "worker", .heading = "host and device"},
        {.name = "trials", .heading = "trials", .right = true},
        {.name = "ok", .heading = "ok", .right = true},
        {.name = "lost", .heading = "crashed\nor hung", .right = true},
    };
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    int count = run->workers.count;
    struct {
        int trials, ok, lost;
    } *done = xcalloc((size_t)count + 1, sizeof *done);
    for (int i = 0; i < run->count; i++) {
        const struct trial_row *row = &run->rows[i];
        done[row->worker_index].trials++;
        done[row->worker_index].ok += row->verdict == VERDICT_OK;
        done[row->worker_index].lost +=
            row->verdict == VERDICT_CRASHED || row->verdict == VERDICT_TIMEOUT;
    }
    for (int w = 0; w < count; w++) {
        const char *name = run->workers.items[w];
        if (*name == '\0' || (count == 1 && strchr(name, '/') == NULL))
            continue;
        table_add(table, "%s %d %d %d", name, done[w].trials, done[w].ok, done[w].lost);
    }
    free(done);
    return table;
}

/* ---- genes ---- */

static double percent(double ratio) {
    return isfinite(ratio) ? 100 * (ratio - 1) : NAN;
}

struct table *table_of_changes(const struct gene_changes *changes) {
    static const struct table_column columns[] = {
        {.name = "gene", .heading = "gene"},
        {.name = "champion", .heading = "of the\nchampion"},
        {.name = "value", .heading = "changed\nto"},
        {.name = "cost_percent", .heading = "cost\n%", .right = true},
        {.name = "low_percent", .heading = "99 %\nfrom", .right = true},
        {.name = "high_percent", .heading = "to", .right = true},
        {.name = "certain", .heading = "certain"},
        {.name = "evidence", .heading = "rests on"},
    };
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < changes->count; i++) {
        const struct gene_change *row = &changes->rows[i];
        char from[NAME_SIZE], to[NAME_SIZE], evidence[EVIDENCE_SIZE];
        space_value_text(changes->space, row->gene, changes->champion.value[row->gene], from);
        space_value_text(changes->space, row->gene, row->value, to);
        gene_effects_print_evidence(&row->effect, evidence);
        table_add(table, "%s %s %s %+.1f %+.1f %+.1f %s %s", changes->space->genes[row->gene].name,
                  from, to, percent(row->effect.ratio), percent(row->effect.low),
                  percent(row->effect.high), effect_is_certain(&row->effect) ? "yes" : "no",
                  evidence);
    }
    return table;
}

/* ---- descent ---- */

struct table *table_of_line(const struct run_data *run, const struct ancestry *ancestry) {
    const struct table_column columns[] = {
        {.name = "trial", .heading = "trial", .right = true},
        {.name = "score_us", .heading = run_data_unit(run), .right = true},
        {.name = "operator", .heading = "operator"},
        {.name = "other_parent", .heading = "other\nparent", .right = true},
        {.name = "changed", .heading = "changes", .wrap = true},
    };
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < ancestry->line_count; i++) {
        const struct trial_row *it = ancestry->line[i];
        const struct trial_row *sources[2] = {run_data_find_trial(run, it->parent_a),
                                              run_data_find_trial(run, it->parent_b)};
        char genome[GENOME_TEXT_SIZE], texts[2][GENOME_TEXT_SIZE], changes[CHANGES_SIZE];
        const char *parents[2] = {NULL, NULL};
        for (int p = 0; p < 2; p++)
            if (sources[p] != NULL) {
                genes_print(&run->genes, sources[p]->genes, texts[p]);
                parents[p] = texts[p];
            }
        genes_print(&run->genes, it->genes, genome);
        run_history_print_changes(genome, parents, changes);
        table_add(table, "%ld %.3f %s", it->number, it->score_us,
                  run->operators.items[it->operator_index]);
        table_add(table, sources[1] != NULL ? "%ld" : "-", it->parent_b);
        table_add(table, "%s", parents[0] == NULL ? genome : changes);
    }
    return table;
}

struct table *table_of_succession(const struct run_data *run, int goal) {
    const struct table_column columns[] = {
        {.name = "trial", .heading = "trial", .right = true},
        {.name = "score_us", .heading = run_data_unit(run), .right = true},
        {.name = "operator", .heading = "operator"},
        {.name = "changed", .heading = "changes from the previous champion", .wrap = true},
    };
    const struct goal_view *view = &run->goals[goal];
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    for (int i = view->champion_count - 1; i >= 0; i--) {
        const struct champion_change *it = &view->champions[i];
        const struct trial_row *row = &run->rows[it->row];
        char genome[GENOME_TEXT_SIZE], before[GENOME_TEXT_SIZE], changes[CHANGES_SIZE];
        const char *const parents[2] = {before, NULL};
        genes_print(&run->genes, row->genes, genome);
        if (i > 0) {
            genes_print(&run->genes, run->rows[view->champions[i - 1].row].genes, before);
            run_history_print_changes(genome, parents, changes);
        }
        table_add(table, "%ld %.3f %s %s", row->number, it->score_us,
                  run->operators.items[row->operator_index],
                  i == 0      ? genome
                  : it->again ? "measured again"
                              : changes);
    }
    return table;
}

/* ---- several runs ---- */

static double best_us(const struct run_data *run, const char *goal) {
    int its = run_data_find_goal(run, goal);
    const struct trial_row *champion = its >= 0 ? run_data_champion(run, its) : NULL;
    return champion != NULL ? champion->score_us : NAN;
}

static void add_goal(struct table *table, struct run_data *const *runs, int count,
                     const char *goal) {
    double best[RUNS_COMPARED];
    int have = 0;
    for (int r = 0; r < count; r++) {
        best[r] = best_us(runs[r], goal);
        have += !isnan(best[r]);
    }
    if (have < 2)
        return;
    table_add(table, "%s", goal);
    for (int r = 0; r < count; r++) {
        table_add(table, r > 0 ? "%.3f %.3f" : "%.3f", best[r], best[0] / best[r]);
    }
}

struct table *table_of_runs(struct run_data *const *runs, int count) {
    struct table_column columns[2 * RUNS_COMPARED] = {{.name = "goal", .heading = "goal"}};
    int used = 1;
    count = count < RUNS_COMPARED ? count : RUNS_COMPARED;
    for (int r = 0; r < count; r++) {
        columns[used++] =
            (struct table_column){.name = "us", .heading = runs[r]->heading, .right = true};
        if (r > 0)
            columns[used++] =
                (struct table_column){.name = "ratio", .heading = "ratio", .right = true};
    }
    struct table *table = table_new(columns, used);
    for (int r = 0; r < count; r++)
        for (int g = 0; g < runs[r]->goal_count; g++) {
            const char *name = store_goal_name(runs[r]->store, g);
            bool had = false;
            for (int before = 0; before < r; before++)
                had = had || run_data_find_goal(runs[before], name) >= 0;
            if (!had)
                add_goal(table, runs, count, name);
        }
    return table;
}
