#include "render/text_plot.h"

#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants them before it. */
#include <cmocka.h>

static char *written(const struct text_plot *plot) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    text_plot_write(plot, out);
    fclose(out);
    return text;
}

static void text_is_cut_and_plain(void **state) {
    (void)state;
    struct text_plot plot = {.rows = 3, .columns = 8};
    text_plot_init(&plot);
    assert_int_equal(text_plot_print(&plot, 0, 2, TEXT_PLOT_BOLD, "%d\t\xc3\xa9!", 12), 7);
    text_plot_print(&plot, 1, 5, TEXT_PLOT_PLAIN, "longer");
    text_plot_print(&plot, 3, 0, TEXT_PLOT_PLAIN, "below");
    text_plot_print(&plot, 2, -3, TEXT_PLOT_PLAIN, "lefter");
    char *text = written(&plot);
    assert_string_equal(text, "  12 ?!\n     lon\nter\n");
    free(text);
    assert_int_equal(text_plot_at(&plot, 0, 2)->style, TEXT_PLOT_BOLD);
    text_plot_release(&plot);
}

static void steps_hold_until_the_next(void **state) {
    (void)state;
    static const struct text_plot_point points[] = {{0, 1}, {0.5, 0.5}, {1, 0}};
    struct text_plot plot = {.rows = 3, .columns = 5};
    text_plot_init(&plot);
    text_plot_curve(&plot, (struct text_plot_area){0, 0, 3, 5}, points, 3);
    char *text = written(&plot);
    assert_string_equal(text, "***\n  ***\n    *\n");
    free(text);
    text_plot_release(&plot);
}

/* For random points: nothing outside the area is touched, every column from the first point on has
   a mark, and marks only go down if no later point is higher. */
static void curves_stay_in_their_area(void **state) {
    struct random random;
    (void)state;
    random_seed(&random, 1, 1);
    for (int round = 0; round < 2000; round++) {
        struct text_plot plot = {.rows = 12, .columns = 30, .unicode = round % 2 == 0};
        struct text_plot_area area = {(int)random_below(&random, 6), (int)random_below(&random, 10),
                                      (int)random_below(&random, 10),
                                      (int)random_below(&random, 25)};
        struct text_plot_point points[8];
        int count = (int)random_below(&random, 9);
        double x = 0;
        for (int i = 0; i < count; i++) {
            points[i] = (struct text_plot_point){x, random_uniform(&random)};
            x += (1 - x) * random_uniform(&random);
        }
        text_plot_init(&plot);
        text_plot_curve(&plot, area, points, count);
        for (int column = 0; column < plot.columns; column++) {
            int marks = 0;
            for (int row = 0; row < plot.rows; row++) {
                bool mark = text_plot_at(&plot, row, column)->character != L' ';
                bool inside = row >= area.row && row < area.row + area.rows &&
                              column >= area.column && column < area.column + area.columns;
                assert_true(inside || !mark);
                marks += mark;
            }
            bool shown = column >= area.column && column < area.column + area.columns;
            if (count > 0 && area.rows > 0 && area.row < plot.rows && shown &&
                area.row + area.rows <= plot.rows)
                assert_true(marks > 0);
        }
        text_plot_release(&plot);
    }
}

static void braille_has_eight_dots_a_letter(void **state) {
    (void)state;
    static const struct text_plot_point points[] = {{0, 1}, {1, 0}};
    struct text_plot plot = {.rows = 1, .columns = 1, .unicode = true};
    text_plot_init(&plot);
    text_plot_curve(&plot, (struct text_plot_area){0, 0, 1, 1}, points, 2);
    assert_int_equal(text_plot_at(&plot, 0, 0)->character, 0x2800 | 0x01 | 0xb8);
    char *text = written(&plot);
    assert_string_equal(text, "\xe2\xa2\xb9\n");
    free(text);
    text_plot_release(&plot);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_cut_and_plain),
        cmocka_unit_test(steps_hold_until_the_next),
        cmocka_unit_test(curves_stay_in_their_area),
        cmocka_unit_test(braille_has_eight_dots_a_letter),
    };
    return cmocka_run_group_tests_name("canvas", tests, NULL, NULL);
}
