/* How predictions agree with measurements (predictions.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "run/predictions.h"

#include <math.h>

enum { PAIRS = 60, DRAWS = 1000 };

static double normal(struct random *random) {
    return sqrt(-2 * log(1 - random_uniform(random))) * cos(2 * acos(-1) * random_uniform(random));
}

/* Pairs of a correlation; Spearman's is 6 / pi * asin(rho / 2) for normal numbers. */
static struct agreement draw_agreement(struct random *random, double rho) {
    struct prediction_pair pairs[PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        const double measured = normal(random);
        const double predicted = rho * measured + sqrt(1 - rho * rho) * normal(random);
        pairs[i] = (struct prediction_pair){exp(predicted), exp(measured)};
    }
    return agreement_compute(pairs, PAIRS);
}

static void intervals_cover(void **unused) {
    (void)unused;
    static const double rhos[] = {0.3, 0.8, 0.95};
    struct random random;
    random_seed(&random, 9, 0);
    for (size_t r = 0; r < sizeof rhos / sizeof *rhos; r++) {
        const double rank = 6 / acos(-1) * asin(rhos[r] / 2);
        int covered = 0;
        for (int i = 0; i < DRAWS; i++) {
            const struct agreement agreement = draw_agreement(&random, rhos[r]);
            assert_true(agreement.rank_low < agreement.rank_correlation &&
                        agreement.rank_correlation < agreement.rank_high);
            covered += agreement.rank_low <= rank && rank <= agreement.rank_high;
        }
        assert_in_range(covered, (int)(0.975 * DRAWS), (int)(0.998 * DRAWS));
    }
}

static void few_pairs_have_no_interval(void **unused) {
    (void)unused;
    struct prediction_pair pairs[] = {{1, 1}, {2, 3}, {3, 2}, {4, 4}, {5, 5}};
    const struct agreement three = agreement_compute(pairs, 3), all = agreement_compute(pairs, 5);
    assert_true(isnan(three.rank_low) && isnan(three.rank_high));
    assert_true(all.rank_low < all.rank_correlation && all.rank_high < 1);
    struct prediction_pair same[] = {{1, 1}, {2, 2}, {3, 3}, {4, 4}};
    const struct agreement perfect = agreement_compute(same, 4);
    assert_true(perfect.rank_low == 1 && perfect.rank_high == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_cover),
        cmocka_unit_test(few_pairs_have_no_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
