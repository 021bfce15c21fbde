#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/random.h"
#include "evolve/effects.h"
#include "evolve/strategy.h"
#include "genome/random_space.h"

#include <math.h>

enum { DRAWS = 4000 };

static struct space *four_by_four(void) {
    struct space *space = space_new();
    struct error error = {0};
    int64_t values[] = {1, 2, 3, 4};
    space_add_integers(space, "A", "", values, 4, 0, NULL, &error);
    space_add_integers(space, "B", "", values, 4, 0, NULL, &error);
    if (space_seal(space, &error) < 0)
        fail_msg("%s", error.text);
    return space;
}

static void count_draws(const struct effects *effects, const struct space *space, int gene,
                        struct random *random, int counts[4]) {
    for (int i = 0; i < 4; i++)
        counts[i] = 0;
    for (int i = 0; i < DRAWS; i++)
        counts[effects_draw(effects, space, gene, random)]++;
}

static void draws_follow_what_was_learnt(void **state) {
    (void)state;
    struct space *space = four_by_four();
    struct random random;
    struct effects effects;
    int counts[4];
    random_seed(&random, 61, 0);
    effects_init(&effects);
    count_draws(&effects, space, 0, &random, counts);
    for (int i = 0; i < 4; i++) /* it knows nothing: all alike */
        assert_in_range(counts[i], DRAWS / 5, DRAWS * 3 / 10);
    /* A: 0 is slow, 1 fast, 2 always fails, and 3 was never tried. B makes no difference. */
    for (int i = 0; i < 120; i++) {
        struct genome genome = {{(uint8_t)(i % 3), (uint8_t)(i % 4)}};
        effects_learn(&effects, &genome, 2, i % 3 == 2 ? NAN : i % 3 ? 1 : 2);
    }
    count_draws(&effects, space, 0, &random, counts);
    assert_true(counts[1] > DRAWS / 2);
    assert_int_equal(counts[0] + counts[2], 0);
    assert_true(counts[3] > DRAWS / 20);
    count_draws(&effects, space, 1, &random, counts);
    for (int i = 0; i < 4; i++)
        assert_in_range(counts[i], DRAWS / 20, DRAWS / 2);
    space_free(space);
}

/* Where only one operator pays, it is taken most, and none is forgotten. */
static void full_takes_the_operators_that_pay(void **state) {
    (void)state;
    struct random random;
    int most[OPERATOR_COUNT] = {0};
    random_seed(&random, 62, 0);
    for (int round = 0; round < 20; round++) {
        struct evolution_settings settings = evolution_defaults();
        struct error error = {0};
        struct space *space = four_by_four();
        struct proposal proposal;
        snprintf(settings.strategy, sizeof settings.strategy, "full");
        struct evolution *evolution = evolution_new(space, &settings, (uint64_t)round, 0, &error);
        struct operator_counters *counters = evolution->counters;
        struct genome genome = genome_default(space);
        evolution_tell(evolution, 0, &genome, VERDICT_OK, 1);
        genome.value[0] = genome.value[1] = 3;
        evolution_tell(evolution, 1, &genome, VERDICT_OK, 2);
        for (int kind = 0; kind < OPERATOR_COUNT; kind++)
            counters[kind] = (struct operator_counters){.tries = 1000, .entered = 1};
        counters[OPERATOR_CROSS_BLOCK].entered = 900;
        evolution->start_at = evolution->start_count;
        evolution->exploration = 0;
        for (int i = 0; i < 200; i++) { /* the same question, with another sequence */
            random_seed(&evolution->random, random_next(&random), 0);
            if (full_propose(evolution, &proposal))
                most[proposal.made_by]++;
        }
        evolution_free(evolution);
        space_free(space);
    }
    for (int kind = 0; kind < OPERATOR_COUNT; kind++)
        if (kind == OPERATOR_INSIGHT || operators[kind].weight > 0)
            assert_true(most[kind] > 20 && most[kind] <= most[OPERATOR_CROSS_BLOCK]);
        else
            assert_int_equal(most[kind], 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_follow_what_was_learnt),
        cmocka_unit_test(full_takes_the_operators_that_pay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
