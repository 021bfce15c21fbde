/* The fewest kernels that are fast enough everywhere. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/random.h"
#include "dispatch/cover.h"

enum { KERNELS = 8, CASES = 24 };

/* Times with misfits of every kind. */
static void draw_times(struct random *random, int kernels, int cases, double misfits, double *us) {
    static const double none[] = {NAN, 0, -1, INFINITY};
    for (int i = 0; i < kernels * cases; i++)
        us[i] = random_uniform(random) < misfits ? none[random_below(random, 4)]
                                                 : 1 + 0.1 * random_uniform(random);
}

static bool serves(const struct kernel_times *times, int c, uint64_t kernels, double within) {
    for (int k = 0; k < times->kernel_count; k++)
        if ((kernels >> k & 1) != 0 && kernel_times_ratio(times, c, k) <= 1 + within)
            return true;
    return false;
}

static bool covers(const struct kernel_times *times, uint64_t kernels, double within) {
    for (int c = 0; c < times->case_count; c++)
        if (kernel_times_fastest(times, c) >= 0 && !serves(times, c, kernels, within))
            return false;
    return true;
}

static int fewest(const struct kernel_times *times, double within) {
    int least = times->kernel_count;
    for (uint64_t set = 0; set < UINT64_C(1) << times->kernel_count; set++)
        if (__builtin_popcountll(set) < least && covers(times, set, within))
            least = __builtin_popcountll(set);
    return least;
}

static uint64_t cover_set(const struct cover *cover) {
    uint64_t set = 0;
    for (int i = 0; i < cover->count; i++) {
        assert_true(i == 0 || cover->kernels[i] > cover->kernels[i - 1]);
        set |= UINT64_C(1) << cover->kernels[i];
    }
    return set;
}

static void fewest_as_by_brute_force(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 26, 1);
    for (int round = 0; round < 300; round++) {
        double us[KERNELS * CASES];
        const int kernels = 1 + (int)random_below(&random, KERNELS);
        const int cases = (int)random_below(&random, CASES + 1);
        const double within = 0.05 * random_uniform(&random);
        draw_times(&random, kernels, cases, round % 3 * 0.4, us);
        const struct kernel_times times = {kernels, cases, us};
        struct cover cover;
        int unserved = 0;
        cover_find(&times, within, &cover);
        for (int c = 0; c < cases; c++)
            unserved += kernel_times_fastest(&times, c) < 0;
        assert_true(cover.exact);
        assert_true(covers(&times, cover_set(&cover), within));
        assert_int_equal(cover.count, fewest(&times, within));
        assert_int_equal(cover.unserved, unserved);
    }
}

/* With a most number of kernels the fraction is the least with which so few are enough. */
static void at_most_so_many(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 26, 2);
    for (int round = 0; round < 200; round++) {
        double us[KERNELS * CASES];
        const int most = 1 + (int)random_below(&random, 4);
        draw_times(&random, KERNELS, CASES, round % 2 * 0.3, us);
        const struct kernel_times times = {KERNELS, CASES, us};
        struct cover cover;
        const double within = cover_find_at_most(&times, 0.01, most, &cover);
        const int least = fewest(&times, 1e9); /* that every fraction needs */
        assert_true(covers(&times, cover_set(&cover), within));
        assert_true(cover.count <= (most > least ? most : least));
        if (within > 0.01)
            assert_true(fewest(&times, within - 1e-9) > (most > least ? most : least));
    }
}

/* Where greedy takes three: it begins with the kernel that serves most. */
static void fewer_than_greedy(void **state) {
    (void)state;
    const double us[] = {1, 9, 1, 1, 9, 1, 1, 9, 9, 9, 1, 1, 9, 1, 1, 9, 1, 9};
    const struct kernel_times times = {3, 6, us};
    struct cover cover;
    cover_find(&times, 0, &cover);
    assert_int_equal(cover.count, 2);
    assert_int_equal(cover.kernels[0], 0);
    assert_int_equal(cover.kernels[1], 1);
}

/* Of many kernels and cases the answer comes soon, and is a cover, exact or not. */
static void large_sets_end(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 26, 3);
    static double us[DISPATCH_KERNELS_MAX * 400];
    draw_times(&random, DISPATCH_KERNELS_MAX, 400, 0.5, us);
    const struct kernel_times times = {DISPATCH_KERNELS_MAX, 400, us};
    struct cover cover;
    cover_find(&times, 0.01, &cover);
    assert_true(covers(&times, cover_set(&cover), 0.01));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fewest_as_by_brute_force),
        cmocka_unit_test(at_most_so_many),
        cmocka_unit_test(fewer_than_greedy),
        cmocka_unit_test(large_sets_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
