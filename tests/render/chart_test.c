/* Properties of charts: well-formed, every point inside the frame, texts escaped, ticks at round
   places, and margins that fit the labels. */
#include "render/chart.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs these first. */
#include <cmocka.h>

enum { WIDTH = 560, HEIGHT = 300 };

static const struct chart_style line = {.colour = CHART_ACCENT, .name = "mark"};

static int times(const char *text, const char *word) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += strlen(word))
        count++;
    return count;
}

/* A chart with one panel over the whole picture. */
static struct chart *begin(struct chart_panel panel) {
    struct chart *chart = chart_new(WIDTH, HEIGHT);
    panel.width = WIDTH;
    panel.height = HEIGHT;
    chart_begin_panel(chart, &panel);
    return chart;
}

/* An XML parser reads the document. */
static void expect_well_formed(const char *svg) {
    FILE *parser = popen("python3 -c 'import sys, xml.dom.minidom as dom\n"
                         "dom.parseString(sys.stdin.buffer.read())'",
                         "w");
    assert_non_null(parser);
    fputs(svg, parser);
    assert_int_equal(pclose(parser), 0);
}

/* The `d` of the only path that has the name. The caller frees it. */
static char *path_of(const char *svg, const char *name) {
    char mark[64];
    snprintf(mark, sizeof mark, " data-name=\"%s\"", name);
    const char *at = strstr(svg, mark);
    assert_int_equal(times(svg, mark), 1);
    while (strncmp(at, " d=\"", 4) != 0)
        at--;
    at += 4;
    return strndup(at, strcspn(at, "\""));
}

/* Reads a text's place; false: no such text. */
static bool find_text(const char *svg, const char *text, double *x, double *y) {
    char mark[256];
    snprintf(mark, sizeof mark, ">%s</text>", text);
    const char *at = strstr(svg, mark);
    if (at == NULL)
        return false;
    while (strncmp(at, "<text ", 6) != 0)
        at--;
    assert_int_equal(sscanf(at, "<text x=\"%lf\" y=\"%lf\"", x, y), 2);
    return true;
}

/* Every absolute coordinate of a path is inside the frame. */
static void expect_inside(const char *d, struct chart_box frame) {
    const double slack = 0.06; /* one digit after the point */
    double x = frame.from.x, y = frame.from.y;
    while (*d != '\0') {
        int used = 0;
        if (sscanf(d, "%*1[ML]%lf,%lf%n", &x, &y, &used) < 2 || used == 0)
            if ((sscanf(d, "H%lf%n", &x, &used) < 1 || used == 0) &&
                (sscanf(d, "V%lf%n", &y, &used) < 1 || used == 0))
                used = *d == 'Z' ? 1 : strncmp(d, "h0", 2) == 0 ? 2 : 0;
        assert_true(used > 0);
        assert_true(x >= frame.from.x - slack && x <= frame.to.x + slack);
        assert_true(y >= frame.from.y - slack && y <= frame.to.y + slack);
        d += used;
    }
}

static const struct chart_axis tens = {.low = 0, .high = 10};

static void every_point_is_inside_the_frame(void **state) {
    static const double values[] = {-INFINITY, -1e300, -1,    0,        1e-9, 5,
                                    10,        11,     1e300, INFINITY, NAN};
    enum { COUNT = sizeof values / sizeof *values };
    struct chart_point points[COUNT * COUNT];
    struct chart_box boxes[COUNT * COUNT / 2];
    (void)state;
    for (int i = 0; i < COUNT * COUNT; i++)
        points[i] = (struct chart_point){values[i / COUNT], values[i % COUNT]};
    for (int i = 0; i < COUNT * COUNT / 2; i++)
        boxes[i] = (struct chart_box){points[2 * i], points[2 * i + 1]};
    for (int kind = 0; kind < 4; kind++)
        for (int logarithmic = 0; logarithmic < 2; logarithmic++) {
            struct chart_axis y = {.low = 0.1, .high = 1000, .logarithmic = logarithmic};
            struct chart *chart = begin((struct chart_panel){.x = tens, .y = y});
            struct chart_box frame = chart_frame(chart);
            if (kind == 0)
                chart_line(chart, points, COUNT * COUNT, &line);
            else if (kind == 1)
                chart_steps(chart, points, COUNT * COUNT, &line);
            else if (kind == 2)
                chart_dots(chart, points, COUNT * COUNT, &line);
            else
                chart_boxes(chart, boxes, COUNT * COUNT / 2, &line);
            char *svg = chart_free(chart, "", CHART_INLINE), *d = path_of(svg, "mark");
            assert_true(strlen(d) > 100);
            expect_inside(d, frame);
            free(d);
            free(svg);
        }
}

