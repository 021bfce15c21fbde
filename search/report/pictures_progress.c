/* pictures_progress: the pictures of the best latency so far. */
#include <math.h>

#include "base/memory.h"
#include "render/chart.h"
#include "report/pictures.h"

enum { HEIGHT = 300, LEGEND_HEIGHT = 60, LEGEND_GOALS_MAX = 14, RUN_COLUMNS = 3, RUN_HEIGHT = 280 };

static bool has_champion(const struct goal_view *goal) {
    return goal->champion_count > 0;
}

static double last_score(const struct goal_view *goal) {
    return goal->champions[goal->champion_count - 1].score_us;
}

static double first_x(const struct goal_view *goal, bool over_time) {
    return over_time ? fmax(goal->champions[0].seconds, 1) : goal->champions[0].order;
}

static double last_x(const struct run_data *run, const struct goal_view *goal, bool over_time) {
    return over_time ? run->seconds : goal->observed;
}

/* The latencies of a goal's champions, divided by `unit_us`, and where the goal ends: one point
   more than champions. The caller frees them. */
static struct chart_point *champion_points(const struct run_data *run, const struct goal_view *goal,
                                           bool over_time, double unit_us) {
    int count = goal->champion_count;
    struct chart_point *points = xcalloc((size_t)count + 1, sizeof *points);
    for (int i = 0; i < count; i++) {
        const struct champion_change *it = &goal->champions[i];
        points[i] =
            (struct chart_point){over_time ? it->seconds : it->order, it->score_us / unit_us};
    }
    points[count] = (struct chart_point){last_x(run, goal, over_time), points[count - 1].y};
    return points;
}

static void draw_steps(struct chart *chart, const struct run_data *run,
                       const struct goal_view *goal, bool over_time, double unit_us,
                       const struct chart_style *style) {
    struct chart_point *points = champion_points(run, goal, over_time, unit_us);
    chart_steps(chart, points, goal->champion_count + 1, style);
    free(points);
}

/* Most champions are found early, so a long axis is logarithmic, from the first champion on. */
static struct chart_axis progress_axis(double first, double last, bool over_time,
                                       const char *trials_title) {
    static const struct chart_tick times[] = {
        {1, "1 s"},          {10, "10 s"},       {60, "1 min"},
        {600, "10 min"},     {3600, "1 h"},      {4 * 3600, "4 h"},
        {12 * 3600, "12 h"}, {48 * 3600, "2 d"}, {168 * 3600, "1 w"}};
    struct chart_axis axis = {.title =
                                  over_time ? "run time in seconds, without pauses" : trials_title,
                              .high = last > 0 ? last : 1};
    if (!(first > 0 && last > 20 * first))
        return axis;
    axis.logarithmic = true;
    axis.low = first;
    if (over_time) {
        axis.ticks = times;
        axis.tick_count = sizeof times / sizeof *times;
    }
    return axis;
}

static void draw_default(struct chart *chart, double left, double right, double us) {
    const struct chart_point line[] = {{left, us}, {right, us}};
    chart_line(chart, line, 2, &(struct chart_style){.colour = CHART_MUTED, .dashes = 1});
    chart_text(chart,
               &(struct chart_text){
                   .at = line[1], .dx = -4, .dy = -5, .colour = CHART_MUTED, .anchor = CHART_END},
               "default");
}

char *picture_best(const struct run_data *run, int goal, bool over_time) {
    const struct goal_view *view = &run->goals[goal];
    if (!has_champion(view))
        return NULL;
    double first_us = view->first >= 0 ? run->rows[view->first].score_us : NAN;
    const struct chart_panel panel = {
        .x = progress_axis(first_x(view, over_time), last_x(run, view, over_time), over_time,
                           "trials of this goal"),
        .y = chart_axis_around(run_data_unit(run), fmin(last_score(view), first_us),
                               fmax(view->champions[0].score_us, first_us))};
    struct chart *chart = chart_new(PICTURE_NARROW, HEIGHT);
    chart_begin_panel(chart, &panel);
    if (view->first >= 0)
        draw_default(chart, panel.x.low, panel.x.high, first_us);
    struct chart_point *points = champion_points(run, view, over_time, 1);
    chart_steps(chart, points, view->champion_count + 1,
                &(struct chart_style){.colour = CHART_ACCENT, .width = 2});
    chart_dots(chart, points, view->champion_count,
               &(struct chart_style){.colour = CHART_ACCENT, .width = 6});
    free(points);
    return chart_free(
        chart, over_time ? "best latency so far over time" : "best latency so far over trials",
        CHART_INLINE);
}

/* ---- all goals of a run ---- */

struct progress_span {
    double first, last, most; /* most: the largest ratio to the final champion */
    int goals;
};

static struct progress_span find_span(const struct run_data *run, bool over_time) {
    struct progress_span span = {.first = INFINITY, .most = 1};
    for (int g = 0; g < run->goal_count; g++) {
        const struct goal_view *goal = &run->goals[g];
        if (!has_champion(goal))
            continue;
        span.goals++;
        span.first = fmin(span.first, first_x(goal, over_time));
        span.last = fmax(span.last, last_x(run, goal, over_time));
        span.most = fmax(span.most, goal->champions[0].score_us / last_score(goal));
    }
    return span;
}

