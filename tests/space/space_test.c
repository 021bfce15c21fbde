#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "space/random_space.h"

/* Like an attention template: conditions, derived quantities, labels, two cases. */
static struct space *example(void) {
    static const int64_t tiles[] = {16, 32, 64, 128}, stages[] = {1, 2, 3}, splits[] = {1, 2, 4, 8};
    static const char *const swizzles[] = {"none", "xor", "pad"}, *const accumulators[] = {"f32",
                                                                                           "f16"};
    struct space *space = space_new();
    struct error error = {0};
    assert_int_equal(space_add_dimension(space, "S", &error), 0);
    assert_int_equal(space_add_dimension(space, "SMEM", &error), 1);
    assert_int_equal(space_add_integers(space, "BLOCK_M", "rows", tiles, 4, 2, NULL, &error), 0);
    assert_int_equal(space_add_integers(space, "BLOCK_N", "columns", tiles, 4, 2, NULL, &error), 1);
    assert_int_equal(space_add_integers(space, "STAGES", "", stages, 3, 0, NULL, &error), 2);
    assert_int_equal(space_add_labels(space, "SWIZZLE", "", swizzles, 3, 0, "STAGES > 1", &error),
                     3);
    assert_int_equal(space_add_labels(space, "ACC", "", accumulators, 2, 0, NULL, &error), 4);
    assert_int_equal(space_add_integers(space, "SPLITS", "", splits, 4, 0, NULL, &error), 5);
    assert_true(
        space_add_derived(space, "BYTES",
                          "(BLOCK_M + 2 * STAGES * BLOCK_N) * (SWIZZLE == pad ? 72 : 64) * 2",
                          &error) >= 0);
    assert_int_equal(
        space_add_constraint(space, "BYTES <= SMEM", "shared memory is limited", &error), 0);
    assert_int_equal(
        space_add_constraint(space, "SPLITS * BLOCK_N <= S", "a split needs a block", &error), 1);
    assert_int_equal(space_add_environment(space, "S=512", (int64_t[]){512, 49152}, &error), 0);
    assert_int_equal(space_add_environment(space, "S=128", (int64_t[]){128, 49152}, &error), 1);
    if (space_seal(space, &error) < 0)
        fail_msg("%s", error.text);
    return space;
}

static void names_the_failing_constraint(void **state) {
    (void)state;
    struct space *space = example();
    struct genome genome;
    struct error error = {0};
    struct problem problem;
    assert_int_equal(genome_parse(&genome, space, "BLOCK_N=128,STAGES=3", &error), 0);
    assert_false(space_check(space, &genome, &problem));
    assert_int_equal(problem.constraint, 0);
    assert_int_equal(problem.environment, 0);
    assert_string_equal(problem.text,
                        "S=512: 'BYTES <= SMEM' does not hold: shared memory is limited");
    assert_int_equal(genome_parse(&genome, space, "SPLITS=4", &error), 0);
    assert_false(space_check(space, &genome, &problem));
    assert_int_equal(problem.constraint, 1);
    assert_int_equal(problem.environment, 1);
    assert_string_equal(problem.text,
                        "S=128: 'SPLITS * BLOCK_N <= S' does not hold: a split needs a block");
    assert_int_equal(genome_parse(&genome, space, "", &error), 0);
    assert_true(space_check(space, &genome, &problem));
    space_free(space);
}

static void gives_values(void **state) {
    (void)state;
    struct space *space = example();
    struct genome genome;
    struct error error = {0};
    int64_t values[SLOTS_MAX];
    char text[NAME_SIZE];
    assert_int_equal(
        genome_parse(&genome, space, "STAGES=2,SWIZZLE=pad,ACC=f16,BLOCK_N=32", &error), 0);
    assert_int_equal(space_values(space, &genome, 1, values, &error), 0);
    assert_int_equal(values[symbol_table_find(&space->symbols, "S")], 128);
    assert_int_equal(values[symbol_table_find(&space->symbols, "BYTES")],
                     (64 + 2 * 2 * 32) * 72 * 2);
    assert_int_equal(values[symbol_table_find(&space->symbols, "SWIZZLE")],
                     symbol_table_find_label(&space->symbols, "pad"));
    assert_string_equal(space_value_text(space, 3, genome.value[3], text), "pad");
    assert_string_equal(space_value_text(space, 1, genome.value[1], text), "32");
    space_free(space);
}

