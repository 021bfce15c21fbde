/* Forests of times, and the times that they smooth. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "dispatch/forest.h"
#include "dispatch/smooth.h"
#include "dispatch/tree.h"

enum { KERNELS = 4, INPUTS = 3, CASES = 60, FURTHER = 200, FRESH = 400 };

static const char *const names[INPUTS] = {"S", "B", "FLAG"};
static const int64_t maxima[INPUTS] = {4096, 64, 1};
static const struct tree_inputs inputs = {INPUTS, names, maxima};

/* Times that follow from a shape, but for noise: kernel 0 has little to start, kernel 1 is fast
   where there is much to do, kernel 2 needs a large batch, kernel 3 is for one value of the flag
   alone. */
struct world {
    double start, slope, batch, noise;
};

static struct world draw_world(struct random *random, double noise) {
    return (struct world){4 + 8 * random_uniform(random), 2 + 2 * random_uniform(random),
                          8 + 24 * random_uniform(random), noise};
}

static void draw_shape(struct random *random, int64_t *values) {
    values[0] = 1 + (int64_t)random_below(random, 1 + random_below(random, 4096));
    values[1] = 1 + (int64_t)random_below(random, 64);
    values[2] = (int64_t)random_below(random, 2);
}

static double noise_of(const struct world *world, struct random *random) {
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += random_uniform(random) - 0.5;
    return 1 + world->noise * sum;
}

static void time_shape(const struct world *world, const int64_t *values, struct random *random,
                       double *us) {
    const double work = (double)(values[0] * values[1]) / 4096;
    us[0] = 2 + world->slope * work;
    us[1] = world->start + work;
    us[2] = 3 + work * (1 + world->batch / (double)values[1]);
    us[3] = values[2] == 1 ? world->start / 2 + work : NAN;
    for (int k = 0; k < KERNELS; k++)
        us[k] *= noise_of(world, random);
}

struct measured {
    int64_t values[CASES * INPUTS], further[FURTHER * INPUTS];
    double us[CASES * KERNELS];
    bool searched[CASES];
    struct kernel_times times;
};

static void draw_measured(const struct world *world, struct random *random, int cases,
                          struct measured *measured) {
    for (int c = 0; c < cases; c++) {
        draw_shape(random, &measured->values[c * INPUTS]);
        time_shape(world, &measured->values[c * INPUTS], random, &measured->us[c * KERNELS]);
        measured->searched[c] = c % 8 == 0;
    }
    for (int f = 0; f < FURTHER; f++)
        draw_shape(random, &measured->further[f * INPUTS]);
    measured->times = (struct kernel_times){KERNELS, cases, measured->us};
}

/* ---- forests ---- */

/* Predictions are ratios: 1 for the fastest of those that fit, and no more than the largest loss
   that a forest knows. What never fits a region is not predicted to fit there. The same seed gives
   the same forest. */
static void predictions_are_ratios(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 26, 31);
    for (int round = 0; round < 20; round++) {
        struct measured measured;
        const struct world world = draw_world(&random, 0.02);
        draw_measured(&world, &random, CASES, &measured);
        struct forest *forest = forest_fit(&inputs, measured.values, &measured.times, 7);
        struct forest *same = forest_fit(&inputs, measured.values, &measured.times, 7);
        for (int i = 0; i < FURTHER; i++) {
            double ratios[KERNELS], again[KERNELS], least = INFINITY;
            const int64_t *values = &measured.further[i * INPUTS];
            forest_predict(forest, values, ratios);
            forest_predict(same, values, again);
            assert_memory_equal(ratios, again, sizeof ratios);
            for (int k = 0; k < KERNELS; k++) {
                least = fmin(least, ratios[k]);
                assert_true(isnan(ratios[k]) || (ratios[k] >= 1 && ratios[k] < exp(1.5)));
            }
            assert_true(least == 1);
            assert_int_equal(isnan(ratios[3]), values[2] == 0);
            assert_false(isnan(ratios[0]));
        }
        forest_free(forest);
        forest_free(same);
    }
}

/* Of shapes that it has not seen, a forest's choice is nearer to the fastest than that of the
   kernel which is the best in the mean. */
