/* prefilter: the limit is what it says of what was noted, and of nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "cmd/prefilter.h"

#include <math.h>

enum { MOST = 300 };

static double uniform_us(struct random *random) {
    return 1 + 20 * random_uniform(random);
}

static void a_share_lies_beyond_the_limit(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 71, 0);
    for (int round = 0; round < 100; round++) {
        struct prefilter prefilter = {.share = 0.05 + 0.9 * random_uniform(&random)};
        double noted[MOST];
        for (int count = 0; count < MOST; count++) {
            double limit = prefilter_limit(&prefilter);
            int beyond = 0;
            for (int i = 0; i < count; i++)
                beyond += noted[i] > limit;
            if (count < PREFILTER_LEAST)
                assert_true(isinf(limit));
            else
                assert_int_equal(beyond, (int)floor(prefilter.share * count + 1e-9));
            noted[count] = uniform_us(&random);
            prefilter_note(&prefilter, noted[count]);
        }
        prefilter_release(&prefilter);
    }
}

static void the_order_does_not_matter(void **state) {
    (void)state;
    struct random random;
    struct prefilter up = {.share = 0.5}, down = {.share = 0.5}, none = {0};
    double noted[MOST];
    random_seed(&random, 72, 0);
    for (int i = 0; i < MOST; i++)
        noted[i] = floor(uniform_us(&random)); /* many are equal */
    for (int i = 0; i < MOST; i++) {
        prefilter_note(&up, noted[i]);
        prefilter_note(&down, noted[MOST - 1 - i]);
        prefilter_note(&none, noted[i]);
    }
    assert_true(prefilter_limit(&up) == prefilter_limit(&down));
    assert_true(isinf(prefilter_limit(&none)));
    prefilter_release(&up);
    prefilter_release(&down);
    prefilter_release(&none);
    assert_true(isinf(prefilter_limit(&up)) && up.share == 0.5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_share_lies_beyond_the_limit),
        cmocka_unit_test(the_order_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
