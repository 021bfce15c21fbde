/* source_mean: how much each source counts, before any result, after a few, and after many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/random.h"
#include "strategy/source_mean.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SOURCES = 3, RESULTS = 60 };

static const double distances[SOURCES] = {0, 1, 3};

struct fixture {
    struct space *space;
    struct surrogate *surrogate;
    double (*source_values)[SOURCES_MAX], *values;
};

/* Random genomes of a space of four genes. All sources give noise; the values of the search follow
   the first one with this slope. */
static struct fixture draw(int results, uint64_t seed, double slope) {
    struct fixture fixture = {.space = space_new(),
                              .source_values = calloc(ROWS_MAX, sizeof *fixture.source_values),
                              .values = calloc(ROWS_MAX, sizeof *fixture.values)};
    const int64_t numbers[] = {1, 2, 4, 8, 16, 32, 64, 128};
    struct random random;
    struct error error = {0};
    char name[NAME_SIZE];
    for (int g = 0; g < 4; g++) {
        snprintf(name, sizeof name, "G%d", g);
        space_add_integers(fixture.space, name, "", numbers, 8, 0, NULL, &error);
    }
    assert_int_equal(space_seal(fixture.space, &error), 0);
    fixture.surrogate = surrogate_new(fixture.space);
    random_seed(&random, seed, 0);
    for (int row = 0; row < results; row++) {
        struct genome genome;
        assert_true(space_sample(fixture.space, &random, &genome));
        assert_true(surrogate_add_row(fixture.surrogate, &genome, 0));
        for (int s = 0; s < SOURCES; s++)
            fixture.source_values[row][s] = 3.4 * (random_uniform(&random) - 0.5);
        fixture.values[row] =
            slope * fixture.source_values[row][0] + 0.3 * (random_uniform(&random) - 0.5);
    }
    return fixture;
}

static void release(struct fixture *fixture) {
    surrogate_free(fixture->surrogate);
    space_free(fixture->space);
    free(fixture->source_values);
    free(fixture->values);
}

static double sum_of(const struct source_mean *mean) {
    double sum = 0;
    for (int s = 0; s < mean->count; s++)
        sum += mean->weights[s];
    return sum;
}

/* The values of sources and of the search have one unit, so the weights add up to 1. */
static void before_any_result_near_sources_count_most(void **state) {
    (void)state;
    struct source_mean mean;
    source_mean_prior(&mean, distances, SOURCES);
    assert_true(fabs(sum_of(&mean) - 1) < 1e-12);
    for (int s = 1; s < SOURCES; s++)
        assert_true(fabs(mean.weights[s] / mean.weights[0] - exp2(distances[0] - distances[s])) <
                    1e-12);
}

/* Results at which the sources say the same prove none of them. */
static void results_that_say_nothing_prove_no_source(void **state) {
    (void)state;
    struct fixture fixture = draw(4, 1, 1);
    struct source_mean mean;
    source_mean_prior(&mean, distances, SOURCES);
    for (int row = 0; row < 4; row++)
        for (int s = 0; s < SOURCES; s++)
            fixture.source_values[row][s] = -1.5;
    source_mean_fit(&mean, fixture.surrogate, fixture.source_values, fixture.values);
    for (int s = 0; s < SOURCES; s++)
        assert_true(mean.weights[s] == 0);
    assert_true(mean.intercept == 0);
    release(&fixture);
}

static void many_results_decide(void **state) {
    (void)state;
    struct source_mean mean;
    struct fixture fixture = draw(RESULTS, 2, 1);
    source_mean_prior(&mean, distances, SOURCES);
    source_mean_fit(&mean, fixture.surrogate, fixture.source_values, fixture.values);
    assert_true(fabs(mean.weights[0] - 1) < 0.1);
    assert_true(mean.weights[1] < 0.1 && mean.weights[2] < 0.1);
    release(&fixture);
    fixture = draw(RESULTS, 2, -1);
    source_mean_fit(&mean, fixture.surrogate, fixture.source_values, fixture.values);
    assert_true(mean.weights[0] == 0);
    release(&fixture);
}

/* The evidence for a source falls with the results that contradict it, be it noise or the opposite
   of the truth. */
static void evidence_follows_the_results(void **state) {
    (void)state;
    static const double slopes[] = {1, 0, -1};
    static const int counts[] = {8, RESULTS};
    double evidence[2][3];
    for (int n = 0; n < 2; n++)
        for (int i = 0; i < 3; i++) {
            struct fixture fixture = draw(counts[n], 3, slopes[i]);
            evidence[n][i] =
                source_mean_evidence(fixture.surrogate, 1, fixture.source_values, fixture.values);
            print_message("slope %+.0f, %d results: evidence %.2f\n", slopes[i], counts[n],
                          evidence[n][i]);
            release(&fixture);
        }
    assert_true(evidence[0][0] > 1 && evidence[1][0] > 4 * evidence[0][0]);
    for (int i = 1; i < 3; i++)
        assert_true(evidence[0][i] < 0 && evidence[1][i] < evidence[0][i] - 0.5);
}

/* Equal values tell nothing, and overflow nothing. */
static void equal_values_are_no_evidence(void **state) {
    (void)state;
    struct fixture fixture = draw(RESULTS, 4, 0);
    for (int row = 0; row < RESULTS; row++)
        fixture.values[row] = 0;
    assert_true(isfinite(
        source_mean_evidence(fixture.surrogate, SOURCES, fixture.source_values, fixture.values)));
    for (int row = 0; row < RESULTS; row++)
        fixture.values[row] = fixture.source_values[row][0] * 1e6;
    assert_true(source_mean_evidence(fixture.surrogate, SOURCES, fixture.source_values,
                                     fixture.values) > 0);
    release(&fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_any_result_near_sources_count_most),
        cmocka_unit_test(results_that_say_nothing_prove_no_source),
        cmocka_unit_test(many_results_decide),
        cmocka_unit_test(evidence_follows_the_results),
        cmocka_unit_test(equal_values_are_no_evidence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