static void predictions_tell_kernels_apart(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 26, 32);
    double of_forest = 0, of_one[KERNELS] = {0};
    for (int round = 0; round < 20; round++) {
        struct measured measured;
        const struct world world = draw_world(&random, 0);
        draw_measured(&world, &random, CASES, &measured);
        struct forest *forest = forest_fit(&inputs, measured.values, &measured.times, 1);
        for (int i = 0; i < FRESH; i++) {
            int64_t values[INPUTS];
            double us[KERNELS], ratios[KERNELS], least = INFINITY;
            draw_shape(&random, values);
            time_shape(&world, values, &random, us);
            forest_predict(forest, values, ratios);
            for (int k = 0; k < KERNELS; k++)
                least = fmin(least, isnan(us[k]) ? INFINITY : us[k]);
            for (int k = 0; k < KERNELS - 1; k++)
                of_one[k] += log(us[k] / least);
            for (int k = 0; k < KERNELS; k++)
                if (ratios[k] == 1) {
                    of_forest += log(us[k] / least);
                    break;
                }
        }
        forest_free(forest);
    }
    for (int k = 0; k < KERNELS - 1; k++)
        assert_true(of_forest < 0.25 * of_one[k]);
}

static void nothing_to_learn_from(void **state) {
    (void)state;
    const int64_t values[2 * INPUTS] = {1, 1, 0, 2, 2, 0};
    const double none[2 * KERNELS] = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    const double one[KERNELS] = {3, 2, NAN, 4};
    assert_null(forest_fit(&inputs, values, &(struct kernel_times){KERNELS, 0, none}, 1));
    assert_null(forest_fit(&inputs, values, &(struct kernel_times){KERNELS, 2, none}, 1));
    struct forest *forest = forest_fit(&inputs, values, &(struct kernel_times){KERNELS, 1, one}, 1);
    double ratios[KERNELS];
    forest_predict(forest, (int64_t[]){4096, 64, 1}, ratios);
    assert_true(ratios[1] == 1 && isnan(ratios[2]));
    assert_true(fabs(ratios[0] - 1.5) < 1e-12 && fabs(ratios[3] - 2) < 1e-12);
    forest_free(forest);
}

/* Values may be further apart than an int64_t holds: an input in no product may be negative. */
static void values_far_apart(void **state) {
    (void)state;
    static const char *const wide_names[] = {"WIDE"};
    static const int64_t wide_maxima[] = {1};
    const struct tree_inputs wide = {1, wide_names, wide_maxima};
    int64_t values[16];
    double us[32], ratios[2];
    for (int c = 0; c < 16; c++) {
        values[c] = c % 2 == 0 ? INT64_MIN + c : INT64_MAX - c;
        us[2 * c] = c % 2 == 0 ? 1 : 2;
        us[2 * c + 1] = c % 2 == 0 ? 2 : 1;
    }
    struct forest *forest = forest_fit(&wide, values, &(struct kernel_times){2, 16, us}, 1);
    forest_predict(forest, (int64_t[]){INT64_MIN / 2}, ratios);
    assert_true(ratios[0] == 1 && ratios[1] > 1.5);
    forest_predict(forest, (int64_t[]){INT64_MAX / 2}, ratios);
    assert_true(ratios[1] == 1 && ratios[0] > 1.5);
    forest_free(forest);
}

/* ---- smoothed times ---- */

/* Cases keep their times, once, or SMOOTH_WEIGHT times if they were searched; no row is of a case
   that no kernel fits. */
