/* Fits of synthetic data with known effects must find these effects. */
#include "analysis/gene_importance.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs these first. */
#include <cmocka.h>

#include "base/random.h"

enum { GENES = 5, VALUES = 4 };

struct landscape {
    double cost[GENES][VALUES]; /* of log latency */
    double together;            /* of value 1 of gene 0 with value 2 of gene 1 */
    double noise;
};

static void start(struct run_data *run, struct goal_view *goal, int trials) {
    static char *names[] = {"A", "B", "C", "D", "E"};
    static char *values[] = {"1", "2", "4", "8"};
    *run = (struct run_data){.goal_count = 1, .goals = goal, .genes.count = GENES};
    *goal = (struct goal_view){.first = -1};
    for (int g = 0; g < GENES; g++) {
        run->genes.columns[g] = (struct gene_column){.name = names[g], .count = VALUES};
        memcpy(run->genes.columns[g].values, values, sizeof values);
    }
    run->rows = calloc((size_t)trials, sizeof *run->rows);
}

/* Later trials choose good values more and more often, and genes 2 and 3 mostly together, as in
   a search: the mean of a value says little. */
static void search(struct run_data *run, const struct landscape *landscape, int trials,
                   struct random *random) {
    for (int i = 0; i < trials; i++) {
        struct trial_row *row = &run->rows[run->count++];
        double log_us = 2;
        *row = (struct trial_row){.number = i};
        for (int g = 0; g < GENES; g++) {
            int value = (int)random_below(random, VALUES);
            int other = (int)random_below(random, VALUES);
            bool better = landscape->cost[g][other] < landscape->cost[g][value];
            if (better && random_uniform(random) * trials < i)
                value = other;
            if (g == 3 && random_uniform(random) < 0.6)
                value = row->genes[2];
            row->genes[g] = (uint8_t)value;
            log_us += landscape->cost[g][value];
        }
        log_us += row->genes[0] == 1 && row->genes[1] == 2 ? landscape->together : 0;
        double noise = -6;
        for (int k = 0; k < 12; k++)
            noise += random_uniform(random);
        row->score_us = exp(log_us + landscape->noise * noise);
        run->goals[0].valid++;
    }
}

static void draw(struct landscape *landscape, struct random *random) {
    for (int g = 0; g < GENES; g++)
        for (int v = 0; v < VALUES; v++)
            landscape->cost[g][v] = 0.4 * (random_uniform(random) - 0.5);
}

/* Checks differences between two values of a gene, which do not depend on what was sampled. */
static void intervals_hold_what_is_true(void **state) {
    (void)state;
    int held = 0, asked = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct run_data run;
        struct goal_view goal;
        struct landscape landscape = {.noise = 0.02};
        struct random random;
        random_seed(&random, seed, 0);
        draw(&landscape, &random);
        start(&run, &goal, 600);
        search(&run, &landscape, 600, &random);
        struct gene_importance *importance = gene_importance_new(&run, 0);
        assert_non_null(importance);
        assert_false(importance->alone);
        assert_int_equal(importance->fitted_count, GENES);
        assert_true(importance->explained > 0.9);
        for (int g = 0; g < GENES; g++) {
            const struct gene_cost *it = &importance->genes[g];
            double truth = expm1(landscape.cost[g][it->worst] - landscape.cost[g][it->best]);
            held += it->spread.low <= truth && truth <= it->spread.high;
            asked++;
            assert_true(it->spread.low <= it->spread.cost && it->spread.cost <= it->spread.high);
            /* Rarely wide: 600 trials should give narrow intervals. */
            assert_true(it->spread.high - it->spread.low < 0.2);
        }
        gene_importance_free(importance);
        free(run.rows);
    }
    assert_true(held >= 0.95 * asked);
}

/* A value that two trials had, both by luck very fast, is not the best of its gene. */
static void few_trials_name_no_best_value(void **state) {
    (void)state;
    struct run_data run;
    struct goal_view goal;
    struct landscape landscape = {.cost[0] = {0.2, 0, 0.1, 0.3}, .noise = 0.02};
    struct random random;
    random_seed(&random, 8, 0);
    start(&run, &goal, 600);
    search(&run, &landscape, 600, &random);
    for (int i = 0; i < run.count; i++)
        if (run.rows[i].genes[0] == 3)
            run.rows[i].genes[0] = 0;
    for (int i = 0; i < 2; i++) {
        run.rows[i].genes[0] = 3;
        run.rows[i].score_us = 0.5;
    }
    struct gene_importance *importance = gene_importance_new(&run, 0);
    assert_int_equal(importance->genes[0].best, 1);
    assert_int_equal(importance->genes[0].values[3].count, 2);
    gene_importance_free(importance);
    free(run.rows);
}

