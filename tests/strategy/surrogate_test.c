#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/random.h"
#include "space/random_space.h"
#include "strategy/candidate_pool.h"
#include "strategy/likelihood.h"
#include "strategy/surrogate.h"

#include <math.h>
#include <string.h>

enum { COUNT = 60 };

static struct space *tiles(void) {
    static const char *const labels[] = {"none", "xor", "pad"};
    struct space *space = space_new();
    struct error error = {0};
    int64_t multiples[16], powers[] = {1, 2, 4, 8, 16}, few[] = {1, 2, 3};
    for (int i = 0; i < 16; i++)
        multiples[i] = 16 * (i + 1);
    space_add_integers(space, "X", "", multiples, 16, 0, NULL, &error);
    space_add_integers(space, "Y", "", powers, 5, 0, NULL, &error);
    space_add_integers(space, "Z", "", few, 3, 0, NULL, &error);
    space_add_labels(space, "L", "", labels, 3, 0, NULL, &error);
    space_add_constraint(space, "X * Y <= 1024", "threads", &error);
    if (space_seal(space, &error) < 0)
        fail_msg("%s", error.text);
    return space;
}

static double value_of(const struct genome *genome) {
    return sin(0.3 * genome->value[0]) + 0.2 * genome->value[1] + (genome->value[3] == 1);
}

static void draw(const struct space *space, struct random *random, struct genome *genomes,
                 double *values, int count) {
    for (int i = 0; i < count; i++) {
        bool new = false;
        while (!new) {
            assert_true(space_sample(space, random, &genomes[i]));
            new = true;
            for (int j = 0; j < i; j++)
                new = new && !genome_equal(&genomes[i], &genomes[j]);
        }
        values[i] = value_of(&genomes[i]);
    }
}

/* The coordinate that a feature gives to the genome with these values of X and Y. */
static float coordinate(const struct features *features, int feature, int x, int y) {
    const struct genome genome = {.value = {(uint8_t)x, (uint8_t)y}};
    float points[FEATURES_MAX];
    features_locate(features, &genome, points, 1);
    return points[feature];
}

static void features_are_positions_ratios_twos_and_products(void **state) {
    (void)state;
    enum { POSITION, LOGARITHM, TWOS, Y, Z, LABEL, PRODUCT, FEATURES };
    struct space *space = tiles();
    struct features features;
    features_init(&features, space);
    assert_int_equal(features.count, FEATURES); /* positions of powers of two are logarithms */
    for (int f = 0; f < features.count; f++) {
        float least = INFINITY, most = -INFINITY;
        for (int x = 0; x < 16; x++)
            for (int y = 0; y < 5; y++) {
                least = fminf(least, coordinate(&features, f, x, y));
                most = fmaxf(most, coordinate(&features, f, x, y));
            }
        assert_true(features.rows[f].label == (f == LABEL));
        assert_true(least == 0 && most == (f == Z || f == LABEL ? 0 : 1));
    }
    assert_float_equal(coordinate(&features, LOGARITHM, 1, 0), 0.25, 1e-6); /* 32 of 16 to 256 */
    assert_float_equal(coordinate(&features, LOGARITHM, 7, 0), 0.75, 1e-6); /* 128 */
    assert_float_equal(coordinate(&features, POSITION, 3, 0), 0.2, 1e-6);
    assert_true(coordinate(&features, TWOS, 0, 0) == coordinate(&features, TWOS, 2, 0)); /* 48 */
    assert_true(coordinate(&features, TWOS, 0, 0) < coordinate(&features, TWOS, 1, 0));
    assert_float_equal(coordinate(&features, PRODUCT, 3, 0), coordinate(&features, PRODUCT, 0, 2),
                       1e-6); /* 64 * 1 and 16 * 4 */
    assert_true(coordinate(&features, PRODUCT, 2, 1) > coordinate(&features, PRODUCT, 0, 2));
    features_release(&features);
    space_free(space);
}

