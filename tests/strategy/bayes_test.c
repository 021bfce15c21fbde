/* The default strategy leaves a basin that its model has understood, and asks first what its
   sources agree on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "strategy/source_set.h"
#include "strategy/strategy.h"

enum { SIDE = 16, GENES = 3, TRIALS = 360, SEEDS = 6, DRAWS = 150 };

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

/* A smooth bowl around this genome. */
static double bowl_us(const struct genome *genome, const int bottom[GENES]) {
    double us = 10;
    for (int g = 0; g < GENES; g++) {
        double step = genome->value[g] - bottom[g];
        us += 0.05 * step * step;
    }
    return us;
}

/* A bowl, and on its slope one genome that is twice as fast; its neighbours show nothing of it. */
static double latency_us(const struct genome *genome) {
    static const int bottom[GENES] = {3, 4, 3}, isolated[GENES] = {5, 6, 3};
    int away = 0;
    for (int g = 0; g < GENES; g++)
        away += genome->value[g] != isolated[g];
    return away == 0 ? 5 : bowl_us(genome, bottom);
}

static struct source draw_source(const struct space *space, uint64_t seed,
                                 const int bottom[GENES]) {
    struct source source = {.name = "drawn"};
    struct random random;
    random_seed(&random, seed, 0);
    for (int i = 0; i < DRAWS; i++) {
        struct genome genome;
        assert_true(space_sample(space, &random, &genome));
        source_add_genome(&source, space, &genome, bowl_us(&genome, bottom));
    }
    source_seal(&source);
    return source;
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

/* A trusted source leads to the optimum at once, and expected improvement then scatters over the
   whole space. By then every fourth question is one of exploration: it stays where the bound of the
   confidence is low, near the bottom. With as many trials before them as without sources, 5 of
   these 12 searches asked for 12 us and more there. */
static void explores_soon_where_a_source_is_trusted(void **state) {
    (void)state;
    static const int bottom[GENES] = {3, 4, 3};
    struct space *space = grid();
    for (uint64_t seed = 1; seed <= 2 * SEEDS; seed++) {
        struct source source = draw_source(space, seed, bottom);
        struct evolution_settings settings = evolution_defaults();
        struct error error = {0};
        settings.sources = &source;
        settings.source_count = 1;
        struct evolution *evolution = evolution_new(space, &settings, seed, 0, &error);
        assert_non_null(evolution);
        for (int trial = 0; trial < 68; trial++) {
            struct proposal proposal;
            assert_int_equal(evolution_ask(evolution, &proposal), 1);
            const double us = bowl_us(&proposal.genome, bottom);
            evolution_tell(evolution, trial, &proposal.genome, VERDICT_OK, us);
            if (trial >= 40 && trial % 4 == 0)
                assert_true(us < 12);
        }
        evolution_free(evolution);
        source_release(&source);
    }
    space_free(space);
}

/* Two sources agree, and a third, whatever the order, has its best elsewhere: that one is asked
   last. */
static void asks_first_what_sources_agree_on(void **state) {
    (void)state;
    static const int bottoms[][GENES] = {{3, 4, 3}, {4, 4, 3}, {13, 12, 14}};
    enum { SOURCES = 3 };
    struct space *space = grid();
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct source sources[SOURCES];
        struct genome best[SOURCES], ranked[SOURCES];
        for (int s = 0; s < SOURCES; s++)
            sources[s] = draw_source(space, seed * SOURCES + (uint64_t)s, bottoms[s]);
        struct source_set *set = source_set_new(space, sources, SOURCES);
        assert_int_equal(source_set_first_questions(set, best, SOURCES), SOURCES);
        assert_int_equal(source_set_best(set, ranked, SOURCES), SOURCES);
        assert_true(genome_equal(&best[2], &sources[2].rows[0].genome));
        for (int i = 0; i < SOURCES; i++) { /* the same genomes */
            int same = 0;
            for (int j = 0; j < SOURCES; j++)
                same += genome_equal(&best[i], &ranked[j]);
            assert_int_equal(same, 1);
        }
        source_set_free(set);
        for (int s = 0; s < SOURCES; s++)
            source_release(&sources[s]);
    }
    space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_an_isolated_optimum),
        cmocka_unit_test(asks_first_what_sources_agree_on),
        cmocka_unit_test(explores_soon_where_a_source_is_trusted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