static void a_pair_is_found_and_no_other(void **state) {
    (void)state;
    int others = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct run_data run;
        struct goal_view goal;
        struct landscape landscape = {.noise = 0.02, .together = seed % 2 ? -0.2 : 0.2};
        struct random random;
        random_seed(&random, 100 + seed, 0);
        start(&run, &goal, 2000);
        search(&run, &landscape, 2000, &random);
        struct gene_importance *importance = gene_importance_new(&run, 0);
        assert_true(importance->pair_count >= 1);
        const struct pair_cost *pair = &importance->pairs[0];
        assert_int_equal(pair->genes[0], 0);
        assert_int_equal(pair->genes[1], 1);
        assert_int_equal(pair->values[0], 1);
        assert_int_equal(pair->values[1], 2);
        assert_true((pair->cost.cost < 0) == (landscape.together < 0));
        others += importance->pair_count - 1;
        gene_importance_free(importance);
        free(run.rows);
    }
    /* One set of intervals in a hundred may miss. */
    assert_true(others <= 2);
}

static void pure_noise_has_no_pairs(void **state) {
    (void)state;
    int pairs = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct run_data run;
        struct goal_view goal;
        struct landscape landscape = {.noise = 0.05};
        struct random random;
        random_seed(&random, 1000 + seed, 0);
        draw(&landscape, &random);
        start(&run, &goal, 500);
        search(&run, &landscape, 500, &random);
        struct gene_importance *importance = gene_importance_new(&run, 0);
        pairs += importance->pair_count > 0;
        gene_importance_free(importance);
        free(run.rows);
    }
    assert_true(pairs <= 4);
}

static void few_trials_are_not_fitted_together(void **state) {
    (void)state;
    struct run_data run;
    struct goal_view goal;
    struct landscape landscape = {.noise = 0.02, .cost[1] = {0, 0.5, 0.5, 0.5}};
    struct random random;
    random_seed(&random, 3, 0);
    start(&run, &goal, 30);
    search(&run, &landscape, 30, &random);
    struct gene_importance *importance = gene_importance_new(&run, 0);
    assert_non_null(importance);
    assert_true(importance->alone);
    assert_int_equal(importance->pair_count, 0);
    assert_int_equal(importance->order[0], 1);
    gene_importance_free(importance);
    run.count = goal.valid = 10;
    assert_null(gene_importance_new(&run, 0));
    free(run.rows);
}

static void equal_latencies_say_nothing(void **state) {
    (void)state;
    struct run_data run;
    struct goal_view goal;
    struct landscape landscape = {.noise = 0};
    struct random random;
    random_seed(&random, 3, 0);
    start(&run, &goal, 100);
    search(&run, &landscape, 100, &random);
    for (int i = 0; i < run.count; i++)
        run.rows[i].score_us = 5;
    assert_null(gene_importance_new(&run, 0));
    free(run.rows);
}

/* Failed trials are counted at their values; values that were never tried have no count. */
static void what_was_not_judged_did_not_fail(void **state) {
    (void)state;
    enum { TRIALS = 300 };
    struct run_data run;
    struct goal_view goal;
    struct landscape landscape = {.noise = 0.02};
    struct random random;
    int failed = 0;
    random_seed(&random, 5, 0);
    draw(&landscape, &random);
    start(&run, &goal, TRIALS);
    search(&run, &landscape, TRIALS, &random);
    for (int i = 0; i < TRIALS; i += 3) {
        run.rows[i].verdict = i % 2 ? VERDICT_FILTERED : i % 4 ? VERDICT_LOST : VERDICT_WRONG;
        run.rows[i].score_us = NAN;
        run.goals[0].valid--;
        failed += run.rows[i].verdict == VERDICT_WRONG;
    }
    struct gene_importance *importance = gene_importance_new(&run, 0);
    assert_non_null(importance);
    for (int g = 0; g < GENES; g++) {
        int counted = 0;
        for (int v = 0; v < VALUES; v++)
            counted += importance->genes[g].values[v].failed;
        assert_int_equal(counted, failed);
    }
    gene_importance_free(importance);
    free(run.rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_hold_what_is_true),
        cmocka_unit_test(few_trials_name_no_best_value),
        cmocka_unit_test(a_pair_is_found_and_no_other),
        cmocka_unit_test(pure_noise_has_no_pairs),
        cmocka_unit_test(few_trials_are_not_fitted_together),
        cmocka_unit_test(equal_latencies_say_nothing),
        cmocka_unit_test(what_was_not_judged_did_not_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
