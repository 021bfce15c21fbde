#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/random.h"

/* The first numbers that the library's own check prints for seed 42, stream 54
   (test-high/expected/check-pcg64.out). */
static void is_pcg64(void **state) {
    (void)state;
    static const uint64_t expected[] = {0x86b1da1d72062b68, 0x1304aa46c9853d39, 0xa3670e9e0dd50358,
                                        0xf9090e529a7dae00, 0xc85b9fd837996f2c, 0x606121f8e3919196};
    struct random random;
    random_seed(&random, 42, 54);
    for (int i = 0; i < 6; i++)
        assert_int_equal(random_next(&random), expected[i]);
}

static void streams_differ(void **state) {
    (void)state;
    struct random a, b, again;
    random_seed(&a, 7, 0);
    random_seed(&b, 7, 1);
    random_seed(&again, 7, 0);
    int equal = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t next = random_next(&a);
        equal += next == random_next(&b);
        assert_int_equal(next, random_next(&again));
    }
    assert_int_equal(equal, 0);
}

/* A chi-square with 9 degrees of freedom exceeds 27.9 once in 1000 runs. */
static void below_is_even(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 3, 0);
    double counts[10] = {0}, chi_square = 0;
    for (int i = 0; i < 100000; i++)
        counts[random_below(&random, 10)]++;
    for (int i = 0; i < 10; i++)
        chi_square += (counts[i] - 10000) * (counts[i] - 10000) / 10000;
    assert_true(chi_square < 27.9);
}

/* With 3 * 2^62 a plain remainder would return the lower third twice as often. */
static void below_refuses_the_uneven_rest(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 4, 0);
    uint64_t bound = UINT64_C(3) << 62;
    int low = 0;
    for (int i = 0; i < 30000; i++) {
        uint64_t number = random_below(&random, bound);
        assert_true(number < bound);
        low += number < bound / 3;
    }
    assert_in_range(low, 9700, 10300);
    assert_int_equal(random_below(&random, 1), 0);
}

static void uniform_is_in_its_interval(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 5, 0);
    double sum = 0;
    for (int i = 0; i < 100000; i++) {
        double number = random_uniform(&random);
        assert_true(number >= 0 && number < 1);
        sum += number;
    }
    assert_true(sum > 49600 && sum < 50400);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_pcg64),
        cmocka_unit_test(streams_differ),
        cmocka_unit_test(below_is_even),
        cmocka_unit_test(below_refuses_the_uneven_rest),
        cmocka_unit_test(uniform_is_in_its_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
