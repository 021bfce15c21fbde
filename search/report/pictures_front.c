/* pictures_front: the picture of latency and energy. */
#include "analysis/front.h"
#include "base/memory.h"
#include "render/chart.h"
#include "report/pictures.h"

#include <math.h>

enum { HEIGHT = 340 };

/* The goal's points, sorted and marked. The caller frees them. */
static struct front_point *points_of(const struct run_data *run, int goal, int *count) {
    const struct goal_view *view = &run->goals[goal];
    struct front_point *points = xcalloc((size_t)view->ranked_count + 1, sizeof *points);
    *count = 0;
    for (int i = 0; i < view->ranked_count; i++) {
        const struct trial_row *row = &run->rows[view->ranked[i]];
        if (row->latency_us > 0 && row->energy_mj > 0)
            points[(*count)++] = (struct front_point){.trial = row->number,
                                                      .us = row->latency_us,
                                                      .mj = row->energy_mj,
                                                      .us_error = row->latency_error,
                                                      .mj_error = row->energy_error};
    }
    front_mark(points, *count);
    return points;
}

/* At most `most` of the points that are not on the front, evenly selected. */
static void draw_others(struct chart *chart, const struct front_point *points, int count,
                        int most) {
    int drawn = count < most ? count : most, others = 0;
    struct chart_point *dots = xcalloc((size_t)drawn + 1, sizeof *dots);
    for (int i = 0; i < drawn; i++) {
        const struct front_point *it = &points[(int64_t)i * count / drawn];
        if (!it->on_front)
            dots[others++] = (struct chart_point){it->us, it->mj};
    }
    chart_dots(chart, dots, others, &(struct chart_style){.colour = CHART_MUTED, .width = 4});
    free(dots);
}

static void draw_front(struct chart *chart, const struct front_point *points, int count) {
    struct chart_point *front = xcalloc((size_t)count + 1, sizeof *front);
    int length = 0;
    for (int i = 0; i < count; i++)
        if (points[i].on_front)
            front[length++] = (struct chart_point){points[i].us, points[i].mj};
    chart_line(chart, front, length, &(struct chart_style){.colour = CHART_ACCENT, .width = 2});
    chart_dots(chart, front, length, &(struct chart_style){.colour = CHART_ACCENT, .width = 7});
    free(front);
}

char *picture_front(const struct run_data *run, int goal, int most) {
    int count;
    struct front_point *points = points_of(run, goal, &count);
    if (count < 2) {
        free(points);
        return NULL;
    }
    double least_mj = INFINITY, most_mj = 0;
    for (int i = 0; i < count; i++) {
        least_mj = fmin(least_mj, points[i].mj);
        most_mj = fmax(most_mj, points[i].mj);
    }
    struct chart *chart = chart_new(PICTURE_NARROW, HEIGHT);
    chart_begin_panel(chart, &(struct chart_panel){
                                 .x = chart_axis_around("us", points[0].us, points[count - 1].us),
                                 .y = chart_axis_around("mJ a call", least_mj, most_mj)});
    draw_others(chart, points, count, most);
    draw_front(chart, points, count);
    free(points);
    return chart_free(chart, "latency and energy", CHART_INLINE);
}