static void underivable_is_invalid(void **state) {
    (void)state;
    struct space *space = space_new();
    struct error error = {0};
    struct problem problem;
    int64_t values[SLOTS_MAX];
    space_add_integers(space, "X", "", (int64_t[]){0, 1, 2}, 3, 0, NULL, &error);
    assert_true(space_add_derived(space, "HALF", "2 / X", &error) >= 0);
    assert_true(space_add_derived(space, "NEXT", "HALF + 1", &error) >= 0);
    space_add_integers(space, "Y", "", (int64_t[]){0, 1}, 2, 0, "NEXT < 3", &error);
    assert_int_equal(space_seal(space, &error), 0);
    struct genome genome = genome_default(space);
    assert_false(space_check(space, &genome, &problem));
    assert_int_equal(problem.constraint, -1);
    assert_string_equal(problem.text, "HALF: division by zero at column 3 of '2 / X'");
    assert_int_equal(space_values(space, &genome, 0, values, &error), -1);
    assert_false(space_active(space, &genome, 1));
    genome.value[0] = 2;
    assert_true(space_active(space, &genome, 1));
    uint64_t count;
    assert_true(space_count(space, 0, &count));
    assert_int_equal(count, 3); /* X=1, and X=2 with either Y */
    space_free(space);
}

static void building_errors(void **state) {
    (void)state;
    struct error error = {0};
    const int64_t falling[] = {2, 1}, equal[] = {1, 1}, one[] = {1};
    const char *const twice[] = {"a", "a"}, *const comma[] = {"a,b"}, *const same_name[] = {"S"};
    struct space *space;
#define REFUSES(call, words)                                                                       \
    do {                                                                                           \
        space = space_new();                                                                       \
        assert_int_equal(space_add_dimension(space, "S", &error), 0);                              \
        assert_int_equal(call, -1);                                                                \
        if (strstr(error.text, words) == NULL)                                                     \
            fail_msg("'%s' is not in: %s", words, error.text);                                     \
        space_free(space);                                                                         \
    } while (0)
    REFUSES(space_add_integers(space, "G", "", falling, 2, 0, NULL, &error), "ascending");
    REFUSES(space_add_integers(space, "G", "", equal, 2, 0, NULL, &error), "ascending");
    REFUSES(space_add_integers(space, "G", "", one, 0, 0, NULL, &error), "0 values");
    REFUSES(space_add_integers(space, "G", "", one, 1, 1, NULL, &error), "default");
    REFUSES(space_add_integers(space, "S", "", one, 1, 0, NULL, &error), "declared twice");
    REFUSES(space_add_integers(space, "G", "", one, 1, 0, "G > 1", &error), "unknown name 'G'");
    REFUSES(space_add_labels(space, "G", "", twice, 2, 0, NULL, &error), "twice");
    REFUSES(space_add_labels(space, "G", "", comma, 1, 0, NULL, &error), "comma");
    REFUSES(space_add_labels(space, "G", "", same_name, 1, 0, NULL, &error), "already declared");
    REFUSES(space_add_derived(space, "D", "S +", &error), "column 4");
    REFUSES(space_add_derived(space, "S", "1", &error), "declared twice");
    REFUSES(space_add_constraint(space, "T > 1", "", &error), "the nearest is 'S'");
    REFUSES(space_seal(space, &error), "no gene");
    REFUSES(
        (space_add_integers(space, "G", "", one, 1, 0, NULL, &error), space_seal(space, &error)),
        "no case");
    REFUSES((space_add_derived(space, "D", "S + 1", &error),
             space_add_integers(space, "G", "", one, 1, 0, "D > 2", &error),
             space_add_environment(space, "S=1", (int64_t[]){1}, &error),
             space_add_environment(space, "S=2", (int64_t[]){2}, &error),
             space_seal(space, &error)),
            "depends on S, which differs between cases");
}

static void counts_and_walks_as_brute_force(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 11, 0);
    int empty = 0;
    for (int i = 0; i < 2000; i++) {
        struct space *space = random_space(&random);
        struct genome raw = {0}, genome;
        uint64_t expected = 0, count;
        do {
            bool valid = brute_force_valid(space, &raw);
            struct genome canonical = raw;
            genome_canonicalise(&canonical, space);
            expected += valid;
            if (valid)
                assert_true(genome_equal(&canonical, &raw));
            if (genome_equal(&canonical, &raw)) {
                struct problem problem = {0};
                assert_int_equal(space_check(space, &raw, &problem), valid);
                assert_int_equal(space_failures(space, &raw, NULL) == 0, valid);
                assert_true(valid || strlen(problem.text) > 0);
            }
        } while (next_raw(space, &raw));
        assert_true(space_count(space, 0, &count));
        assert_int_equal(count, expected);

        struct space_cursor *cursor = space_cursor_new(space);
        struct genome *all = calloc(expected + 1, sizeof *all);
        uint64_t walked = 0;
        while (space_cursor_next(cursor, &genome)) {
            assert_true(walked < expected);
            assert_true(brute_force_valid(space, &genome));
            for (uint64_t j = 0; j < walked; j++)
                assert_false(genome_equal(&all[j], &genome));
            all[walked++] = genome;
        }
        assert_int_equal(walked, expected);
        assert_false(space_cursor_next(cursor, &genome));
        free(all);
        space_cursor_free(cursor);

        struct problem why;
        assert_int_equal(space_is_empty(space, &why), expected == 0);
        assert_int_equal(space_sample(space, &random, &genome), expected > 0);
        empty += expected == 0;
        space_free(space);
    }
    assert_in_range(empty, 50, 1000);
}

