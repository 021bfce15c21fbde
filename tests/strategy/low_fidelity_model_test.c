/* low_fidelity_model: its predictions for genomes outside its training set, and the gain of a
   search that uses it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/statistics.h"
#include "strategy/evolution.h"
#include "strategy/output_transform.h"
#include "strategy/surrogate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 150, MANY = 3 * ROWS_MAX };

static struct space *tiles(void) {
    static const char *const labels[] = {"none", "xor", "pad"};
    struct space *space = space_new();
    struct error error = {0};
    char name[NAME_SIZE];
    int64_t values[] = {1, 2, 3, 4, 6, 8, 12, 16};
    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "G%d", i);
        space_add_integers(space, name, "", values, 8, 0, NULL, &error);
    }
    space_add_labels(space, "L", "", labels, 3, 0, NULL, &error);
    space_add_constraint(space, "G0 * G1 <= 96", "threads", &error);
    if (space_seal(space, &error) < 0)
        fail_msg("%s", error.text);
    return space;
}

static double predicted_us(const struct genome *genome) {
    static const int best[] = {5, 2, 6, 1, 3, 4};
    double logarithm = genome->value[6] == 1 ? 0 : 0.3;
    for (int i = 0; i < 6; i++)
        logarithm += 0.03 * (1 + i % 3) * abs(genome->value[i] - best[i]);
    return 5 * exp(logarithm);
}

/* Measurements differ by up to 15 % either way from the predictions, as a function of the genes. */
static double measured_us(const struct genome *genome) {
    return predicted_us(genome) *
           exp(0.15 * sin(1.7 * genome->value[0] + genome->value[3] - 2.1 * genome->value[5]));
}

static struct predicted *predict(const struct space *space, int count, uint64_t seed) {
    struct predicted *predicted = calloc((size_t)count, sizeof *predicted);
    struct random random;
    random_seed(&random, seed, 0);
    for (int i = 0; i < count;) {
        struct genome *genome = &predicted[i].genome;
        bool drawn = space_sample(space, &random, genome);
        for (int j = 0; j < i && drawn; j++)
            drawn = !genome_equal(genome, &predicted[j].genome);
        predicted[i].us = predicted_us(genome);
        i += drawn;
    }
    return predicted;
}

static double agreement(const struct space *space, const struct low_fidelity_model *model) {
    enum { ASKED = 300 };
    double values[ASKED], truths[ASKED];
    struct predicted *asked = predict(space, ASKED, 77);
    for (int i = 0; i < ASKED; i++) {
        values[i] = low_fidelity_model_predict(model, &asked[i].genome);
        truths[i] = asked[i].us;
    }
    free(asked);
    return statistics_rank_correlation(values, truths, ASKED);
}

static void squashing_keeps_the_order(void **state) {
    (void)state;
    const double sorted[] = {2, 3, 4, 5, 9, 40, 1000};
    double sum = 0, square = 0, last = -INFINITY;
    struct output_transform transform = output_transform_fit(sorted, 7);
    for (int i = 0; i < 7; i++) {
        double value = output_transform_apply(&transform, sorted[i]);
        assert_true(value > last);
        last = value;
        sum += value;
        square += value * value;
    }
    assert_true(fabs(sum) < 1e-9 && fabs(square - 7) < 1e-6);
    /* A factor among the slower half changes the value less than one among the faster half. */
    assert_true(
        output_transform_apply(&transform, 1000) - output_transform_apply(&transform, 40) <
        2 * (output_transform_apply(&transform, 4) - output_transform_apply(&transform, 2)));
    transform = output_transform_fit(sorted, 1);
    assert_true(isfinite(output_transform_apply(&transform, 2)) &&
                isfinite(output_transform_apply(&transform, 3)));
}

static void unseen_genomes_are_ordered_too(void **state) {
    (void)state;
    struct space *space = tiles();
    static const int counts[] = {1, 40, DRAWS, MANY};
    double before = -1;
    for (int i = 0; i < 4; i++) {
        struct predicted *predicted = predict(space, counts[i], 5);
        struct low_fidelity_model *model = low_fidelity_model_new(space, predicted, counts[i]);
        struct low_fidelity_model *again = low_fidelity_model_new(space, predicted, counts[i]);
        double now = counts[i] > 1 ? agreement(space, model) : 0;
        assert_true(now >= before - 0.02);
        assert_true(low_fidelity_model_predict(model, &predicted[0].genome) ==
                    low_fidelity_model_predict(again, &predicted[0].genome));
        before = now;
        low_fidelity_model_free(model);
        low_fidelity_model_free(again);
        free(predicted);
    }
    assert_true(before > 0.97);
    space_free(space);
}

