/* The front of latency and energy. */
#include "analysis/front.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

static void dominated_points_are_not_on_the_front(void **state) {
    (void)state;
    struct front_point points[] = {
        {.trial = 5, .us = 130, .mj = 45}, {.trial = 2, .us = 100, .mj = 40},
        {.trial = 3, .us = 120, .mj = 30}, {.trial = 4, .us = 120, .mj = 35},
        {.trial = 6, .us = 200, .mj = 29},
    };
    static const struct {
        int64_t trial;
        bool on_front;
    } expected[] = {{2, true}, {3, true}, {4, false}, {5, false}, {6, true}};
    front_mark(points, 5);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(points[i].trial, expected[i].trial);
        assert_int_equal(points[i].on_front, expected[i].on_front);
    }
    front_mark(points, 0);
}

static void differences_within_the_errors_dominate_nothing(void **state) {
    (void)state;
    struct front_point points[] = {
        {.trial = 1, .us = 100, .mj = 40, .mj_error = 0.01},
        {.trial = 2, .us = 100.2, .mj = 41, .mj_error = 0.01}, /* both within */
        {.trial = 3, .us = 100.3, .mj = 42, .mj_error = 0.01}, /* energy is clearly more */
        {.trial = 4, .us = 101, .mj = 40.1, .mj_error = 0.01}, /* latency is */
    };
    front_mark(points, 4);
    assert_true(points[0].on_front && points[1].on_front);
    assert_false(points[2].on_front);
    assert_false(points[3].on_front);
}

static void a_point_needs_both_figures(void **state) {
    (void)state;
    struct front_point point;
    struct case_outcome cases[2] = {{.warm = {.p50_us = 10}, .energy = {.mj = 4, .error = 0.03}},
                                    {.warm = {.p50_us = 40}, .energy = {.mj = 9, .error = 0.04}}};
    struct outcome outcome = {.case_count = 2, .cases = cases};
    assert_true(front_point_of(&outcome, &point));
    assert_true(fabs(point.us - 20) < 1e-9 && fabs(point.mj - 6) < 1e-9);
    assert_true(fabs(point.mj_error - 0.025) < 1e-12);
    cases[1].energy.mj = 0;
    assert_false(front_point_of(&outcome, &point));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dominated_points_are_not_on_the_front),
        cmocka_unit_test(differences_within_the_errors_dominate_nothing),
        cmocka_unit_test(a_point_needs_both_figures),
    };
    return cmocka_run_group_tests_name("front", tests, NULL, NULL);
}
