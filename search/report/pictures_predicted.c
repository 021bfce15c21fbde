/* pictures_predicted: the picture of predicted versus measured latency. */
#include <math.h>

#include "base/memory.h"
#include "render/chart.h"
#include "report/pictures.h"

/* The frame is a square within margins. */
enum { SIDE = 474, LEFT = 70, RIGHT = 16, TOP = 12, BOTTOM = 44 };

static struct chart_point point_of(const struct trial_row *row) {
    return (struct chart_point){row->latency_us, row->predicted_us};
}

static void draw_pairs(struct chart *chart, const struct run_data *run,
                       const struct predicted_vs_measured *pairs, int most) {
    int drawn = pairs->count < most ? pairs->count : most;
    struct chart_point *points = xcalloc((size_t)drawn + 1, sizeof *points);
    for (int i = 0; i < drawn; i++)
        points[i] = point_of(&run->rows[pairs->rows[(int64_t)i * pairs->count / drawn]]);
    chart_dots(chart, points, drawn, &(struct chart_style){.colour = CHART_ACCENT, .width = 4});
    free(points);
}

char *picture_predicted_vs_measured(const struct run_data *run, int goal,
                                    const struct predicted_vs_measured *pairs, int most) {
    const struct trial_row *champion = run_data_champion(run, goal);
    bool has_champion = false;
    if (pairs == NULL || pairs->count < 2)
        return NULL;
    double low = pairs->agreement.fastest_us, high = pairs->agreement.slowest_us;
    for (int i = 0; i < pairs->count; i++) {
        const struct trial_row *it = &run->rows[pairs->rows[i]];
        low = fmin(low, it->predicted_us);
        high = fmax(high, it->predicted_us);
        has_champion = has_champion || it == champion;
    }
    low *= 0.93;
    high *= 1.07;
    const struct chart_point diagonal[] = {{low, low}, {high, high}};
    struct chart *chart = chart_new(LEFT + SIDE + RIGHT, TOP + SIDE + BOTTOM);
    /* The same range on both axes, so that the line of equality is the diagonal. */
    struct chart_axis x = {.title = "measured us",
                           .low = low,
                           .high = high,
                           .logarithmic = true,
                           .grid = true},
                      y = x;
    y.title = "predicted us";
    chart_begin_panel(chart, &(struct chart_panel){.margin_left = LEFT,
                                                   .margin_right = RIGHT,
                                                   .margin_top = TOP,
                                                   .margin_bottom = BOTTOM,
                                                   .x = x,
                                                   .y = y});
    chart_line(chart, diagonal, 2, &(struct chart_style){.colour = CHART_MUTED, .dashes = 1});
    draw_pairs(chart, run, pairs, most);
    if (has_champion)
        chart_dots(chart, &(struct chart_point){champion->latency_us, champion->predicted_us}, 1,
                   &(struct chart_style){.colour = CHART_STRONG, .width = 9});
    chart_text(chart,
               &(struct chart_text){.at = {low, high}, .dx = 10, .dy = 16, .colour = CHART_TEXT},
               "rank correlation %.3f", pairs->agreement.rank_correlation);
    return chart_free(chart, "predicted versus measured", CHART_INLINE);
}
