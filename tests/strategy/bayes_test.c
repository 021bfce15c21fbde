/* The default strategy leaves a basin that its model has understood. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "strategy/strategy.h"

enum { SIDE = 16, GENES = 3, TRIALS = 360, SEEDS = 6 };

static struct space *grid(void) {
    static const char *const names[GENES] = {"X", "Y", "Z"};
    struct space *space = space_new();
    struct error error = {0};
    int64_t values[SIDE];
    for (int i = 0; i < SIDE; i++)
        values[i] = i;
    for (int g = 0; g < GENES; g++)
        space_add_integers(space, names[g], "", values, SIDE, 0, NULL, &error);
    assert_int_equal(space_seal(space, &error), 0);
    return space;
}

/* A smooth bowl, and on its slope one genome that is twice as fast; its neighbours show nothing of
   it. */
static double latency_us(const struct genome *genome) {
    static const int bottom[GENES] = {3, 4, 3}, isolated[GENES] = {5, 6, 3};
    double us = 10;
    int away = 0;
    for (int g = 0; g < GENES; g++) {
        double step = genome->value[g] - bottom[g];
        us += 0.05 * step * step;
        away += genome->value[g] != isolated[g];
    }
    return away == 0 ? 5 : us;
}

static double best_us(const struct space *space, uint64_t seed) {
    struct evolution_settings settings = evolution_defaults();
    struct error error = {0};
    struct evolution *evolution = evolution_new(space, &settings, seed, 0, &error);
    assert_non_null(evolution);
    for (int trial = 0; trial < TRIALS; trial++) {
        struct proposal proposal;
        assert_int_equal(evolution_ask(evolution, &proposal), 1);
        evolution_tell(evolution, trial, &proposal.genome, VERDICT_OK,
                       latency_us(&proposal.genome));
    }
    double us = evolution_champion(evolution)->score_us;
    evolution_free(evolution);
    return us;
}

/* Without exploration turns expected improvement scatters over the whole space, and 3 of 8 seeds
   find the isolated optimum; with them all 8 did when this was written. */
static void finds_an_isolated_optimum(void **state) {
    (void)state;
    struct space *space = grid();
    int found = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        found += best_us(space, seed) == 5;
    print_message("%d of %d seeds found it\n", found, SEEDS);
    assert_in_range(found, SEEDS - 1, SEEDS);
    space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_an_isolated_optimum)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