/* Genes whose values have no logarithms, and more genes than are paired. */
static void features_stay_finite_and_few(void **state) {
    (void)state;
    struct space *space = space_new();
    struct error error = {0};
    struct features features;
    static const int64_t signed_values[] = {-2, 0, 3, 8, 9}, one[] = {7};
    static const int64_t sizes[] = {1, 3, 5, 9, 10};
    space_add_integers(space, "SIGNED", "", signed_values, 5, 0, NULL, &error);
    space_add_integers(space, "ONE", "", one, 1, 0, NULL, &error);
    for (int i = 0; i < 20; i++) {
        char name[8];
        snprintf(name, sizeof name, "G%d", i);
        space_add_integers(space, name, "", sizes, i % 2 == 0 ? 4 : 5, 0, NULL, &error);
    }
    if (space_seal(space, &error) < 0)
        fail_msg("%s", error.text);
    features_init(&features, space);
    int products = 0;
    for (int f = 0; f < features.count; f++)
        for (int t = 0; t < features.rows[f].gene_count; t++) {
            int gene = features.rows[f].genes[t];
            products += t;
            assert_true(features.rows[f].gene_count == 1 || space->genes[gene].count == 5);
            for (int i = 0; i < space->genes[gene].count; i++)
                assert_true(isfinite(features.rows[f].positions[t][i]));
        }
    assert_int_equal(products, PAIRED_GENES_MAX * (PAIRED_GENES_MAX - 1) / 2);
    assert_true(features.count <= FEATURES_MAX);
    features_release(&features);
    space_free(space);
}

/* No gene varies, so that there is no feature. */
static void predicts_the_only_genome(void **state) {
    (void)state;
    static const int64_t one[] = {7};
    struct space *space = space_new();
    struct error error = {0};
    space_add_integers(space, "ONE", "", one, 1, 0, NULL, &error);
    assert_int_equal(space_seal(space, &error), 0);
    const struct genome genomes[2] = {0};
    const double values[2] = {1, 1}, exact[2] = {0};
    struct surrogate *surrogate = surrogate_new(space);
    surrogate_fit(surrogate, genomes, values, exact, 2);
    assert_true(surrogate_add_row(surrogate, genomes, 0));
    assert_true(surrogate_add_candidate(surrogate, genomes));
    surrogate_condition(surrogate, values);
    assert_float_equal(surrogate_means(surrogate)[0], 1, 0.1);
    surrogate_free(surrogate);
    space_free(space);
}

static void gradients_are_those_of_the_cost(void **state) {
    (void)state;
    struct space *space = tiles();
    struct random random;
    struct features features;
    struct genome genomes[COUNT];
    double values[COUNT], noises[COUNT], parameters[FEATURES_MAX + 1], gradient[FEATURES_MAX + 1];
    double ignored[FEATURES_MAX + 1];
    random_seed(&random, 52, 0);
    features_init(&features, space);
    struct likelihood_prior prior;
    likelihood_prior_init(&prior, &features);
    draw(space, &random, genomes, values, COUNT);
    for (int i = 0; i < COUNT; i++)
        noises[i] = i % 3 == 0 ? 0 : 0.2 * random_uniform(&random);
    for (int round = 0; round < 5; round++) {
        likelihood_start(&features, &prior, parameters);
        for (int p = 0; p <= features.count; p++)
            parameters[p] += random_uniform(&random) - 0.5;
        likelihood_cost(&features, &prior, genomes, values, noises, COUNT, 2, parameters, gradient);
        for (int p = 0; p <= features.count; p++) {
            const double h = 1e-2; /* the covariance is computed in floats */
            double at = parameters[p];
            parameters[p] = at + h;
            double above = likelihood_cost(&features, &prior, genomes, values, noises, COUNT, 2,
                                           parameters, ignored);
            parameters[p] = at - h;
            double below = likelihood_cost(&features, &prior, genomes, values, noises, COUNT, 2,
                                           parameters, ignored);
            parameters[p] = at;
            assert_float_equal(gradient[p], (above - below) / (2 * h),
                               0.02 * fmax(1, fabs(gradient[p])));
        }
    }
    double before =
        likelihood_cost(&features, &prior, genomes, values, noises, COUNT, 2, parameters, ignored);
    assert_true(likelihood_fit(&features, &prior, genomes, values, noises, COUNT, 2, parameters) >
                0);
    assert_true(likelihood_cost(&features, &prior, genomes, values, noises, COUNT, 2, parameters,
                                ignored) < before);
    features_release(&features);
    space_free(space);
}

