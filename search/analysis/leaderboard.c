/* The columns and rows of a leaderboard. */
#include "analysis/leaderboard.h"

#include "analysis/front.h"
#include "base/memory.h"
#include "run/default_trial.h"
#include "run/run_dir.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A column without a heading here is shown only if finish_headings gives it one. */
static const struct table_column columns[] = {
    {.name = "goal"},
    {.name = "goal_name"},
    {.name = "on_front"},
    {.name = "within_smem_bytes"},
    {.name = "rank", .heading = "rank", .right = true},
    {.name = "trial", .heading = "trial", .right = true},
    {.name = "solution", .heading = "solution"},
    {.name = "case"},
    {.name = "predicted"},
    {.name = "score", .right = true},
    {.name = "latency_p50_us", .heading = "p50\nus", .right = true},
    {.name = "latency_p90_us", .heading = "p90\nus", .right = true},
    {.name = "placement_spread", .right = true},
    {.name = "energy_mj", .right = true},
    {.name = "energy_error", .right = true},
    {.name = "sm_mhz", .right = true},
    {.name = "sm_mhz_low", .right = true},
    {.name = "sm_mhz_high", .right = true},
    {.name = "power_limited"},
    {.name = "cold_p50_us", .right = true},
    {.name = "cold_p90_us", .right = true},
    {.name = "tflops", .heading = "TFLOP/s", .right = true},
    {.name = "gb_per_s", .right = true},
    {.name = "share_of_ceiling", .right = true},
    {.name = "ratio_to_default", .heading = "ratio\nto the\ndefault", .right = true},
    {.name = "ratio_to_baseline", .right = true},
    {.name = "ratio_low", .right = true},
    {.name = "ratio_high", .right = true},
    {.name = "estimated_ratio_to_baseline"},
    {.name = "ctas", .heading = "CTAs", .right = true},
    {.name = "ctas_per_sm", .heading = "CTAs\n/SM", .right = true},
    {.name = "smem_bytes", .heading = "shared\nbytes", .right = true},
    {.name = "registers", .heading = "regs", .right = true},
    {.name = "spill_bytes"},
    {.name = "occupancy", .heading = "occ\n%", .right = true},
    {.name = "error_relative_l2", .heading = "error\nrel L2", .right = true},
    {.name = "bound_relative_l2"},
    {.name = "limited_range"},
    {.name = "uses", .wrap = true},
    {.name = "checks"},
    {.name = "operator", .heading = "tried as"},
    {.name = "genome", .heading = "genome", .wrap = true},
};

/* ---- rows ---- */

/* The figures of one row: of one case, or aggregated over the cases of the goal. */
struct row_figures {
    double p50_us, p90_us, cold_us, cold_p90_us, tflops, gb_per_s, ceiling;
    double error, bound, default_us, baseline_us;
    double work;             /* of a call, in calls of the default genome */
    double placement_spread; /* see outcome_placement_spread */
    double energy_mj, energy_error;
    int ctas;
};

static double case_p50_us(const struct store_trial *trial, int number) {
    const struct outcome *outcome = trial != NULL ? trial->outcome : NULL;
    return outcome != NULL && outcome->verdict == VERDICT_OK && number < outcome->case_count
               ? outcome->cases[number].warm.p50_us
               : NAN;
}

/* How much a call of a case computes, in calls of the default genome: 1 unless genes change it. */
static double case_work(const struct leaderboard *board, const struct outcome *outcome,
                        int number) {
    const struct outcome *first = board->first != NULL ? board->first->outcome : NULL;
    if (!minimised_counts_work(board->minimised))
        return 1;
    return first != NULL && first->verdict == VERDICT_OK && number < first->case_count
               ? minimised_case_work(board->minimised, &outcome->cases[number]) /
                     minimised_case_work(board->minimised, &first->cases[number])
               : NAN;
}