static void a_point_without_a_place_is_a_gap(void **state) {
    static const struct chart_point points[] = {{1, 1}, {2, 1}, {3, NAN}, {4, 2}, {5, 2}};
    (void)state;
    struct chart *chart = begin((struct chart_panel){.x = tens, .y = tens});
    chart_line(chart, points, 5, &(struct chart_style){.name = "line"});
    chart_steps(chart, points, 5, &(struct chart_style){.name = "steps"});
    chart_dots(chart, points, 5, &(struct chart_style){.name = "dots"});
    char *svg = chart_free(chart, "", CHART_INLINE);
    char *lines = path_of(svg, "line"), *steps = path_of(svg, "steps"),
         *dots = path_of(svg, "dots");
    assert_int_equal(times(lines, "M"), 2);
    assert_int_equal(times(lines, "L"), 2);
    assert_int_equal(times(steps, "M"), 2);
    assert_int_equal(times(steps, "H"), 2);
    assert_int_equal(times(dots, "M"), 4);
    free(lines);
    free(steps);
    free(dots);
    free(svg);
}

/* To the right is more, and up is more. */
static void greater_values_lie_right_and_up(void **state) {
    static const struct chart_point low = {1, 1}, high = {8, 9};
    double low_x, low_y, high_x, high_y;
    (void)state;
    struct chart *chart = begin((struct chart_panel){.x = tens, .y = tens});
    struct chart_box frame = chart_frame(chart);
    chart_line(chart, &low, 1, &(struct chart_style){.name = "low"});
    chart_line(chart, &high, 1, &(struct chart_style){.name = "high"});
    char *svg = chart_free(chart, "", CHART_INLINE);
    char *from = path_of(svg, "low"), *to = path_of(svg, "high");
    assert_int_equal(sscanf(from, "M%lf,%lf", &low_x, &low_y), 2);
    assert_int_equal(sscanf(to, "M%lf,%lf", &high_x, &high_y), 2);
    assert_true(low_x < high_x && low_y > high_y);
    assert_true(fabs((low_x - frame.from.x) / (frame.to.x - frame.from.x) - 0.1) < 0.01);
    assert_true(fabs((frame.to.y - high_y) / (frame.to.y - frame.from.y) - 0.9) < 0.01);
    free(from);
    free(to);
    free(svg);
}

static void texts_are_escaped(void **state) {
    static const char evil[] = "<b>&\"'\x01\xc3\xa9</svg>";
    static const char escaped[] = "&lt;b&gt;&amp;&quot;";
    const struct chart_tick tick = {5, evil};
    const struct chart_series series = {.name = evil, .style = {.name = evil}};
    struct chart_axis axis = {.title = evil, .high = 10, .ticks = &tick, .tick_count = 1};
    (void)state;
    for (int form = CHART_INLINE; form <= CHART_FILE; form++) {
        struct chart *chart = begin((struct chart_panel){
            .title = evil, .x = axis, .y = axis, .legend = &series, .legend_count = 1});
        chart_text(chart, &(struct chart_text){.at = {5, 5}}, "%s", evil);
        chart_line(chart, &(struct chart_point){1, 1}, 1, &series.style);
        chart_boxes(chart, &(struct chart_box){{1, 1}, {2, 2}}, 1,
                    &(struct chart_style){.tip = evil});
        chart_text(chart, &(struct chart_text){.at = {5, 5}, .in_box = true}, "%s", evil);
        chart_add_x_axis(chart, &axis, evil, false);
        char *svg = chart_free(chart, evil, form);
        assert_null(strstr(svg, "<b>"));
        assert_int_equal(times(svg, "</svg>"), 1);
        /* The label; the title; two of each axis; the legend; two texts; the line's name; the box's
           tip; the further axis's name, title and tick. */
        assert_int_equal(times(svg, escaped), 14);
        assert_int_equal(times(svg, "</title></path>"), 1);
        assert_int_equal(times(svg, "class=\"in-box\""), 1);
        expect_well_formed(svg);
        free(svg);
    }
}