/* A third of the values is held out and predicted. */
static void predicts_unobserved_genomes(void **state) {
    (void)state;
    enum { OBSERVED = 2 * COUNT / 3 };
    struct space *space = tiles();
    struct random random;
    struct genome genomes[COUNT];
    const double exact[COUNT] = {0};
    double values[COUNT], off = 0, spread = 0;
    random_seed(&random, 53, 0);
    draw(space, &random, genomes, values, COUNT);
    for (int i = 0; i < COUNT; i++)
        values[i] -= 0.8;
    struct surrogate *surrogate = surrogate_new(space);
    surrogate_fit(surrogate, genomes, values, exact, OBSERVED);
    for (int i = 0; i < OBSERVED; i++)
        assert_true(surrogate_add_row(surrogate, &genomes[i], 0));
    for (int i = 0; i < COUNT; i++)
        assert_true(surrogate_add_candidate(surrogate, &genomes[i]));
    surrogate_condition(surrogate, values);
    const float *means = surrogate_means(surrogate), *variances = surrogate_variances(surrogate);
    for (int i = 0; i < COUNT; i++) {
        assert_true(variances[i] > 0);
        if (i < OBSERVED)
            assert_float_equal(means[i], values[i], 0.1);
        else {
            assert_float_equal(means[i], values[i], 5 * sqrt(variances[i]));
            off += (means[i] - values[i]) * (means[i] - values[i]);
            spread += values[i] * values[i];
        }
    }
    assert_true(off < 0.1 * spread);
    surrogate_free(surrogate);
    space_free(space);
}

/* Predictions are bit-identical in whichever order rows and candidates are added. */
static void growing_is_as_good_as_building(void **state) {
    (void)state;
    struct space *space = tiles();
    struct random random;
    struct genome genomes[COUNT];
    double values[COUNT];
    float means[COUNT], variances[COUNT];
    random_seed(&random, 54, 0);
    draw(space, &random, genomes, values, COUNT);
    for (int order = 0; order < 3; order++) {
        struct surrogate *surrogate = surrogate_new(space);
        for (int i = 0; i < COUNT; i++) {
            if (order != 1)
                surrogate_add_row(surrogate, &genomes[i], 0.01 * i);
            surrogate_add_candidate(surrogate, &genomes[COUNT - 1 - i]);
            if (order == 2 && i % 7 == 0)
                surrogate_condition(surrogate, values);
        }
        for (int i = 0; i < COUNT && order == 1; i++)
            surrogate_add_row(surrogate, &genomes[i], 0.01 * i);
        surrogate_condition(surrogate, values);
        if (order == 0) {
            memcpy(means, surrogate_means(surrogate), sizeof means);
            memcpy(variances, surrogate_variances(surrogate), sizeof variances);
        }
        assert_memory_equal(means, surrogate_means(surrogate), sizeof means);
        assert_memory_equal(variances, surrogate_variances(surrogate), sizeof variances);
        surrogate_free(surrogate);
    }
    space_free(space);
}

/* A row without a value changes no mean but reduces the variance nearby. */
static void a_believer_changes_its_doubts_alone(void **state) {
    (void)state;
    enum { OBSERVED = COUNT / 2 };
    struct space *space = tiles();
    struct random random;
    struct genome genomes[COUNT];
    double values[COUNT];
    float means[COUNT], variances[COUNT];
    random_seed(&random, 55, 0);
    draw(space, &random, genomes, values, COUNT);
    struct surrogate *surrogate = surrogate_new(space);
    for (int i = 0; i < COUNT; i++) {
        surrogate_add_candidate(surrogate, &genomes[i]);
        if (i < OBSERVED)
            surrogate_add_row(surrogate, &genomes[i], 0);
    }
    surrogate_condition(surrogate, values);
    memcpy(means, surrogate_means(surrogate), sizeof means);
    memcpy(variances, surrogate_variances(surrogate), sizeof variances);
    surrogate_add_row(surrogate, &genomes[COUNT - 1], 0);
    values[OBSERVED] = NAN;
    surrogate_condition(surrogate, values);
    assert_memory_equal(means, surrogate_means(surrogate), sizeof means);
    for (int i = 0; i < COUNT; i++)
        assert_true(surrogate_variances(surrogate)[i] <= variances[i]);
    assert_true(surrogate_variances(surrogate)[COUNT - 1] < 0.2f * variances[COUNT - 1]);
    surrogate_free(surrogate);
    space_free(space);
}