/* The place of a case in the config. */
static int case_index(const struct leaderboard *board, const struct outcome *outcome, int number) {
    return outcome->case_count > 1 ? number : board->goals.first / board->solutions.count;
}

static struct row_figures case_figures(const struct leaderboard *board,
                                       const struct outcome *outcome, int number) {
    const struct case_outcome *timed = &outcome->cases[number];
    const struct outcome alone = {.case_count = 1, .cases = &outcome->cases[number]};
    const bool is_compared = timed->bound.relative_l2 > 0;
    return (struct row_figures){
        .p50_us = timed->warm.p50_us,
        .p90_us = timed->warm.p90_us,
        .cold_us = timed->cold.sample_count > 0 ? timed->cold.p50_us : NAN,
        .cold_p90_us = timed->cold.sample_count > 0 ? timed->cold.p90_us : NAN,
        .tflops = timed->tflops,
        .gb_per_s = timed->gb_per_s,
        .ceiling = timed->ceiling > 0 ? timed->ceiling : NAN,
        .error = is_compared ? timed->errors.relative_l2 : NAN,
        .bound = is_compared ? timed->bound.relative_l2 : NAN,
        .default_us = case_p50_us(board->first, number),
        .work = case_work(board, outcome, number),
        .baseline_us =
            baseline_results_p50_us(board->baselines, case_index(board, outcome, number)),
        .placement_spread = outcome_placement_spread(&alone),
        .energy_mj = outcome_energy_mj(&alone),
        .energy_error = outcome_energy_error(&alone),
        .ctas = timed->ctas,
    };
}

/* The fields that are aggregated over cases as geometric means. */
static const size_t averaged_fields[] = {
    offsetof(struct row_figures, p50_us),  offsetof(struct row_figures, p90_us),
    offsetof(struct row_figures, cold_us), offsetof(struct row_figures, cold_p90_us),
    offsetof(struct row_figures, tflops),  offsetof(struct row_figures, gb_per_s),
    offsetof(struct row_figures, ceiling), offsetof(struct row_figures, baseline_us),
    offsetof(struct row_figures, work),
};

static double *figure_at(struct row_figures *figures, size_t offset) {
    return (double *)((char *)figures + offset);
}

static struct row_figures goal_figures(const struct leaderboard *board,
                                       const struct outcome *outcome) {
    struct row_figures each[CASES_MAX];
    struct row_figures all = {.default_us = NAN,
                              .error = NAN,
                              .bound = NAN,
                              .placement_spread = outcome_placement_spread(outcome),
                              .energy_mj = outcome_energy_mj(outcome),
                              .energy_error = outcome_energy_error(outcome)};
    for (int i = 0; i < outcome->case_count; i++) {
        struct row_figures one = each[i] = case_figures(board, outcome, i);
        all.error = fmax(all.error, one.error); /* a case that is not compared does not count */
        all.bound = fmin(all.bound, one.bound);
        all.ctas = i == 0 || one.ctas < all.ctas ? one.ctas : all.ctas;
    }
    for (size_t k = 0; k < sizeof averaged_fields / sizeof *averaged_fields; k++) {
        double values[CASES_MAX];
        for (int i = 0; i < outcome->case_count; i++)
            values[i] = *figure_at(&each[i], averaged_fields[k]);
        *figure_at(&all, averaged_fields[k]) = outcome_mean(outcome, values);
    }
    const struct store_trial *first = board->first;
    if (first != NULL && first->outcome != NULL && first->outcome->verdict == VERDICT_OK)
        all.default_us = board->minimised == MINIMISED_LATENCY ? first->outcome->score_us
                                                               : outcome_latency_us(first->outcome);
    return all;
}

/* JSON and CSV get the whole genome; text the genes that differ from the solution's default, which
   is what `try --genome` needs. */
static void add_genome(const struct leaderboard *board, int goal, const char *genome) {
    char shown[4096];
    default_trial_differences(board->defaults[goal % board->solutions.count], genome, shown,
                              sizeof shown);
    table_cell(board->table, cJSON_CreateString(genome), shown);
}

