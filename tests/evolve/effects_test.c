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

static void count_draws(const struct effects *effects, int gene, struct random *random,
                        int counts[4]) {
    for (int i = 0; i < 4; i++)
        counts[i] = 0;
    for (int i = 0; i < DRAWS; i++) {
        struct genome genome = {{0}};
        effects_draw(effects, gene, EFFECT_ALONE, random, &genome);
        counts[genome.value[gene]]++;
        assert_int_equal(genome.value[1 - gene], 0);
    }
}

static void draws_follow_what_was_learnt(void **state) {
    (void)state;
    struct space *space = four_by_four();
    struct random random;
    struct effects *effects = effects_new(space);
    int counts[4];
    random_seed(&random, 61, 0);
    count_draws(effects, 0, &random, counts);
    for (int i = 0; i < 4; i++) /* it knows nothing: all alike */
        assert_in_range(counts[i], DRAWS / 5, DRAWS * 3 / 10);
    /* A: 0 is slow, 1 fast, 2 always fails, and 3 was never tried. B makes no difference. */
    for (int i = 0; i < 120; i++) {
        struct genome genome = {{(uint8_t)(i % 3), (uint8_t)(i % 4)}};
        effects_learn(effects, &genome, i % 3 == 2 ? NAN : i % 3 ? 1 : 2);
        assert_int_equal(effects_doomed(effects, &genome),
                         i % 3 == 2 && i / 12 + 1 >= DOOMED_LEAST);
    }
    count_draws(effects, 0, &random, counts);
    assert_true(counts[1] > DRAWS / 2);
    assert_int_equal(counts[0] + counts[2], 0);
    assert_true(counts[3] > DRAWS / 20);
    count_draws(effects, 1, &random, counts);
    for (int i = 0; i < 4; i++)
        assert_in_range(counts[i], DRAWS / 20, DRAWS / 2);
    effects_free(effects);
    space_free(space);
}

/* Equal values of A and B are fast together; alone, no value says anything. */
static void pairs_are_drawn_together(void **state) {
    (void)state;
    struct space *space = four_by_four();
    struct random random;
    struct effects *effects = effects_new(space);
    int equal = 0;
    random_seed(&random, 64, 0);
    for (int i = 0; i < 160; i++) {
        struct genome genome = {{(uint8_t)(i % 4), (uint8_t)(i / 4 % 4)}};
        effects_learn(effects, &genome, i % 4 == i / 4 % 4 ? 1 : 2);
    }
    for (int i = 0; i < DRAWS; i++) {
        struct genome genome;
        int first = (int)random_below(&random, 2); /* in either order */
        effects_draw(effects, first, 1 - first, &random, &genome);
        equal += genome.value[0] == genome.value[1];
    }
    assert_true(equal > DRAWS * 9 / 10);
    effects_free(effects);
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

/* Of the rules that hold for the parent, by what was measured of it, the one that pays is taken
   most, and the other not forgotten; the one that does not hold never. */
static void full_takes_the_rules_that_hold_and_pay(void **state) {
    (void)state;
    struct error error = {0};
    struct space *space = space_new();
    int64_t values[] = {1, 2, 3, 4};
    struct random random;
    int taken[3] = {0};
    space_add_integers(space, "A", "", values, 4, 0, NULL, &error);
    space_add_integers(space, "B", "", values, 4, 0, NULL, &error);
    space_add_rule(space, "MEASURED_REGISTERS > 100", "first", &error);
    space_add_rule(space, "MEASURED_OCCUPANCY < 30", "second", &error);
    space_add_rule(space, "A + B < 8", "third", &error);
    for (int rule = 0; rule < 3; rule++)
        assert_int_equal(space_add_favour(space, rule, rule < 2 ? "A" : "B", "lower", &error), 0);
    assert_int_equal(space_seal(space, &error), 0);
    struct evolution_settings settings = evolution_defaults();
    snprintf(settings.strategy, sizeof settings.strategy, "full");
    struct evolution *evolution = evolution_new(space, &settings, 1, 0, &error);
    struct genome genome = genome_default(space);
    genome.value[0] = genome.value[1] = 3;
    struct outcome *outcome = calloc(1, sizeof *outcome);
    outcome->verdict = VERDICT_OK;
    outcome->score_us = 3;
    outcome->resources.registers = 168;
    outcome->resources.occupancy = 0.25;
    evolution_tell_outcome(evolution, 0, &genome, outcome);
    free(outcome);
    for (int rule = 0; rule < 3; rule++)
        evolution->rule_counters[rule] =
            (struct operator_counters){.tries = 1000, .entered = rule == 1 ? 900 : 1};
    evolution->start_at = evolution->start_count;
    evolution->exploration = 0;
    random_seed(&random, 63, 0);
    for (int i = 0; i < 2000; i++) {
        struct proposal proposal;
        char text[OPERATOR_NAME_SIZE];
        int rule;
        random_seed(&evolution->random, random_next(&random), 0);
        assert_true(full_propose(evolution, &proposal));
        if (proposal.made_by != OPERATOR_RULE)
            continue;
        taken[proposal.rule]++;
        assert_true(proposal.genome.value[0] < 3 && proposal.genome.value[1] == 3);
        operator_print(proposal.made_by, proposal.rule, text);
        assert_int_equal(operator_parse(text, &rule), OPERATOR_RULE);
        assert_int_equal(rule, proposal.rule);
    }
    assert_true(taken[0] > 5 && taken[1] > 5 * taken[0]);
    assert_int_equal(taken[2], 0);
    evolution_free(evolution);
    space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_follow_what_was_learnt),
        cmocka_unit_test(pairs_are_drawn_together),
        cmocka_unit_test(full_takes_the_operators_that_pay),
        cmocka_unit_test(full_takes_the_rules_that_hold_and_pay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