static void logarithmic_ticks_are_where_they_belong(void **state) {
    double x1, x10, x100, y;
    (void)state;
    struct chart *chart =
        begin((struct chart_panel){.x = {.low = 0.8, .high = 200, .logarithmic = true}, .y = tens});
    struct chart_box frame = chart_frame(chart);
    char *svg = chart_free(chart, "", CHART_INLINE);
    assert_true(find_text(svg, "1", &x1, &y) && find_text(svg, "10", &x10, &y) &&
                find_text(svg, "100", &x100, &y));
    assert_true(fabs((x10 - x1) - (x100 - x10)) < 0.2);
    assert_true(fabs(x1 - frame.from.x -
                     log(1 / 0.8) / log(200 / 0.8) * (frame.to.x - frame.from.x)) < 0.1);
    assert_false(find_text(svg, "1000", &x1, &y));
    free(svg);
    /* Of a narrow range the powers of ten are not enough, and of a wide one the powers are. */
    static const struct {
        double low, high;
        int least, most;
    } ranges[] = {{11, 13, 2, 10}, {11, 95, 3, 8}, {1, 1e6, 5, 7}, {1e-9, 1e9, 15, 20}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        chart = begin((struct chart_panel){
            .x = {.hidden = true, .high = 1},
            .y = {.low = ranges[i].low, .high = ranges[i].high, .logarithmic = true}});
        svg = chart_free(chart, "", CHART_INLINE);
        assert_in_range(times(svg, "<text "), ranges[i].least, ranges[i].most);
        free(svg);
    }
}

static void ticks_are_round(void **state) {
    (void)state;
    assert_float_equal(chart_tick_step(10, 5), 2, 1e-12);
    assert_float_equal(chart_tick_step(11, 5), 5, 1e-12);
    assert_float_equal(chart_tick_step(0.003, 4), 0.001, 1e-12);
    for (double high = 1e-6; high < 1e9; high *= 1.7)
        for (int part = 1; part <= 10; part += 9) {
            double x, y;
            struct chart *chart =
                begin((struct chart_panel){.x = {.hidden = true, .high = 1},
                                           .y = {.low = -high / part, .high = high, .unit = " %"}});
            char *svg = chart_free(chart, "", CHART_INLINE);
            assert_true(find_text(svg, "0 %", &x, &y)); /* and not -0 */
            assert_in_range(times(svg, "<text "), 3, 10);
            free(svg);
        }
}

static void an_axis_has_room_around_the_data(void **state) {
    (void)state;
    struct chart_axis axis = chart_axis_around("us", 20, 30);
    assert_false(axis.logarithmic);
    assert_true(axis.low < 20 && axis.low > 15 && axis.high > 30 && axis.high < 35);
    axis = chart_axis_around("us", 1, 30);
    assert_true(axis.logarithmic && axis.low > 0 && axis.low < 1 && axis.high > 30);
    axis = chart_axis_around("us", 7, 7);
    assert_true(axis.low < 7 && axis.high > 7);
    axis = chart_axis_around("us", 0, 0);
    assert_true(axis.low < 0 && axis.high > 0);
}

static void margins_fit_the_labels(void **state) {
    static const char label[] = "BLOCK_M=128, N=64";
    const struct chart_tick tick = {5, label};
    struct chart_axis axis = {.high = 10, .ticks = &tick, .tick_count = 1};
    (void)state;
    struct chart *chart = begin((struct chart_panel){.x = tens, .y = axis});
    assert_true(chart_frame(chart).from.x > 6 * (double)strlen(label));
    free(chart_free(chart, "", CHART_INLINE));
    chart = begin((struct chart_panel){.x = axis, .y = tens});
    double level = chart_frame(chart).to.y;
    free(chart_free(chart, "", CHART_INLINE));
    axis.rotation = 60;
    chart = begin((struct chart_panel){.x = axis, .y = tens});
    assert_true(chart_frame(chart).to.y < level - 5 * (double)strlen(label));
    free(chart_free(chart, "", CHART_INLINE));
}

