#include "cli/watch_view.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "run/forecast.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_SIZE = 512,
    CURVE_ROWS_MIN = 4, /* least rows of the curve: the table of the best shrinks first */
    AXIS_WIDTH = 9,     /* of the numbers beside the curve */
    SOLUTION_WIDTH = 17,
    OPERATORS_WIDTH = 41,
    OPERATORS_MIN_COLUMNS = 76, /* least columns of a view with the operators beside the curve */
};

/* A longer silence is displayed: several updates of the status are missing. */
static const double silence_shown_s = 5;

/* ---- lines ---- */

/* The search time: that of the last status, plus the time since. */
static double search_time_s(const struct run_stats *stats) {
    return stats->has_status
               ? stats->status.seconds + fmin(silence_shown_s, run_stats_silence_s(stats))
               : stats->seconds;
}

static void add_phase(char line[LINE_SIZE], const struct run_stats *stats) {
    const struct run_status *status = &stats->status;
    char text[DURATION_SIZE];
    double silence_s = run_stats_silence_s(stats);
    if (!stats->has_status) {
        text_append(line, LINE_SIZE, "not running");
        return;
    }
    if (run_stats_is_over(stats) && !phase_is_over(status->phase)) {
        text_append(line, LINE_SIZE, "silent for %s: it was killed; `evotile resume` continues it",
                    clock_print_duration(silence_s, text));
        return;
    }
    text_append(line, LINE_SIZE, "%s", phase_text(status->phase));
    if (status->reason[0] != '\0')
        text_append(line, LINE_SIZE, ": %s", status->reason);
    if (silence_s > silence_shown_s)
        text_append(line, LINE_SIZE, ", silent for %.0f s", silence_s);
}

/* When the search ends by its number of trials, and when its best is likely near the best. */
static void add_forecast(char line[LINE_SIZE], const struct run_stats *stats) {
    const struct run_status *status = &stats->status;
    char text[DURATION_SIZE];
    if (!stats->has_status || run_stats_is_over(stats) || !(status->trials_per_s > 0))
        return;
    if (status->budget_trials > 0 && status->budget_seconds == 0)
        text_append(line, LINE_SIZE, "; about %s left",
                    clock_print_duration((double)(status->budget_trials - stats->observed) /
                                             status->trials_per_s,
                                         text));
    int64_t near = forecast_near_best(stats->champions, stats->champion_count, stats->goal,
                                      store_goal_count(stats->store));
    if (stats->observed >= near)
        text_append(line, LINE_SIZE, "; likely near best");
    else if (status->budget_trials == 0 || near < status->budget_trials)
        text_append(
            line, LINE_SIZE, "; near best in %s",
            clock_print_duration((double)(near - stats->observed) / status->trials_per_s, text));
}

static void add_budget(char line[LINE_SIZE], const struct run_stats *stats) {
    const struct run_status *status = &stats->status;
    char text[DURATION_SIZE];
    text_append(line, LINE_SIZE, "%s", clock_print_duration(search_time_s(stats), text));
    if (status->budget_seconds > 0)
        text_append(line, LINE_SIZE, " of %s", clock_print_duration(status->budget_seconds, text));
    if (status->budget_seconds > 0 && !run_stats_is_over(stats))
        text_append(line, LINE_SIZE, ", %s left",
                    clock_print_duration(status->budget_seconds - search_time_s(stats), text));
    text_append(line, LINE_SIZE, "; %" PRId64, stats->observed - stats->verdicts[VERDICT_FILTERED]);
    if (status->budget_trials > 0)
        text_append(line, LINE_SIZE, " of %" PRId64, status->budget_trials);
    text_append(line, LINE_SIZE, " trials");
    if (stats->has_status)
        text_append(line, LINE_SIZE, ", %.1f/s", status->trials_per_s);
    else if (stats->seconds > 0)
        text_append(line, LINE_SIZE, ", %.1f/s", (double)stats->observed / stats->seconds);
    if (stats->has_status && !run_stats_is_over(stats) && status->asked > stats->observed)
        text_append(line, LINE_SIZE, ", %" PRId64 " in flight", status->asked - stats->observed);
    if (status->patience > 0)
        text_append(line, LINE_SIZE, "; patience %" PRId64 " of %" PRId64 " left",
                    status->patience_left, status->patience);
    if (status->target_us > 0)
        text_append(line, LINE_SIZE, "; target %.3f us", status->target_us);
    if (status->target_ratio > 0)
        text_append(line, LINE_SIZE, "; target %g times as fast", status->target_ratio);
    add_forecast(line, stats);
}

