#include "cmd/canvas.h"

#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants them before it. */
#include <cmocka.h>

static char *written(const struct canvas *canvas) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    canvas_write(canvas, out);
    fclose(out);
    return text;
}

static void text_is_cut_and_plain(void **state) {
    (void)state;
    struct canvas canvas = {.rows = 3, .columns = 8};
    canvas_init(&canvas);
    assert_int_equal(canvas_print(&canvas, 0, 2, CANVAS_BOLD, "%d\t\xc3\xa9!", 12), 7);
    canvas_print(&canvas, 1, 5, CANVAS_PLAIN, "longer");
    canvas_print(&canvas, 3, 0, CANVAS_PLAIN, "below");
    canvas_print(&canvas, 2, -3, CANVAS_PLAIN, "lefter");
    char *text = written(&canvas);
    assert_string_equal(text, "  12 ?!\n     lon\nter\n");
    free(text);
    assert_int_equal(canvas_at(&canvas, 0, 2)->style, CANVAS_BOLD);
    canvas_release(&canvas);
}

static void steps_hold_until_the_next(void **state) {
    (void)state;
    static const struct canvas_point points[] = {{0, 1}, {0.5, 0.5}, {1, 0}};
    struct canvas canvas = {.rows = 3, .columns = 5};
    canvas_init(&canvas);
    canvas_curve(&canvas, (struct canvas_area){0, 0, 3, 5}, points, 3);
    char *text = written(&canvas);
    assert_string_equal(text, "***\n  ***\n    *\n");
    free(text);
    canvas_release(&canvas);
}

/* For random points: nothing outside the area is touched, every column from the first point on has
   a mark, and marks only go down if no later point is higher. */
static void curves_stay_in_their_area(void **state) {
    struct random random;
    (void)state;
    random_seed(&random, 1, 1);
    for (int round = 0; round < 2000; round++) {
        struct canvas canvas = {.rows = 12, .columns = 30, .unicode = round % 2 == 0};
        struct canvas_area area = {(int)random_below(&random, 6), (int)random_below(&random, 10),
                                   (int)random_below(&random, 10), (int)random_below(&random, 25)};
        struct canvas_point points[8];
        int count = (int)random_below(&random, 9);
        double x = 0;
        for (int i = 0; i < count; i++) {
            points[i] = (struct canvas_point){x, random_uniform(&random)};
            x += (1 - x) * random_uniform(&random);
        }
        canvas_init(&canvas);
        canvas_curve(&canvas, area, points, count);
        for (int column = 0; column < canvas.columns; column++) {
            int marks = 0;
            for (int row = 0; row < canvas.rows; row++) {
                bool mark = canvas_at(&canvas, row, column)->letter != L' ';
                bool inside = row >= area.row && row < area.row + area.rows &&
                              column >= area.column && column < area.column + area.columns;
                assert_true(inside || !mark);
                marks += mark;
            }
            bool shown = column >= area.column && column < area.column + area.columns;
            if (count > 0 && area.rows > 0 && area.row < canvas.rows && shown &&
                area.row + area.rows <= canvas.rows)
                assert_true(marks > 0);
        }
        canvas_release(&canvas);
    }
}

static void braille_has_eight_dots_a_letter(void **state) {
    (void)state;
    static const struct canvas_point points[] = {{0, 1}, {1, 0}};
    struct canvas canvas = {.rows = 1, .columns = 1, .unicode = true};
    canvas_init(&canvas);
    canvas_curve(&canvas, (struct canvas_area){0, 0, 1, 1}, points, 2);
    assert_int_equal(canvas_at(&canvas, 0, 0)->letter, 0x2800 | 0x01 | 0xb8);
    char *text = written(&canvas);
    assert_string_equal(text, "\xe2\xa2\xb9\n");
    free(text);
    canvas_release(&canvas);
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