/* Prints "3.1e-4" where C prints "3.1e-04", to keep the column narrow. */
static void add_short_exponent(struct table *table, double number) {
    char text[32];
    snprintf(text, sizeof text, "%.1e", number);
    char *zero = strstr(text, "e-0");
    if (zero != NULL)
        memmove(zero + 2, zero + 3, strlen(zero + 2));
    if (isfinite(number))
        table_cell(table, cJSON_CreateNumber(number), text);
    else
        table_add(table, "-");
}

/* The ratio to the baseline with its interval, if a duel measured it; else the one of separate
   timings, which is an estimate: "~1.48". */
static void add_ratio(struct table *table, const struct baseline_ratio *ratio, double estimate) {
    char text[32];
    if (ratio != NULL) {
        table_add(table, "%.3f %.3f %.3f", ratio->ratio, ratio->low, ratio->high);
    } else if (isfinite(estimate)) {
        snprintf(text, sizeof text, "~%.2f", estimate);
        table_cell(table, cJSON_CreateNumber(estimate), text);
        table_add(table, "- -");
    } else {
        table_add(table, "- - -");
    }
    table_add(table, "%.2f", estimate);
}

/* Unknown where it was not measured. */
static void add_energy(struct table *table, const struct row_figures *figures) {
    char text[32];
    if (!(figures->energy_mj > 0)) {
        table_add(table, "- -");
        return;
    }
    snprintf(text, sizeof text, "%.4g", figures->energy_mj);
    table_cell(table, cJSON_CreateNumber(figures->energy_mj), text);
    table_add(table, "%.1f%%", figures->energy_error);
}

/* The clocks while it was timed; unknown without readings. */
static void add_clocks(struct table *table, const struct conditions *conditions) {
    bool limited = conditions_power_limited(conditions);
    if (conditions->sm_mhz_high <= 0) {
        table_add(table, "- - - -");
        return;
    }
    if (conditions->sm_mhz > 0)
        table_add(table, "%d", conditions->sm_mhz);
    else
        table_add(table, "-");
    table_add(table, "%d %d", conditions->sm_mhz_low, conditions->sm_mhz_high);
    table_cell(table, cJSON_CreateBool(limited), limited ? "limit" : "");
}

/* CTAs, resources and errors. A trial that was looked up in a recorded space has none of them. */
static void add_compiled(struct table *table, const struct resources *resources,
                         const struct row_figures *figures) {
    if (resources->ctas_per_sm == 0) {
        table_add(table, "- - - - - - - -");
        return;
    }
    table_add(table, "%d %d %d %d %d %.0f%%", figures->ctas, resources->ctas_per_sm,
              resources->smem_bytes, resources->registers, resources->spill_bytes,
              resources->occupancy);
    add_short_exponent(table, figures->error);
    add_short_exponent(table, figures->bound);
}

/* `number` is the case's, or -1 for all. */
static void add_case_name(const struct leaderboard *board, int case_count, int number) {
    char name[CASE_NAME_SIZE];
    if (number >= 0)
        run_dir_case_name(board->store, board->config, board->goals.first, case_count, number,
                          name);
    table_add(board->table, "%s", number >= 0 ? name : NULL);
}