char *picture_all_best(const struct run_data *run, bool over_time) {
    struct progress_span span = find_span(run, over_time);
    if (span.goals < 2)
        return NULL;
    int height = HEIGHT + LEGEND_HEIGHT, drawn = 0;
    struct chart_series *series = xcalloc((size_t)span.goals, sizeof *series);
    for (int g = 0; g < run->goal_count; g++)
        if (has_champion(&run->goals[g]))
            series[drawn++] =
                (struct chart_series){.name = store_goal_name(run->store, g),
                                      .style = {.colour = CHART_SERIES + g % CHART_SERIES_COUNT,
                                                .width = 1.5,
                                                .dashes = g / CHART_SERIES_COUNT % 4}};
    struct chart *chart = chart_new(PICTURE_NARROW, height);
    chart_begin_panel(chart,
                      &(struct chart_panel){.x = progress_axis(span.first, span.last, over_time,
                                                               "trials of each goal"),
                                            .y = {.title = "best so far / final champion",
                                                  .low = 0.98,
                                                  .high = fmax(1.1, fmin(1.05 * span.most, 5)),
                                                  .grid = true},
                                            .legend = series,
                                            .legend_count = drawn <= LEGEND_GOALS_MAX ? drawn : 0});
    drawn = 0;
    for (int g = 0; g < run->goal_count; g++)
        if (has_champion(&run->goals[g]))
            draw_steps(chart, run, &run->goals[g], over_time, last_score(&run->goals[g]),
                       &series[drawn++].style);
    free(series);
    return chart_free(chart,
                      over_time ? "best latency so far of all goals over time"
                                : "best latency so far of all goals over trials",
                      CHART_INLINE);
}

/* ---- several runs ---- */

/* The view that a run has of a goal of the first run; NULL without a champion. */
static const struct goal_view *goal_of_run(struct run_data *const *runs, int r, int goal) {
    int its = run_data_find_goal(runs[r], store_goal_name(runs[0]->store, goal));
    return its >= 0 && has_champion(&runs[r]->goals[its]) ? &runs[r]->goals[its] : NULL;
}

static bool is_common(struct run_data *const *runs, int count, int goal) {
    int sharing = 0;
    for (int r = 0; r < count; r++)
        sharing += goal_of_run(runs, r, goal) != NULL;
    return sharing > 1;
}

static void draw_goal_of_runs(struct chart *chart, struct chart_panel *panel,
                              struct run_data *const *runs, int count, int goal) {
    enum { NAME_SIZE_MAX = 224 };
    double low = INFINITY, high = 0;
    struct chart_series *series = xcalloc((size_t)count, sizeof *series);
    char(*names)[NAME_SIZE_MAX] = xcalloc((size_t)count, sizeof *names);
    int drawn = 0;
    for (int r = 0; r < count; r++) {
        const struct goal_view *view = goal_of_run(runs, r, goal);
        if (view == NULL)
            continue;
        low = fmin(low, last_score(view));
        high = fmax(high, view->champions[0].score_us);
        snprintf(names[drawn], sizeof *names, "%.200s%s", runs[r]->path,
                 runs[r]->predicted > 0 ? ", predicted" : "");
        series[drawn] = (struct chart_series){
            .name = names[drawn],
            .style = {.colour = CHART_SERIES + r % CHART_SERIES_COUNT, .width = 1.8}};
        drawn++;
    }
    panel->title = store_goal_name(runs[0]->store, goal);
    panel->y = chart_axis_around(run_data_unit(runs[0]), low, high);
    panel->legend = series;
    panel->legend_count = drawn;
    chart_begin_panel(chart, panel);
    drawn = 0;
    for (int r = 0; r < count; r++) {
        const struct goal_view *view = goal_of_run(runs, r, goal);
        if (view != NULL)
            draw_steps(chart, runs[r], view, true, 1, &series[drawn++].style);
    }
    free(series);
    free(names);
}

char *picture_runs(struct run_data *const *runs, int count) {
    int panels = 0, drawn = 0;
    double longest = 0;
    for (int g = 0; g < runs[0]->goal_count; g++)
        panels += is_common(runs, count, g);
    if (panels == 0)
        return NULL;
    for (int r = 0; r < count; r++)
        longest = fmax(longest, runs[r]->seconds);
    int columns = panels < RUN_COLUMNS ? panels : RUN_COLUMNS;
    int rows = (panels + columns - 1) / columns, width = PICTURE_WIDE / columns;
    struct chart *chart = chart_new(PICTURE_WIDE, RUN_HEIGHT * rows);
    struct chart_panel panel = {
        .width = width, .height = RUN_HEIGHT, .x = progress_axis(1, longest, true, NULL)};
    for (int g = 0; g < runs[0]->goal_count; g++) {
        if (!is_common(runs, count, g))
            continue;
        panel.left = drawn % columns * width;
        panel.top = (double)(drawn / columns) * RUN_HEIGHT;
        draw_goal_of_runs(chart, &panel, runs, count, g);
        drawn++;
    }
    return chart_free(chart, "best latency so far of each run, one panel per goal", CHART_INLINE);
}