static void labels_leave_half_of_the_panel(void **state) {
    char label[400];
    memset(label, 'x', sizeof label - 1);
    label[sizeof label - 1] = '\0';
    const struct chart_tick tick = {5, label};
    const struct chart_axis axis = {
        .high = 10, .ticks = &tick, .tick_count = 1, .rotation = 90, .title = "title"};
    (void)state;
    struct chart *chart = begin((struct chart_panel){.x = axis, .y = axis});
    struct chart_box frame = chart_frame(chart);
    assert_true(frame.to.x - frame.from.x > 0.4 * WIDTH);
    assert_true(frame.to.y - frame.from.y > 0.4 * HEIGHT);
    free(chart_free(chart, "", CHART_INLINE));
}

static void the_legend_is_above_the_frame(void **state) {
    enum { COUNT = 9 };
    struct chart_series series[COUNT];
    char names[COUNT][32];
    double last_x = 0, last_y = 0;
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "ROWS=%d,COLS=500", 1 << i);
        series[i] = (struct chart_series){names[i], {.colour = CHART_SERIES + i}, i % 2 == 0};
    }
    struct chart *chart = begin((struct chart_panel){
        .title = "title", .x = tens, .y = tens, .legend = series, .legend_count = COUNT});
    double top = chart_frame(chart).from.y;
    char *svg = chart_free(chart, "", CHART_INLINE);
    for (int i = 0; i < COUNT; i++) {
        double x, y;
        assert_true(find_text(svg, names[i], &x, &y));
        assert_true(y < top && y > 15 && x > 0 && x + 6 * (double)strlen(names[i]) < WIDTH);
        assert_true(i == 0 || y > last_y || x > last_x + 7 * (double)strlen(names[i - 1]));
        last_x = x;
        last_y = y;
    }
    free(svg);
}

static void another_axis_can_be_shown(void **state) {
    (void)state;
    struct chart *chart = begin((struct chart_panel){.x = {.hidden = true, .high = 1}, .y = tens});
    chart_add_x_axis(chart, &(struct chart_axis){.title = "first", .high = 1}, "a", true);
    chart_add_x_axis(chart, &(struct chart_axis){.title = "second", .high = 1}, "b", false);
    char *svg = chart_free(chart, "", CHART_INLINE);
    assert_non_null(strstr(svg, "<g data-name=\"a\">"));
    assert_non_null(strstr(svg, "<g data-name=\"b\" display=\"none\">"));
    expect_well_formed(svg);
    free(svg);
}

/* Each colour is defined for both backgrounds, and in a file. */
static void all_colours_are_defined(void **state) {
    char *style = NULL;
    size_t size = 0;
    (void)state;
    FILE *out = open_memstream(&style, &size);
    chart_print_colours(out);
    fclose(out);
    char *svg = chart_free(chart_new(1, 1), "", CHART_FILE);
    assert_non_null(strstr(svg, "xmlns="));
    for (int colour = 0; colour <= CHART_SCALE_TEXT; colour++) {
        char definition[32];
        bool used = colour < CHART_TEXT || colour >= CHART_SERIES;
        snprintf(definition, sizeof definition, "--c%d:#", colour);
        assert_int_equal(times(style, definition), used ? 2 : 0);
        assert_int_equal(times(svg, definition), used ? 1 : 0);
    }
    free(style);
    free(svg);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_point_is_inside_the_frame),
        cmocka_unit_test(a_point_without_a_place_is_a_gap),
        cmocka_unit_test(greater_values_lie_right_and_up),
        cmocka_unit_test(texts_are_escaped),
        cmocka_unit_test(logarithmic_ticks_are_where_they_belong),
        cmocka_unit_test(ticks_are_round),
        cmocka_unit_test(an_axis_has_room_around_the_data),
        cmocka_unit_test(margins_fit_the_labels),
        cmocka_unit_test(labels_leave_half_of_the_panel),
        cmocka_unit_test(the_legend_is_above_the_frame),
        cmocka_unit_test(another_axis_can_be_shown),
        cmocka_unit_test(all_colours_are_defined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
