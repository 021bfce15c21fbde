#include "base/intervals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void default_holds_without_variable(void **state) {
    (void)state;
    struct error error;
    unsetenv("EVOTILE_INTERVALS");
    assert_int_equal(intervals_check(&error), 0);
    assert_true(interval_s(INTERVAL_STATUS) == 1);
    assert_true(interval_s(INTERVAL_WORKER_EXIT) == 30);
}

static void variable_sets_by_name(void **state) {
    (void)state;
    struct error error;
    setenv("EVOTILE_INTERVALS", "worker_exit=0.5,heartbeat=0.25", 1);
    assert_int_equal(intervals_check(&error), 0);
    assert_true(interval_s(INTERVAL_WORKER_EXIT) == 0.5);
    assert_true(interval_s(INTERVAL_HEARTBEAT) == 0.25);
    assert_true(interval_s(INTERVAL_HEARTBEAT_TIMEOUT) == 15); /* a longer name */
}

static void mistakes_are_reported(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",          "status", "status=",          "status=0", "status=1s",
        "status=-1", "stat=1", "status=1,beats=2", "status=1,"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct error error = {0};
        setenv("EVOTILE_INTERVALS", texts[i], 1);
        assert_int_equal(intervals_check(&error), -1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_holds_without_variable),
        cmocka_unit_test(variable_sets_by_name),
        cmocka_unit_test(mistakes_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