static void count_stops(void **state) {
    (void)state;
    struct space *space = example();
    uint64_t some, all;
    assert_false(space_count(space, 20, &some));
    assert_true(space_count(space, 0, &all));
    assert_true(some < all);
    assert_true(space_raw_count(space) == 4 * 4 * 3 * 3 * 2 * 4);
    space_free(space);
}

static void counts_spaces_too_large_to_enumerate(void **state) {
    (void)state;
    struct space *space = space_new();
    struct error error = {0};
    int64_t values[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    char name[NAME_SIZE];
    for (int i = 0; i < 12; i++) {
        snprintf(name, sizeof name, "G%d", i);
        space_add_integers(space, name, "", values, 10, 0, i == 11 ? "G0 > 4" : NULL, &error);
    }
    space_add_constraint(space, "G0 != G7", "", &error);
    assert_int_equal(space_seal(space, &error), 0);
    uint64_t count;
    assert_true(space_count(space, 2000, &count));
    assert_int_equal(count, 9 * UINT64_C(1000000000) * (5 + 5 * 10));
    space_free(space);
}

/* The quantile of chi-square at 0.999, by Wilson and Hilferty. */
static double chi_square_limit(double freedom) {
    double t = 1 - 2 / (9 * freedom) + 3.09 * __builtin_sqrt(2 / (9 * freedom));
    return freedom * t * t * t;
}

static void samples_evenly(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 12, 0);
    int exceeded = 0, spaces = 0;
    while (spaces < 40) {
        struct space *space = random_space(&random);
        uint64_t count;
        space_count(space, 0, &count);
        if (count >= 2 && count <= 200) {
            struct genome *all = calloc(count, sizeof *all), genome;
            double *hits = calloc(count, sizeof *hits), chi_square = 0;
            struct space_cursor *cursor = space_cursor_new(space);
            for (uint64_t i = 0; i < count; i++)
                assert_true(space_cursor_next(cursor, &all[i]));
            for (uint64_t i = 0; i < 50 * count; i++) {
                uint64_t at = 0;
                assert_true(space_sample(space, &random, &genome));
                while (!genome_equal(&all[at], &genome))
                    at++;
                hits[at]++;
            }
            for (uint64_t i = 0; i < count; i++)
                chi_square += (hits[i] - 50) * (hits[i] - 50) / 50;
            exceeded += chi_square > chi_square_limit((double)count - 1);
            spaces++;
            space_cursor_free(cursor);
            free(all);
            free(hits);
        }
        space_free(space);
    }
    assert_in_range(exceeded, 0, 1);
}

/* Four valid genomes among a million: rejection sampling finds none. */
static void samples_rare_genomes(void **state) {
    (void)state;
    struct space *space = space_new();
    struct error error = {0};
    int64_t values[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    char name[NAME_SIZE];
    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "G%d", i);
        space_add_integers(space, name, "", values, 10, 0, NULL, &error);
    }
    space_add_constraint(space, "G0 + G1 + G2 + G3 + G4 == 45 && G5 < 4", "", &error);
    assert_int_equal(space_seal(space, &error), 0);
    struct random random;
    struct genome genome;
    int hits[4] = {0};
    random_seed(&random, 13, 0);
    for (int i = 0; i < 400; i++) {
        assert_true(space_sample(space, &random, &genome));
        assert_true(brute_force_valid(space, &genome));
        hits[genome.value[5]]++;
    }
    for (int i = 0; i < 4; i++)
        assert_in_range(hits[i], 60, 140);
    space_free(space);
}

static void empty_space_says_why(void **state) {
    (void)state;
    struct space *space = space_new();
    struct error error = {0};
    struct problem why;
    struct random random;
    struct genome genome;
    random_seed(&random, 1, 0);
    space_add_integers(space, "X", "", (int64_t[]){1, 2, 3}, 3, 0, NULL, &error);
    space_add_constraint(space, "X > 1", "one is too few", &error);
    space_add_constraint(space, "X > 3", "three is too few", &error);
    assert_int_equal(space_seal(space, &error), 0);
    assert_true(space_is_empty(space, &why));
    assert_int_equal(why.constraint, 1);
    assert_string_equal(why.text, "'X > 3' fails for 1000 of 1000 genomes: three is too few");
    assert_false(space_sample(space, &random, &genome));
    space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_the_failing_constraint),
        cmocka_unit_test(gives_values),
        cmocka_unit_test(underivable_is_invalid),
        cmocka_unit_test(building_errors),
        cmocka_unit_test(counts_and_walks_as_brute_force),
        cmocka_unit_test(count_stops),
        cmocka_unit_test(counts_spaces_too_large_to_enumerate),
        cmocka_unit_test(samples_evenly),
        cmocka_unit_test(samples_rare_genomes),
        cmocka_unit_test(empty_space_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
