/* pictures_bars: the pictures made of horizontal bars. */
#include <math.h>

#include "base/memory.h"
#include "base/strbuf.h"
#include "render/chart.h"
#include "report/pictures.h"

/* ---- the funnel ---- */

/* A gate: its name and the verdicts of the trials that fail it. */
struct funnel_gate {
    const char *name;
    enum verdict verdicts[VERDICT_COUNT];
    int count;
};

static const struct funnel_gate gates[] = {
    {"tried", {VERDICT_FILTERED, VERDICT_LOST}, 2},
    {"compiled", {VERDICT_INVALID, VERDICT_COMPILE_FAILED}, 2},
    {"within limits, ran",
     {VERDICT_OVER_LIMIT, VERDICT_LAUNCH_FAILED, VERDICT_TIMEOUT, VERDICT_CRASHED},
     4},
    {"correct",
     {VERDICT_WRONG, VERDICT_RACY, VERDICT_WROTE_OUTSIDE, VERDICT_CHANGED_INPUT,
      VERDICT_UNVERIFIED},
     5},
    {"ok", {VERDICT_IMPOSSIBLE, VERDICT_TOO_SLOW}, 2},
};
/* After the gates: timed in full, and became champion. */
enum { GATES = sizeof gates / sizeof *gates, FUNNEL_ROWS = GATES + 2, FUNNEL_ROW_HEIGHT = 34 };

struct funnel_row {
    const char *name;
    int64_t left;
    char lost[256];
};

static int64_t pass_gate(const struct run_data *run, const struct funnel_gate *gate, int64_t left,
                         struct funnel_row *row) {
    for (int i = 0; i < gate->count; i++) {
        int64_t lost = run->counts.verdicts[gate->verdicts[i]];
        left -= lost;
        if (lost > 0)
            text_append(row->lost, sizeof row->lost, "%s%lld %s", row->lost[0] != '\0' ? ", " : "",
                        (long long)lost, verdict_name(gate->verdicts[i]));
    }
    row->name = gate->name;
    row->left = left;
    return left;
}

static void fill_funnel(const struct run_data *run, struct funnel_row rows[FUNNEL_ROWS]) {
    int64_t left = run->counts.observed, champions = 0;
    for (int i = 0; i < GATES; i++)
        left = pass_gate(run, &gates[i], left, &rows[i]);
    rows[GATES].name = "timed in full";
    rows[GATES].left = left - run->counts.raced;
    if (run->counts.raced > 0)
        snprintf(rows[GATES].lost, sizeof rows[GATES].lost, "%lld dropped by the race",
                 (long long)run->counts.raced);
    for (int g = 0; g < run->goal_count; g++)
        for (int i = 0; i < run->goals[g].champion_count; i++)
            champions += !run->goals[g].champions[i].again;
    rows[GATES + 1].name = "became champion";
    rows[GATES + 1].left = champions;
}

char *picture_funnel(const struct run_data *run) {
    struct funnel_row rows[FUNNEL_ROWS] = {0};
    int height = 10 + FUNNEL_ROW_HEIGHT * FUNNEL_ROWS;
    if (run->counts.observed == 0)
        return NULL;
    fill_funnel(run, rows);
    struct chart *chart = chart_new(PICTURE_WIDE, height);
    chart_begin_panel(
        chart, &(struct chart_panel){.margin_left = 170,
                                     .margin_right = 360,
                                     .margin_top = 5,
                                     .margin_bottom = 5,
                                     .x = {.low = -1, .high = 1, .hidden = true},
                                     .y = {.low = 0.5 - FUNNEL_ROWS, .high = 0.5, .hidden = true}});
    for (int i = 0; i < FUNNEL_ROWS; i++) {
        double half = fmax((double)rows[i].left / (double)rows[0].left, 0.002);
        const struct chart_box box = {{-half, -i - 0.4}, {half, -i + 0.4}};
        chart_boxes(chart, &box, 1,
                    &(struct chart_style){.colour = CHART_ACCENT, .opacity = 1 - 0.09 * i});
        struct chart_text text = {
            .at = {-1, -i}, .dx = -10, .dy = 4, .colour = CHART_TEXT, .anchor = CHART_END};
        chart_text(chart, &text, "%s", rows[i].name);
        text.at.x = 1;
        text.dx = 70;
        chart_text(chart, &text, "%lld", (long long)rows[i].left);
        text = (struct chart_text){
            .at = text.at, .dx = 84, .dy = 4, .size = 10, .colour = CHART_MUTED};
        if (rows[i].lost[0] != '\0')
            chart_text(chart, &text, "%s", rows[i].lost);
    }
    return chart_free(chart, "trials left after each gate", CHART_INLINE);
}

