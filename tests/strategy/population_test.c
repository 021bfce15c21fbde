#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "strategy/operators.h"
#include "strategy/population.h"

static int offer(struct population *population, int trial, int genome, double score_us) {
    return population_offer(population, &(struct member){trial, {{(uint8_t)genome}}, score_us});
}

static void keeps_the_best_in_order(void **state) {
    (void)state;
    struct population population;
    population_init(&population, 3);
    assert_int_equal(offer(&population, 1, 1, 5), 0);
    assert_int_equal(offer(&population, 2, 2, 7), 1);
    assert_int_equal(offer(&population, 3, 3, 6), 1);
    assert_int_equal(offer(&population, 4, 4, 8), -1); /* worse than the worst */
    assert_int_equal(offer(&population, 5, 5, 7), -1); /* not better */
    assert_int_equal(offer(&population, 6, 1, 1), -1); /* not new */
    assert_int_equal(offer(&population, 7, 7, 5), 1);  /* equal: after the first */
    assert_int_equal(population.count, 3);
    static const int trials[] = {1, 7, 3};
    for (int i = 0; i < 3; i++)
        assert_int_equal(population.members[i].trial, trials[i]);
    assert_int_equal(offer(&population, 8, 2, 4), 0); /* it had left */
    population_release(&population);
}

static void picks_by_rank(void **state) {
    (void)state;
    enum { SIZE = 24, DRAWS = 200000 };
    struct population population;
    struct random random;
    int hits[SIZE] = {0}, pairs[SIZE] = {0};
    const struct member *picked[2];
    population_init(&population, SIZE);
    random_seed(&random, 31, 0);
    assert_null(population_pick(&population, &random));
    offer(&population, 0, 0, 1);
    assert_false(population_pick_two(&population, &random, picked));
    assert_ptr_equal(population_pick(&population, &random), population.members);
    for (int i = 1; i < SIZE; i++)
        offer(&population, i, i, 1 + i);
    for (int i = 0; i < DRAWS; i++) {
        hits[population_pick(&population, &random)->trial]++;
        assert_true(population_pick_two(&population, &random, picked));
        assert_ptr_not_equal(picked[0], picked[1]);
        pairs[picked[0]->trial]++;
        pairs[picked[1]->trial]++;
    }
    double total = 0;
    for (int i = 0; i < SIZE; i++)
        total += 1.0 / (i + 1 + SIZE);
    for (int i = 0; i < SIZE; i++) {
        double expected = DRAWS / (i + 1 + SIZE) / total;
        assert_true(hits[i] > expected * 0.93 && hits[i] < expected * 1.07);
        assert_true(pairs[i] > 0);
    }
    population_release(&population);
}

static void operators_are_found_by_name(void **state) {
    (void)state;
    for (int i = 0; i < OPERATOR_COUNT; i++) {
        assert_non_null(operators[i].about);
        assert_int_equal(operator_parse(operators[i].name, NULL), i);
        assert_int_equal(operators[i].breed != NULL, operators[i].weight > 0);
    }
    assert_int_equal(operator_parse("mutate", NULL), -1);
}

static void operators_are_picked_by_weight(void **state) {
    (void)state;
    struct random random;
    int hits[OPERATOR_COUNT] = {0}, weights = 0;
    random_seed(&random, 32, 0);
    for (int i = 0; i < OPERATOR_COUNT; i++)
        weights += operators[i].weight;
    for (int i = 0; i < 9000; i++) {
        hits[operators_pick(24, &random)]++;
        assert_int_equal(operators[operators_pick(1, &random)].parents, 1);
    }
    for (int i = 0; i < OPERATOR_COUNT; i++) {
        int expected = 9000 * operators[i].weight / weights;
        assert_in_range(hits[i], expected * 9 / 10, expected * 11 / 10);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_the_best_in_order),
        cmocka_unit_test(picks_by_rank),
        cmocka_unit_test(operators_are_found_by_name),
        cmocka_unit_test(operators_are_picked_by_weight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