static void rows_of_cases(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 26, 33);
    for (int round = 0; round < 30; round++) {
        struct measured measured;
        int64_t *values;
        const int cases = round % 3 == 0 ? (int)random_below(&random, 3) : CASES;
        const struct world world = draw_world(&random, 0.1);
        draw_measured(&world, &random, cases, &measured);
        for (int c = 0; c < cases; c++)
            for (int k = 0; k < KERNELS; k++)
                if (round % 2 == 1 && (random_below(&random, 3) == 0 || c == 5))
                    measured.us[c * KERNELS + k] = NAN;
        const struct smoothing smoothing = {&inputs,           measured.values, measured.times,
                                            measured.searched, FURTHER,         measured.further,
                                            (uint64_t)round};
        const struct kernel_times rows = smooth_times(&smoothing, &values);
        int row = 0;
        for (int c = 0; c < cases; c++) {
            if (kernel_times_fastest(&measured.times, c) < 0)
                continue;
            for (int i = 0; i < (measured.searched[c] ? SMOOTH_WEIGHT : 1); i++, row++) {
                assert_memory_equal(&values[row * INPUTS], &measured.values[c * INPUTS],
                                    sizeof(int64_t[INPUTS]));
                assert_memory_equal(&rows.us[row * KERNELS], &measured.us[c * KERNELS],
                                    sizeof(double[KERNELS]));
            }
        }
        assert_int_equal(rows.case_count, row > 0 ? row + FURTHER : 0);
        if (row > 0)
            assert_memory_equal(&values[row * INPUTS], measured.further, sizeof measured.further);
        free((double *)rows.us);
        free(values);
    }
}

static double tree_regret(const struct tree *tree, const struct world *world,
                          struct random random) {
    double sum = 0;
    for (int i = 0; i < FRESH; i++) {
        int64_t values[INPUTS];
        double us[KERNELS];
        draw_shape(&random, values);
        time_shape(world, values, &random, us);
        const struct kernel_times times = {KERNELS, 1, us};
        sum += log(kernel_times_ratio(&times, 0, tree_choose(tree, values, &times, 0)));
    }
    return sum / FRESH;
}

/* At shapes that fitted nothing, a tree of smoothed times has less regret than one of the times
   themselves, and at the cases that were searched half of it at most. */
static void smoothing_lowers_the_regret(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 26, 34);
    double plain_regret = 0, smooth_regret = 0, plain_searched = 0, smooth_searched = 0;
    for (int round = 0; round < 30; round++) {
        struct measured measured;
        struct tree plain, smooth;
        int64_t *values;
        const struct world world = draw_world(&random, 0.1);
        draw_measured(&world, &random, CASES, &measured);
        struct world quiet = world;
        quiet.noise = 0;
        const struct smoothing smoothing = {&inputs,           measured.values, measured.times,
                                            measured.searched, FURTHER,         measured.further,
                                            (uint64_t)round};
        const struct kernel_times rows = smooth_times(&smoothing, &values);
        tree_fit(&plain, &inputs, measured.values, &measured.times,
                 &(struct tree_limits){.depth = 8, .leaf_cases = 2, .within = 0.03});
        tree_fit(&smooth, &inputs, values, &rows,
                 &(struct tree_limits){.depth = 8, .leaf_cases = SMOOTH_LEAF_ROWS, .within = 0.03});
        plain_regret += tree_regret(&plain, &quiet, random);
        smooth_regret += tree_regret(&smooth, &quiet, random);
        for (int c = 0; c < CASES; c++) {
            if (!measured.searched[c])
                continue;
            const int64_t *of = &measured.values[c * INPUTS];
            plain_searched += log(kernel_times_ratio(&measured.times, c,
                                                     tree_choose(&plain, of, &measured.times, c)));
            smooth_searched += log(kernel_times_ratio(
                &measured.times, c, tree_choose(&smooth, of, &measured.times, c)));
        }
        tree_release(&plain);
        tree_release(&smooth);
        free((double *)rows.us);
        free(values);
    }
    print_message(
        "regret at other shapes %.3f %%, of the plain tree %.3f; at searched cases %.3f %%, %.3f\n",
        100 * smooth_regret / 30, 100 * plain_regret / 30, 100 * smooth_searched / 240,
        100 * plain_searched / 240);
    assert_true(smooth_regret < 0.9 * plain_regret);
    assert_true(smooth_searched < 0.5 * plain_searched);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_are_ratios), cmocka_unit_test(predictions_tell_kernels_apart),
        cmocka_unit_test(nothing_to_learn_from),  cmocka_unit_test(values_far_apart),
        cmocka_unit_test(rows_of_cases),          cmocka_unit_test(smoothing_lowers_the_regret),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
