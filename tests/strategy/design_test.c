#include "base/error.h"
#include "strategy/design.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MOST = 16, STARTS = 12 };

/* X and Y: the multiples of 16 up to 256. */
static struct space *square(const char *constraint) {
    struct space *space = space_new();
    struct error error = {0};
    int64_t values[MOST];
    for (int i = 0; i < MOST; i++)
        values[i] = 16 * (i + 1);
    assert_true(space_add_integers(space, "X", "", values, MOST, 0, NULL, &error) >= 0);
    assert_true(space_add_integers(space, "Y", "", values, MOST, 0, NULL, &error) >= 0);
    if (constraint != NULL)
        assert_int_equal(space_add_constraint(space, constraint, "", &error), 0);
    assert_int_equal(space_seal(space, &error), 0);
    return space;
}

static bool is_power_of_two(int64_t value) {
    return value > 0 && (value & (value - 1)) == 0;
}

/* Takes STARTS genomes, checks that all are valid and distinct, and counts those whose values
   are all powers of two. */
static int count_round(const struct space *space, uint64_t seed) {
    struct design *design = design_new(space, seed, 0);
    struct genome genomes[STARTS];
    int round = 0;
    for (int i = 0; i < STARTS; i++) {
        assert_true(design_next(design, &genomes[i]));
        assert_true(space_check(space, &genomes[i], NULL));
        for (int j = 0; j < i; j++)
            assert_false(genome_equal(&genomes[i], &genomes[j]));
        round += is_power_of_two(space->genes[0].values[genomes[i].value[0]]) &&
                 is_power_of_two(space->genes[1].values[genomes[i].value[1]]);
        design_add(design, &genomes[i]);
    }
    design_free(design);
    return round;
}

static void powers_of_two_come_first(void **state) {
    (void)state;
    struct space *space = square(NULL);
    for (uint64_t seed = 0; seed < 10; seed++)
        assert_int_equal(count_round(space, seed), STARTS);
    space_free(space);
}

/* Falls back to other genomes if no power-of-two genome is valid. */
static void what_is_not_round_serves_too(void **state) {
    (void)state;
    struct space *space = square("X % 32 != 0 && Y % 32 != 0 && X != 16 && Y != 16");
    for (uint64_t seed = 0; seed < 10; seed++)
        assert_int_equal(count_round(space, seed), 0);
    space_free(space);
}

static void the_seed_decides(void **state) {
    (void)state;
    struct space *space = square("X * Y <= 8192");
    struct design *designs[2] = {design_new(space, 7, 1), design_new(space, 7, 1)};
    for (int i = 0; i < STARTS; i++) {
        struct genome genomes[2];
        for (int j = 0; j < 2; j++) {
            assert_true(design_next(designs[j], &genomes[j]));
            design_add(designs[j], &genomes[j]);
        }
        assert_true(genome_equal(&genomes[0], &genomes[1]));
    }
    for (int j = 0; j < 2; j++)
        design_free(designs[j]);
    space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_of_two_come_first),
        cmocka_unit_test(what_is_not_round_serves_too),
        cmocka_unit_test(the_seed_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