static void add_row(struct leaderboard *board, const struct store_trial *trial, int number) {
    struct table *table = board->table;
    const struct outcome *outcome = trial->outcome;
    const struct resources *resources = &outcome->resources;
    struct row_figures figures =
        number >= 0 ? case_figures(board, outcome, number) : goal_figures(board, outcome);
    bool limit_known = board->smem_limit > 0 || board->config != NULL;
    table_add(table, "%d %s", trial->goal, store_goal_name(board->store, trial->goal));
    if (board->front == FRONT_NOT)
        table_add(table, "-");
    else
        table_cell(table, cJSON_CreateBool(board->on_front), board->on_front ? "yes" : "no");
    table_add(table, limit_known ? "%d" : "-",
              board->smem_limit > 0 || !limit_known ? board->smem_limit
                                                    : board->config->smem_limit_bytes);
    table_add(table, "%ld %ld", board->rank, trial->number);
    if (board->solutions.count > 1)
        table_add(table, "%s", run_solutions_name(&board->solutions, trial->goal));
    add_case_name(board, outcome->case_count, number);
    table_cell(table, cJSON_CreateBool(outcome->predicted),
               outcome->predicted ? "predicted" : "measured");
    table_add(table, "%.2f", outcome->score_us);
    table_add(table, "%.2f %.2f %.1f%%", figures.p50_us, figures.p90_us, figures.placement_spread);
    add_energy(table, &figures);
    add_clocks(table, &outcome->conditions);
    table_add(table, "%.2f %.2f %.2f %.0f %.2f %.2f", figures.cold_us, figures.cold_p90_us,
              figures.tflops, figures.gb_per_s, figures.ceiling,
              figures.work * figures.default_us / figures.p50_us);
    add_ratio(table, baseline_duel_ratio(board->duel, number),
              figures.work * figures.baseline_us / figures.p50_us);
    add_compiled(table, resources, &figures);
    table_cell(table, cJSON_CreateBool(outcome->limited_range),
               outcome->limited_range ? "limited" : "full");
    table_add(table, "%s", outcome->uses[0] != '\0' ? outcome->uses : NULL);
    table_add(table, "%s", outcome->checks[0] != '\0' ? outcome->checks : NULL);
    table_add(table, "%s", trial->operator_name);
    add_genome(board, trial->goal, trial->genome);
}

/* The rows of a trial whose rank is set. */
static int add_trial_rows(struct leaderboard *board, const struct store_trial *trial,
                          struct error *error) {
    free(board->duel);
    int found = baseline_duel_read(board->store, trial, &board->duel, error);
    if (found < 0)
        return -1;
    board->duel_count += found;
    if (board->shown++ == 0) {
        board->best = trial->number;
        snprintf(board->checks, sizeof board->checks, "%s", outcome_checks(trial->outcome));
    }
    board->predicted += trial->outcome->predicted;
    board->measured += !trial->outcome->predicted;
    board->limited_count += trial->outcome->limited_range;
    board->uses_count += trial->outcome->uses[0] != '\0';
    board->energy_count += outcome_energy_mj(trial->outcome) > 0;
    board->power_count += conditions_power_limited(&trial->outcome->conditions);
    board->spread_count += outcome_placement_spread(trial->outcome) > PLACEMENT_SPREAD_SHOWN;
    for (int i = 0; board->cases && i < trial->outcome->case_count; i++)
        add_row(board, trial, i);
    if (!board->cases)
        add_row(board, trial, -1);
    return 0;
}

static int add_ranked(void *context, const struct store_trial *trial, struct error *error) {
    struct leaderboard *board = context;
    if (board->top > 0 && board->rank == board->top) {
        board->has_more_rows = true;
        return 1;
    }
    board->rank++;
    return add_trial_rows(board, trial, error);
}

/* ---- the front ---- */

struct measured_points {
    int64_t ranks;
    int count;
    struct front_point *items;
};

static int collect_point(void *context, const struct store_trial *trial, struct error *error) {
    struct measured_points *points = context;
    struct front_point point;
    (void)error;
    points->ranks++;
    if (!front_point_of(trial->outcome, &point))
        return 0;
    point.trial = trial->number;
    point.rank = points->ranks;
    points->items = xgrow(points->items, points->count, sizeof *points->items);
    points->items[points->count++] = point;
    return 0;
}

