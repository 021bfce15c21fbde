/* kept_profiles: where the reports of a run's trials are, and which there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "run/kept_profiles.h"

static void reports_are_listed_by_trial(void **state) {
    (void)state;
    static const char *const others[] = {"profiles/12.part.ncu-rep", "profiles/x.ncu-rep",
                                         "profiles/-3.ncu-rep",      "profiles/07.ncu-rep",
                                         "profiles/5.ncu-rep.old",   "profiles/.ncu-rep"};
    static const int64_t wanted[] = {0, 2, 10, 123456789012};
    int64_t trials[KEPT_PROFILES_MAX];
    struct error error = {0};
    char folder[] = "/tmp/evotile-kept-XXXXXX", path[PATH_SIZE];
    assert_non_null(mkdtemp(folder));
    assert_int_equal(kept_profiles_list(folder, trials), 0);
    for (int i = 3; i >= 0; i--) {
        assert_false(kept_profile_exists(folder, wanted[i]));
        assert_int_equal(kept_profile_prepare(folder, wanted[i], path, &error), 0);
        assert_int_equal(path_write_file(path, "x", 1, &error), 0);
        assert_true(kept_profile_exists(folder, wanted[i]));
    }
    assert_non_null(strstr(path, "/profiles/0.ncu-rep"));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_equal(path_join(path, folder, others[i], &error), 0);
        assert_int_equal(path_write_file(path, "x", 1, &error), 0);
    }
    assert_int_equal(kept_profiles_list(folder, trials), 4);
    assert_memory_equal(trials, wanted, sizeof wanted);
    assert_int_equal(path_remove_tree(folder, &error), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reports_are_listed_by_trial)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