static void add_verdicts(char line[LINE_SIZE], const struct run_stats *stats) {
    verdict_print_counts(stats->verdicts, stats->raced, line, LINE_SIZE);
}

static void add_gpu(char line[LINE_SIZE], const struct run_status *status) {
    const struct nvml_state *gpu = &status->gpu;
    char slowdowns[NVML_SLOWDOWN_SIZE];
    nvml_print_state(gpu, (int)status->max_temperature_c, "C", line, LINE_SIZE);
    if (*nvml_slowdowns(gpu->slowdowns, slowdowns) != '\0')
        text_append(line, LINE_SIZE, "; slowed down by %s", slowdowns);
    if (status->others > 0)
        text_append(line, LINE_SIZE, "; %d other process%s on it", status->others,
                    status->others == 1 ? "" : "es");
    if (*line == '\0')
        text_append(line, LINE_SIZE,
                    status->predicts ? "none: emulated device, latencies are predictions"
                                     : "unknown: NVML cannot read it");
}

static void print_worker(const struct pool_worker *worker, char text[64]) {
    bool device = strcmp(worker->role, "device") == 0;
    double since_s = fmin(99999, worker->since_s);
    if (*worker->host != '\0') { /* a remote worker: only busy or idle is known */
        snprintf(text, 64, "%.16s %s", worker->host, worker->state == POOL_BUSY ? "busy" : "idle");
        return;
    }
    switch (worker->state) {
    case POOL_STARTING:
        snprintf(text, 64, "%s starts", worker->role);
        return;
    case POOL_IDLE:
        snprintf(text, 64, "%s idle", worker->role);
        return;
    case POOL_EXITING:
        snprintf(text, 64, "%s ends", worker->role);
        return;
    case POOL_BUSY:
        snprintf(text, 64, "%s %" PRId64 " %.1f s", device ? "evaluates" : "compiles",
                 worker->trial, since_s);
        return;
    }
}

/* ---- the header ---- */

/* Prints a label and a line of text; returns the next row. */
static int print_label(struct text_plot *plot, int row, const char *label, const char *line) {
    text_plot_print(plot, row, 0, TEXT_PLOT_DIM, "%s", label);
    text_plot_print(plot, row, 9, TEXT_PLOT_PLAIN, "%s", line);
    return row + 1;
}

/* Prints each worker in a field of fixed width, in at most `rows` rows. */
static int draw_workers(const struct run_status *status, struct text_plot *plot, int row,
                        int rows) {
    enum { FIELD = 24 };
    int listed =
        status->worker_count < STATUS_WORKERS_MAX ? status->worker_count : STATUS_WORKERS_MAX;
    int across = (plot->columns - 9) / FIELD > 0 ? (plot->columns - 9) / FIELD : 1;
    int shown = listed < rows * across ? listed : rows * across;
    text_plot_print(plot, row, 0, TEXT_PLOT_DIM, "workers");
    for (int w = 0; w < shown; w++) {
        char text[64];
        const struct pool_worker *worker = &status->workers[w];
        bool last = w == shown - 1 && shown < status->worker_count;
        print_worker(worker, text);
        if (last)
            snprintf(text, sizeof text, "and %d more", status->worker_count - w);
        text_plot_print(plot, row + w / across, 9 + w % across * FIELD,
                        worker->state == POOL_BUSY ? TEXT_PLOT_PLAIN : TEXT_PLOT_DIM, "%.*s",
                        FIELD - 1, text);
    }
    return row + (shown + across - 1) / across;
}

static int draw_header(const struct run_stats *stats, struct text_plot *plot) {
    char phase[LINE_SIZE] = "", budget[LINE_SIZE] = "", verdicts[LINE_SIZE] = "",
         gpu[LINE_SIZE] = "";
    bool warns = stats->has_status &&
                 (stats->status.phase == PHASE_PAUSED || stats->status.phase == PHASE_FAILED ||
                  run_stats_silence_s(stats) > silence_shown_s);
    add_phase(phase, stats);
    add_budget(budget, stats);
    add_verdicts(verdicts, stats);
    add_gpu(gpu, &stats->status);
    int column = text_plot_print(plot, 0, 0, TEXT_PLOT_BOLD, "%s", store_run_dir(stats->store));
    if (stats->device != NULL)
        column = text_plot_print(plot, 0, column, TEXT_PLOT_PLAIN, " on %s", stats->device);
    text_plot_print(plot, 0, column, warns ? TEXT_PLOT_WARNING : TEXT_PLOT_PLAIN, ", %s", phase);
    int row = print_label(plot, 1, "time", budget);
    row = print_label(plot, row, "verdicts", verdicts);
    if (!stats->has_status || phase_is_over(stats->status.phase))
        return row;
    row = print_label(plot, row, "GPU", gpu);
    return draw_workers(&stats->status, plot, row, 1 + plot->rows / 12);
}