/* Trials until a score within 5 % of `good_us`. */
static int trials_to(const struct space *space, const struct predicted *predicted, int count,
                     uint64_t seed, double good_us) {
    enum { MOST = 100 };
    struct evolution_settings settings = evolution_defaults();
    struct error error = {0};
    struct proposal proposal;
    settings.predicted = predicted;
    settings.predicted_count = count;
    struct evolution *evolution = evolution_new(space, &settings, seed, 0, &error);
    assert_non_null(evolution);
    int trial = 0;
    double best_us = INFINITY;
    while (trial < MOST && best_us > 1.05 * good_us && evolution_ask(evolution, &proposal)) {
        double us = measured_us(&proposal.genome);
        evolution_tell(evolution, trial++, &proposal.genome, VERDICT_OK, us);
        best_us = fmin(best_us, us);
    }
    evolution_free(evolution);
    return trial;
}

static void predictions_save_trials(void **state) {
    (void)state;
    enum { SEEDS = 5 };
    struct space *space = tiles();
    struct space_cursor *cursor = space_cursor_new(space);
    struct genome genome;
    double least_us = INFINITY;
    int with = 0, without = 0;
    while (space_cursor_next(cursor, &genome))
        least_us = fmin(least_us, measured_us(&genome));
    space_cursor_free(cursor);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct predicted *predicted = predict(space, DRAWS, seed);
        with += trials_to(space, predicted, DRAWS, seed, least_us);
        without += trials_to(space, NULL, 0, seed, least_us);
        free(predicted);
    }
    print_message("trials to within 5 %%: %.1f with predictions, %.1f without\n",
                  (double)with / SEEDS, (double)without / SEEDS);
    assert_true(2 * with < without);
    space_free(space);
}

/* With any number of open asks, the first proposals have fast predictions and are distinct. */
static void what_is_asked_blindly_is_forecast_to_be_fast(void **state) {
    (void)state;
    enum { OPEN = 24 };
    struct space *space = tiles();
    struct predicted *predicted = predict(space, DRAWS, 9);
    struct evolution_settings settings = evolution_defaults();
    struct error error = {0};
    struct proposal proposal;
    double us[DRAWS], asked_us[OPEN];
    settings.predicted = predicted;
    settings.predicted_count = DRAWS;
    settings.no_default = true;
    struct evolution *evolution = evolution_new(space, &settings, 3, 0, &error);
    for (int i = 0; i < OPEN; i++) {
        assert_int_equal(evolution_ask(evolution, &proposal), 1);
        asked_us[i] = predicted_us(&proposal.genome);
    }
    for (int i = 0; i < DRAWS; i++)
        us[i] = predicted[i].us;
    print_message("asked %.2f, drawn %.2f\n", statistics_median(asked_us, OPEN),
                  statistics_median(us, DRAWS));
    assert_true(statistics_median(asked_us, OPEN) < statistics_median(us, DRAWS) - 1);
    evolution_free(evolution);
    free(predicted);
    space_free(space);
}

/* Directly after the first sixteen asks come the design points of a search without predictions;
   a resumed search asks them too. */
static void a_search_looks_round_behind_forecasts(void **state) {
    (void)state;
    enum { QUESTIONS = 30, FROM = 16, TO = 22, CUT = 19 };
    struct space *space = tiles();
    struct predicted *predicted = predict(space, DRAWS, 13);
    struct evolution_settings settings = evolution_defaults();
    struct error error = {0};
    struct genome asked[QUESTIONS];
    settings.predicted = predicted;
    settings.predicted_count = DRAWS;
    settings.no_default = true;
    for (int resumed = 0; resumed < 2; resumed++) {
        struct evolution *evolution = evolution_new(space, &settings, 4, 0, &error);
        int first = resumed ? CUT : 0;
        for (int i = 0; i < first; i++)
            evolution_tell(evolution, i, &asked[i], VERDICT_OK, measured_us(&asked[i]));
        for (int i = first; i < QUESTIONS; i++) {
            struct proposal proposal;
            assert_int_equal(evolution_ask(evolution, &proposal), 1);
            assert_int_equal(proposal.made_by,
                             i >= FROM && i < TO ? OPERATOR_START : OPERATOR_MODEL);
            assert_true(!resumed || genome_equal(&asked[i], &proposal.genome));
            asked[i] = proposal.genome;
            evolution_tell(evolution, i, &asked[i], VERDICT_OK, measured_us(&asked[i]));
        }
        evolution_free(evolution);
    }
    free(predicted);
    space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squashing_keeps_the_order),
        cmocka_unit_test(unseen_genomes_are_ordered_too),
        cmocka_unit_test(predictions_save_trials),
        cmocka_unit_test(what_is_asked_blindly_is_forecast_to_be_fast),
        cmocka_unit_test(a_search_looks_round_behind_forecasts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