/* ---- bars ---- */

struct bar *bars_add(struct bars *bars, double value, double low, double high) {
    if (bars->count == BARS_MAX || !isfinite(value))
        return NULL;
    struct bar *bar = &bars->bars[bars->count++];
    *bar = (struct bar){.value = value, .low = low, .high = high};
    return bar;
}

/* Both axes; the ticks are the caller's, one for each bar. */
static void begin_bars(struct chart *chart, const struct bars *bars, const char *axis,
                       struct chart_tick ticks[BARS_MAX]) {
    double low = 1, high = 1;
    for (int i = 0; i < bars->count; i++) {
        const struct bar *bar = &bars->bars[i];
        ticks[i] = (struct chart_tick){-i, bar->label};
        low = fmin(fmin(low, bar->value), bar->low);
        high = fmax(fmax(high, bar->value), bar->high);
    }
    double room = fmax(0.06 * (high - low), 0.01);
    chart_begin_panel(chart, &(struct chart_panel){.x = {.title = axis,
                                                         .low = low < 1 ? low - room : 1,
                                                         .high = high + room,
                                                         .grid = true},
                                                   .y = {.low = 0.4 - bars->count,
                                                         .high = 0.6,
                                                         .bare = true,
                                                         .ticks = ticks,
                                                         .tick_count = bars->count}});
}

static void draw_bar(struct chart *chart, const struct bar *bar, int row) {
    const struct chart_style line = {.colour = CHART_TEXT, .width = 1.2},
                             dot = {.colour = CHART_TEXT, .width = 4};
    const struct chart_box box = {{1, row - 0.32}, {bar->value, row + 0.32}};
    const struct chart_point value = {bar->value, row};
    bool faster = bar->value >= 1;
    struct chart_text text = {.at = value,
                              .dx = faster ? 8 : -8,
                              .dy = 4,
                              .colour = CHART_TEXT,
                              .anchor = faster ? CHART_START : CHART_END};
    chart_boxes(chart, &box, 1, &(struct chart_style){.colour = CHART_ACCENT, .opacity = 0.55});
    if (isfinite(bar->low) && isfinite(bar->high)) {
        chart_interval(chart, (struct chart_point){bar->low, row},
                       (struct chart_point){bar->high, row}, &line);
        chart_dots(chart, &value, 1, &dot);
        text.at.x = faster ? bar->high : bar->low;
    }
    chart_text(chart, &text, "%.2f", bar->value);
}

char *picture_bars(const struct bars *bars, const char *axis, const char *label) {
    struct chart_tick ticks[BARS_MAX];
    if (bars->count == 0)
        return NULL;
    struct chart *chart = chart_new(PICTURE_WIDE, 60 + 22 * bars->count);
    begin_bars(chart, bars, axis, ticks);
    for (int i = 0; i < bars->count; i++)
        draw_bar(chart, &bars->bars[i], -i);
    const struct chart_point one[] = {{1, 0.6}, {1, 0.4 - bars->count}};
    chart_line(chart, one, 2, &(struct chart_style){.colour = CHART_MUTED});
    return chart_free(chart, label, CHART_INLINE);
}