/* ---- the curve ---- */

/* The end of the time axis, in seconds since the run was created. */
static double time_axis_end(const struct run_stats *stats) {
    double last = stats->champion_count > 0 ? stats->champions[stats->champion_count - 1].accepted
                                            : stats->created;
    double end = stats->has_status ? stats->status.updated : stats->created + stats->seconds;
    return fmax(fmax(last, end) - stats->created, 1);
}

/* The best score of several solutions' champions; 0: none has one. */
static double best_of(const double *scores_us, int count) {
    double best_us = 0;
    for (int i = 0; i < count; i++)
        if (scores_us[i] > 0 && (best_us == 0 || scores_us[i] < best_us))
            best_us = scores_us[i];
    return best_us;
}

static int collect_points(const struct run_stats *stats, bool by_trials, double end,
                          struct text_plot_point *points, double *low, double *high) {
    double scores_us[SOLUTIONS_MAX] = {0};
    int count = 0;
    *low = *high = 0;
    for (int i = 0; i < stats->champion_count; i++) {
        const struct store_champion *champion = &stats->champions[i];
        const int solution = champion->goal - stats->goal;
        if (solution < 0 || solution >= stats->solutions.count || !(champion->score_us > 0))
            continue;
        scores_us[solution] = champion->score_us;
        const double best_us = best_of(scores_us, stats->solutions.count);
        if (count > 0 && best_us == points[count - 1].y && stats->solutions.count > 1)
            continue; /* the champion of a solution that is not the best */
        double at = by_trials ? (double)champion->trial : champion->accepted - stats->created;
        points[count] = (struct text_plot_point){fmin(1, fmax(0, at / end)), best_us};
        /* A champion's trial number may be lower than that of the champion before. */
        if (count > 0)
            points[count].x = fmax(points[count].x, points[count - 1].x);
        *low = count == 0 ? best_us : fmin(*low, best_us);
        *high = count == 0 ? best_us : fmax(*high, best_us);
        count++;
    }
    return count;
}

static void draw_curve(const struct run_stats *stats, bool by_trials, struct text_plot *plot,
                       struct text_plot_area area) {
    double end = by_trials ? fmax(1, (double)stats->observed) : time_axis_end(stats);
    double low, high;
    char text[DURATION_SIZE];
    struct text_plot_point *points = xcalloc((size_t)stats->champion_count + 1, sizeof *points);
    int count = collect_points(stats, by_trials, end, points, &low, &high);
    struct text_plot_area inner = {area.row, area.column + AXIS_WIDTH, area.rows - 1,
                                   area.columns - AXIS_WIDTH};
    if (count == 0) {
        text_plot_print(plot, area.row, area.column, TEXT_PLOT_DIM, "no champion yet");
        free(points);
        return;
    }
    /* A log scale, so that equal ratios have equal heights and late gains stay visible. */
    double span = log(high / low);
    for (int i = 0; i < count; i++)
        points[i].y = span > 0 ? log(points[i].y / low) / span : 0.5;
    text_plot_curve(plot, inner, points, count);
    text_plot_print(plot, area.row, area.column, TEXT_PLOT_DIM, "%8.3f", high);
    text_plot_print(plot, area.row + inner.rows - 1, area.column, TEXT_PLOT_DIM, "%8.3f", low);
    if (inner.rows > 2)
        text_plot_print(plot, area.row + inner.rows / 2, area.column, TEXT_PLOT_DIM, "      us");
    text_plot_print(plot, area.row + inner.rows, inner.column, TEXT_PLOT_DIM, "0");
    if (by_trials)
        snprintf(text, sizeof text, "%" PRId64 " trials", stats->observed);
    else
        clock_print_duration(end, text);
    text_plot_print(plot, area.row + inner.rows, inner.column + inner.columns - (int)strlen(text),
                    TEXT_PLOT_DIM, "%s", text);
    free(points);
}

/* ---- operators ---- */

static int by_trial_count(const void *left, const void *right) {
    const struct operator_stats *a = left, *b = right;
    return a->observed != b->observed ? (a->observed < b->observed ? 1 : -1)
                                      : strcmp(a->name, b->name);
}