static int add_front(struct leaderboard *board, struct error *error) {
    struct measured_points points = {0};
    int status = store_shared_board(board->store, board->goals, 0, board->smem_limit, collect_point,
                                    &points, error);
    front_mark(points.items, points.count);
    for (int i = 0; i < points.count && status == 0; i++) {
        const struct front_point *point = &points.items[i];
        if (board->front == FRONT_ONLY && !point->on_front)
            continue;
        struct store_trial *trial = store_trial_read(board->store, point->trial, error);
        board->rank = point->rank;
        board->on_front = point->on_front;
        status = trial == NULL            ? -1
                 : trial->outcome == NULL ? 0 /* it is measured again meanwhile */
                                          : add_trial_rows(board, trial, error);
        store_trial_free(trial);
    }
    free(points.items);
    return status;
}

/* ---- the table ---- */

int leaderboard_open(struct leaderboard *board, struct store *store, struct error *error) {
    *board = (struct leaderboard){.store = store, .solution = ALL_SOLUTIONS};
    return run_solutions_read(store, &board->solutions, error) < 0 ||
                   run_dir_minimised(store, &board->minimised, error) < 0 ||
                   baseline_results_read(store, &board->baselines, error) < 0
               ? -1
               : 0;
}

void leaderboard_clear(struct leaderboard *board) {
    struct table_column shown[sizeof columns / sizeof *columns];
    int count = 0;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (board->solutions.count > 1 || strcmp(columns[i].name, "solution") != 0)
            shown[count++] = columns[i];
    table_free(board->table);
    board->table = table_new(shown, count);
    board->predicted = board->measured = board->limited_count = board->uses_count = 0;
    board->spread_count = board->power_count = board->energy_count = board->duel_count = 0;
}

static void release_defaults(struct leaderboard *board) {
    for (int i = 0; board->defaults != NULL && i < board->solutions.count; i++)
        free(board->defaults[i]);
    free(board->defaults);
    board->defaults = NULL;
    store_trial_free(board->first);
    board->first = NULL;
}

/* All ratios of a board are to one genome, so that they are in the order of the ranks. */
static int read_defaults(struct leaderboard *board, int first, struct error *error) {
    release_defaults(board);
    board->defaults = xcalloc((size_t)board->solutions.count, sizeof *board->defaults);
    for (int i = 0; i < board->solutions.count; i++) {
        struct store_trial *trial;
        if (default_trial_read(board->store, first + i, &trial, error) < 0)
            return -1;
        if (trial != NULL)
            board->defaults[i] = xstrdup(trial->genome);
        if (i == board->solutions.reference)
            board->first = trial;
        else
            store_trial_free(trial);
    }
    return 0;
}

int leaderboard_add_cases(struct leaderboard *board, int goal, int smem_limit,
                          struct error *error) {
    if (board->table == NULL)
        leaderboard_clear(board);
    board->goals = run_solutions_goals(&board->solutions, goal, board->solution);
    board->smem_limit = smem_limit;
    board->rank = board->shown = 0;
    if (read_defaults(board, run_solutions_goals(&board->solutions, goal, ALL_SOLUTIONS).first,
                      error) < 0)
        return -1;
    if (board->front != FRONT_NOT)
        return add_front(board, error);
    return store_shared_board(board->store, board->goals, board->top > 0 ? board->top + 1 : 0,
                              smem_limit, add_ranked, board, error);
}

void leaderboard_release(struct leaderboard *board) {
    table_free(board->table);
    baseline_results_free(board->baselines);
    free(board->duel);
    release_defaults(board);
}

struct table *leaderboard_table(struct store *store, int goal, int64_t top, struct error *error) {
    struct leaderboard board;
    struct table *table = NULL;
    if (leaderboard_open(&board, store, error) == 0) {
        board.top = top;
        if (leaderboard_add_cases(&board, goal, 0, error) == 0) {
            leaderboard_finish_headings(&board);
            table = board.table;
            board.table = NULL;
        }
    }
    leaderboard_release(&board);
    return table;
}