/* The prediction for genome `odd`, given these values, where `odd` has its own noise and all
   others another one; INFINITY: `odd` is left out. */
static double guess_with(const struct space *space, const struct genome *genomes,
                         const double *values, int odd, double noise, double noise_of_others) {
    struct surrogate *surrogate = surrogate_new(space);
    double observed[COUNT], guess;
    int rows = 0, row = -1;
    for (int i = 0; i < COUNT; i++) {
        if (i == odd && isinf(noise))
            continue;
        surrogate_add_row(surrogate, &genomes[i], i == odd ? noise : noise_of_others);
        row = i == odd ? rows : row;
        observed[rows++] = values[i];
    }
    surrogate_condition(surrogate, observed);
    guess = surrogate_predict(surrogate, &genomes[odd]);
    if (row >= 0 && noise == 0)
        assert_true(surrogate_denoise(surrogate, row, values[odd]) == values[odd]);
    else if (row >= 0) { /* between its measured value and the prediction of the others */
        double settled = surrogate_denoise(surrogate, row, values[odd]);
        assert_true(fabs(settled - guess) < fabs(values[odd] - guess));
        assert_true((settled - guess) * (values[odd] - guess) > 0);
    }
    surrogate_free(surrogate);
    return guess;
}

/* An outlier influences the prediction less the noisier it is, down to nothing, and more the
   noisier the others are: an exact value among noisy ones is predicted exactly. */
static void what_is_hardly_known_weighs_less(void **state) {
    (void)state;
    enum { ROUNDS = 20 };
    static const double noises[] = {0, 0.01, 0.1, 1, 10, 1e9};
    struct space *space = tiles();
    struct random random;
    random_seed(&random, 57, 0);
    for (int round = 0; round < ROUNDS; round++) {
        struct genome genomes[COUNT];
        double values[COUNT], before = INFINITY;
        draw(space, &random, genomes, values, COUNT);
        int odd = below(&random, COUNT);
        values[odd] += 5;
        double without = guess_with(space, genomes, values, odd, INFINITY, 0);
        for (size_t i = 0; i < sizeof noises / sizeof *noises; i++) {
            double pull = guess_with(space, genomes, values, odd, noises[i], 0) - without;
            assert_true(pull > 0 && pull < before);
            before = pull;
            assert_true(noises[i] == 0 ||
                        guess_with(space, genomes, values, odd, noises[i], noises[i]) -
                                guess_with(space, genomes, values, odd, INFINITY, noises[i]) >
                            pull);
        }
        assert_true(before < 1e-6);
        assert_float_equal(guess_with(space, genomes, values, odd, 0, 10), values[odd], 0.2);
    }
    space_free(space);
}

/* Rows without noise of their own differ by their values, known exactly; a genome that is no row
   differs by its prediction, and less surely the farther it is. */
static void two_genomes_are_compared(void **state) {
    (void)state;
    struct space *space = tiles();
    struct surrogate *surrogate = surrogate_new(space);
    struct genome genomes[COUNT + 20];
    double values[COUNT + 20], zeros[COUNT] = {0};
    struct random random;
    random_seed(&random, 21, 0);
    draw(space, &random, genomes, values, COUNT + 20);
    surrogate_fit(surrogate, genomes, values, zeros, COUNT);
    for (int i = 0; i < COUNT; i++)
        surrogate_add_row(surrogate, &genomes[i], 0);
    surrogate_condition(surrogate, values);
    double square = 0, unsure = 0;
    for (int i = 1; i < COUNT; i++) {
        const struct surrogate_difference difference =
            surrogate_compare(surrogate, &genomes[0], &genomes[i]);
        const struct surrogate_difference back =
            surrogate_compare(surrogate, &genomes[i], &genomes[0]);
        assert_true(difference.measured);
        assert_true(fabs(difference.mean - (values[i] - values[0])) < 1e-3);
        assert_true(fabs(difference.mean + back.mean) < 1e-3);
        assert_true(fabs(difference.from - values[0]) < 1e-3);
        assert_true(difference.deviation < 0.01);
    }
    for (int i = COUNT; i < COUNT + 20; i++) {
        const struct surrogate_difference difference =
            surrogate_compare(surrogate, &genomes[0], &genomes[i]);
        assert_false(difference.measured);
        assert_true(fabs(difference.from + difference.mean -
                         surrogate_predict(surrogate, &genomes[i])) < 1e-3);
        square += pow((difference.mean - values[i] + values[0]) / difference.deviation, 2) / 20;
        unsure += difference.deviation / 20;
        assert_true(surrogate_compare(surrogate, &genomes[i], &genomes[i]).deviation < 1e-3);
    }
    assert_true(square < 4 && unsure > 0.005);
    surrogate_free(surrogate);
    space_free(space);
}