static void draw_operators(const struct run_stats *stats, struct text_plot *plot,
                           struct text_plot_area area) {
    struct operator_stats rows[RUN_STATS_OPERATORS_MAX];
    memcpy(rows, stats->operators, sizeof rows);
    qsort(rows, (size_t)stats->operator_count, sizeof *rows, by_trial_count);
    text_plot_print(plot, area.row, area.column, TEXT_PLOT_DIM, "%-15s%7s%7s%10s", "tried as",
                    "trials", "ok", "champions");
    for (int i = 0; i < stats->operator_count && i + 1 < area.rows; i++)
        text_plot_print(plot, area.row + 1 + i, area.column, TEXT_PLOT_PLAIN,
                        "%-15.15s%7" PRId64 "%7" PRId64 "%10" PRId64, rows[i].name,
                        rows[i].observed, rows[i].ok, rows[i].accepted);
}

/* ---- the best ---- */

static void draw_best(const struct run_stats *stats, struct text_plot *plot, int row, int rows) {
    bool predicted = stats->top_count > 0 && stats->top[0].predicted;
    char unit[16];
    snprintf(unit, sizeof unit, "%12s", minimised_unit(stats->minimised));
    const bool several = stats->solutions.count > 1;
    text_plot_print(plot, row, 0, TEXT_PLOT_DIM, "rank   trial  %s  %stried as        genome%s",
                    predicted ? "us predicted" : unit, several ? "solution         " : "",
                    several ? ", where it differs from its solution's default"
                    : stats->default_genomes[0] != NULL ? ", where it differs from the default"
                                                        : "");
    for (int i = 0; i < stats->top_count && i + 1 < rows; i++) {
        const struct ranked_trial *place = &stats->top[i];
        text_plot_print(plot, row + 1 + i, 0, i == 0 ? TEXT_PLOT_BOLD : TEXT_PLOT_PLAIN,
                        "%4d %7" PRId64 " %13.3f  %-*.*s%-15.15s %s", i + 1, place->trial,
                        place->score_us, several ? SOLUTION_WIDTH : 0,
                        several ? SOLUTION_WIDTH - 1 : 0,
                        several ? run_solutions_name(&stats->solutions, place->goal) : "",
                        place->operator_name, place->genome);
    }
}

/* ---- the view ---- */

void watch_view_draw(const struct run_stats *stats, bool by_trials, struct text_plot *plot) {
    int row = draw_header(stats, plot) + 1;
    int goals = store_goal_count(stats->store), own = stats->solutions.count;
    int column = 0;
    char cases[CASE_NAME_SIZE];
    run_solutions_cases(&stats->solutions, stats->store, stats->goal, cases);
    if (goals > 1 && own > 1)
        column = text_plot_print(plot, row, 0, TEXT_PLOT_BOLD,
                                 "goals %d to %d of 0 to %d: ", stats->goal, stats->goal + own - 1,
                                 goals - 1);
    else if (goals > 1)
        column = text_plot_print(plot, row, 0, TEXT_PLOT_BOLD, "goal %d of 0 to %d: ", stats->goal,
                                 goals - 1);
    text_plot_print(plot, row++, column, TEXT_PLOT_BOLD, "%s", cases);
    int best_rows = 1 + RUN_STATS_TOP;
    int curve_rows = plot->rows - row - best_rows - 1;
    if (curve_rows < CURVE_ROWS_MIN) {
        best_rows = plot->rows - row - CURVE_ROWS_MIN - 1;
        curve_rows = CURVE_ROWS_MIN;
    }
    struct text_plot_area curve = {row, 0, curve_rows, plot->columns};
    if (plot->columns >= OPERATORS_MIN_COLUMNS) {
        curve.columns -= OPERATORS_WIDTH;
        draw_operators(stats, plot,
                       (struct text_plot_area){row - 1, curve.columns + 2, curve_rows + 1,
                                               OPERATORS_WIDTH - 2});
    }
    draw_curve(stats, by_trials, plot, curve);
    draw_best(stats, plot, row + curve_rows + 1, best_rows);
}

void watch_view_print_line(const struct run_stats *stats, char *text, size_t size) {
    char line[LINE_SIZE] = "";
    add_phase(line, stats);
    text_append(line, LINE_SIZE, "; ");
    add_budget(line, stats);
    if (stats->observed > 0)
        text_append(line, LINE_SIZE, ": ");
    add_verdicts(line, stats);
    if (stats->champion_count > 0)
        text_append(line, LINE_SIZE, "; best %.3f %s",
                    stats->champions[stats->champion_count - 1].score_us,
                    minimised_unit(stats->minimised));
    if (stats->has_status && stats->status.gpu.sm_mhz >= 0) {
        char gpu[LINE_SIZE] = "";
        add_gpu(gpu, &stats->status);
        text_append(line, LINE_SIZE, "; %s", gpu);
    }
    snprintf(text, size, "%s", line);
}
