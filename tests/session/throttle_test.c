#include "session/throttle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka wants them before it. */
#include <cmocka.h>

static void yields_only_when_asked(void **state) {
    (void)state;
    struct throttle rude = {0};
    struct throttle nice = {.nice = true};
    assert_false(throttle_decide(&rude, 3, 100));
    assert_false(throttle_decide(&nice, 0, 100));
    assert_false(throttle_decide(&nice, -1, -1)); /* unknown */
    assert_true(throttle_decide(&nice, 1, 30));
    assert_string_equal(nice.reason, "1 other process on the GPU");
    assert_true(throttle_decide(&nice, 2, 30));
    assert_string_equal(nice.reason, "2 other processes on the GPU");
    assert_false(throttle_decide(&nice, 0, 30));
}

/* It pauses above the limit, and stays paused until 5 degrees below it. */
static void cools_before_it_continues(void **state) {
    (void)state;
    struct throttle throttle = {.max_temperature_c = 80};
    static const struct {
        int temperature_c;
        bool paused;
    } course[] = {{20, false}, {80, false}, {81, true},  {80, true}, {76, true},
                  {75, false}, {76, false}, {80, false}, {90, true}, {-1, false}};
    for (size_t i = 0; i < sizeof course / sizeof *course; i++)
        assert_int_equal(throttle_decide(&throttle, 0, course[i].temperature_c), course[i].paused);
    throttle_decide(&throttle, 0, 84);
    assert_string_equal(throttle.reason, "the GPU is at 84 degrees Celsius; continues at 75");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(yields_only_when_asked),
        cmocka_unit_test(cools_before_it_continues),
    };
    return cmocka_run_group_tests_name("pause", tests, NULL, NULL);
}