/* A row's deviate is that of a prediction by the other rows. */
static void rows_are_left_out(void **state) {
    (void)state;
    struct space *space = tiles();
    struct surrogate *surrogate = surrogate_new(space);
    struct genome genomes[COUNT];
    double values[COUNT], deviates[COUNT], square = 0;
    struct random random;
    random_seed(&random, 22, 0);
    draw(space, &random, genomes, values, COUNT);
    for (int i = 0; i < COUNT; i++)
        surrogate_add_row(surrogate, &genomes[i], 0.01);
    surrogate_condition(surrogate, values);
    surrogate_leave_one_out(surrogate, deviates);
    for (int i = 0; i < COUNT; i++)
        square += deviates[i] * deviates[i] / COUNT;
    for (int out = 0; out < COUNT; out += 7) {
        double others[COUNT];
        int count = 0;
        surrogate_clear(surrogate);
        for (int i = 0; i < COUNT; i++)
            if (i != out) {
                surrogate_add_row(surrogate, &genomes[i], 0.01);
                others[count++] = values[i];
            }
        surrogate_add_candidate(surrogate, &genomes[out]);
        surrogate_condition(surrogate, others);
        const double error = values[out] - surrogate_means(surrogate)[0];
        const double deviate = error / sqrt(surrogate_variances(surrogate)[0]);
        /* The signal variance is estimated without the row, too. */
        assert_true(deviates[out] / deviate > 0.6 && deviates[out] / deviate < 1.6);
    }
    assert_true(square > 0.2 && square < 4);
    surrogate_free(surrogate);
    space_free(space);
}

static void broods_are_valid_and_without_twins(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 56, 0);
    for (int i = 0; i < 100; i++) {
        struct space *space = i == 0 ? tiles() : random_space(&random);
        struct genome elites[3];
        uint64_t count;
        space_count(space, 0, &count);
        struct candidate_pool *pool = candidate_pool_new(space);
        if (count > 0) {
            for (int j = 0; j < 3; j++)
                space_sample(space, &random, &elites[j]);
            const struct uniform_draws draws = {.first = 1};
            candidate_pool_refill(pool, &random, &draws, elites, 3);
            candidate_pool_add_neighbours(pool, &elites[0]);
        }
        assert_true(candidate_pool_count(pool) <= CANDIDATE_POOL_MAX);
        if (count <= CANDIDATE_POOL_WHOLE)
            assert_int_equal(candidate_pool_count(pool), count);
        for (int j = 0; j < candidate_pool_count(pool); j++)
            assert_true(brute_force_valid(space, candidate_pool_genome(pool, j)));
        for (int j = 0; j < 50 && candidate_pool_count(pool) > 1; j++) {
            int one = below(&random, candidate_pool_count(pool)),
                other = below(&random, candidate_pool_count(pool));
            assert_int_equal(one == other, genome_equal(candidate_pool_genome(pool, one),
                                                        candidate_pool_genome(pool, other)));
        }
        candidate_pool_free(pool);
        space_free(space);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_are_positions_ratios_twos_and_products),
        cmocka_unit_test(features_stay_finite_and_few),
        cmocka_unit_test(predicts_the_only_genome),
        cmocka_unit_test(gradients_are_those_of_the_cost),
        cmocka_unit_test(predicts_unobserved_genomes),
        cmocka_unit_test(growing_is_as_good_as_building),
        cmocka_unit_test(a_believer_changes_its_doubts_alone),
        cmocka_unit_test(what_is_hardly_known_weighs_less),
        cmocka_unit_test(two_genomes_are_compared),
        cmocka_unit_test(rows_are_left_out),
        cmocka_unit_test(broods_are_valid_and_without_twins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
