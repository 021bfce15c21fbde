/* task_distance: how far a recorded space is from a search, by the names of the devices alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session/task_distance.h"

/* Names as drivers and tuners write them, older ones without the maker. */
static const char *const nvidia[] = {"NVIDIA H200", "NVIDIA A100-PCIE-40GB", "GeForce GTX TITAN X",
                                     "Tesla V100-PCIE-16GB", "NVIDIA H200, recorded"};
static const char *const amd[] = {"AMD Radeon PRO W6600", "Radeon RX 7900 XTX",
                                  "AMD Instinct MI250X"};
static const char *const unknown[] = {"", "gfx90a", "host"};

enum { NVIDIA = sizeof nvidia / sizeof *nvidia, AMD = sizeof amd / sizeof *amd, UNKNOWN = 3 };

static void another_maker_is_farther(void **state) {
    (void)state;
    const double near = task_recorded_distance(nvidia[0], nvidia[1]);
    assert_true(near > 0);
    for (int i = 0; i < NVIDIA; i++) {
        for (int j = 0; j < NVIDIA; j++)
            assert_true(task_recorded_distance(nvidia[i], nvidia[j]) == near);
        for (int j = 0; j < AMD; j++) {
            assert_true(task_recorded_distance(nvidia[i], amd[j]) > near);
            assert_true(task_recorded_distance(nvidia[i], amd[j]) ==
                        task_recorded_distance(amd[j], nvidia[i]));
        }
    }
    for (int i = 0; i < AMD; i++)
        for (int j = 0; j < AMD; j++)
            assert_true(task_recorded_distance(amd[i], amd[j]) == near);
}

static void a_name_that_says_nothing_is_not_held_against_a_space(void **state) {
    (void)state;
    const double near = task_recorded_distance(nvidia[0], nvidia[1]);
    for (int i = 0; i < UNKNOWN; i++) {
        for (int j = 0; j < UNKNOWN; j++)
            assert_true(task_recorded_distance(unknown[i], unknown[j]) == near);
        assert_true(task_recorded_distance(unknown[i], amd[0]) == near);
        assert_true(task_recorded_distance(nvidia[0], unknown[i]) == near);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_maker_is_farther),
        cmocka_unit_test(a_name_that_says_nothing_is_not_held_against_a_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
