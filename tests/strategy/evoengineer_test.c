#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/random.h"
#include "outcome/measure_names.h"
#include "space/random_space.h"
#include "strategy/insight.h"
#include "strategy/strategy.h"

#include <string.h>

enum { DRAWS = 2000 };

static struct space *numbers(int genes, int count) {
    struct space *space = space_new();
    struct error error = {0};
    int64_t values[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const char *const names[] = {"A", "B", "C"};
    for (int gene = 0; gene < genes; gene++)
        space_add_integers(space, names[gene], "", values, count, 0, NULL, &error);
    if (space_seal(space, &error) < 0)
        fail_msg("%s", error.text);
    return space;
}

static struct evolution *insight_of(const struct space *space) {
    struct error error = {0};
    struct evolution_settings settings = evolution_defaults();
    snprintf(settings.strategy, sizeof settings.strategy, "insight");
    return evolution_new(space, &settings, 61, 0, &error);
}

/* B=2 is fast beside each A that was tried, and new beside the parent's: it is drawn most. Without
   results each value is drawn alike, and a known genome is never drawn. */
static void children_have_what_was_learned(void **state) {
    (void)state;
    struct space *space = numbers(2, 8);
    struct evolution *evolution = insight_of(space);
    struct insight *insight = insight_new(space);
    const struct genome parent = {{7, 0}};
    struct random random;
    int by_value[8] = {0}, all = 0;
    random_seed(&random, 61, 0);
    insight_update(insight, evolution);
    for (int i = 0; i < DRAWS; i++) {
        struct genome child;
        assert_true(insight_breed(insight, evolution, &parent, &random, &child));
        by_value[child.value[1]]++;
    }
    for (int value = 1; value < 8; value++)
        assert_in_range(by_value[value], DRAWS / 20, DRAWS / 8);
    for (int a = 0; a < 7; a++)
        for (int b = 0; b < 8; b++) {
            const struct genome genome = {{(uint8_t)a, (uint8_t)b}};
            evolution_tell(evolution, a * 8 + b, &genome, VERDICT_OK,
                           (b == 2 ? 1 : 2) * (1 + 0.01 * a));
        }
    evolution_tell(evolution, 56, &parent, VERDICT_OK, 2.07);
    insight_update(insight, evolution);
    memset(by_value, 0, sizeof by_value);
    for (int i = 0; i < DRAWS; i++) {
        struct genome child;
        if (!insight_breed(insight, evolution, &parent, &random, &child))
            continue;
        assert_int_equal(evolution_genome_state(evolution, &child), GENOME_NEW);
        by_value[child.value[1]]++;
        all++;
    }
    assert_true(all > DRAWS / 4);
    assert_true(by_value[2] > all * 9 / 10);
    insight_free(insight);
    evolution_free(evolution);
    space_free(space);
}

/* What insight knows depends on the results, not on when it was asked. */
static void insight_depends_on_results_alone(void **state) {
    (void)state;
    struct space *space = numbers(3, 8);
    struct evolution *evolution = insight_of(space);
    struct insight *often = insight_new(space), *once = insight_new(space);
    struct random random;
    random_seed(&random, 65, 0);
    for (int trial = 0; trial < 100; trial++) {
        struct genome genome = {{0}};
        for (int gene = 0; gene < 3; gene++)
            genome.value[gene] = (uint8_t)random_below(&random, 8);
        if (evolution_genome_state(evolution, &genome) == GENOME_NEW)
            evolution_tell(evolution, trial, &genome, VERDICT_OK,
                           1 + genome.value[0] + random_uniform(&random));
        insight_update(often, evolution);
    }
    insight_update(once, evolution);
    for (int i = 0; i < 100; i++) {
        const struct genome parent = evolution_population(evolution)->members[0].genome;
        struct random copy = random;
        struct genome first, second;
        const bool found = insight_breed(often, evolution, &parent, &random, &first);
        assert_int_equal(found, insight_breed(once, evolution, &parent, &copy, &second));
        assert_true(!found || genome_equal(&first, &second));
    }
    insight_free(often);
    insight_free(once);
    evolution_free(evolution);
    space_free(space);
}

/* If only one operator succeeds it is used most, and none is dropped. */
static void full_takes_the_operators_that_pay(void **state) {
    (void)state;
    struct random random;
    int most[OPERATOR_COUNT] = {0};
    random_seed(&random, 62, 0);
    for (int round = 0; round < 20; round++) {
        struct evolution_settings settings = evolution_defaults();
        struct error error = {0};
        struct space *space = numbers(2, 4);
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
        for (int i = 0; i < 200; i++) { /* the same ask with another random sequence */
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

/* Among the hints that hold for the parent by its measures, the successful one is used most and
   the other is not dropped; a hint that does not hold is never used. */
static void full_takes_the_rules_that_hold_and_pay(void **state) {
    (void)state;
    struct error error = {0};
    struct space *space = space_new();
    int64_t values[] = {1, 2, 3, 4};
    struct random random;
    int taken[3] = {0};
    space_add_integers(space, "A", "", values, 4, 0, NULL, &error);
    space_add_integers(space, "B", "", values, 4, 0, NULL, &error);
    space_name_measures(space, measure_names, MEASURE_COUNT, MEASURE_PROFILED);
    space_add_hint(space, "MEASURED_REGISTERS > 100", "first", &error);
    space_add_hint(space, "MEASURED_OCCUPANCY < 30", "second", &error);
    space_add_hint(space, "A + B < 8", "third", &error);
    for (int hint = 0; hint < 3; hint++)
        assert_int_equal(space_add_preference(space, hint, hint < 2 ? "A" : "B", "lower", &error),
                         0);
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
    for (int hint = 0; hint < 3; hint++)
        evolution->hint_counters[hint] =
            (struct operator_counters){.tries = 1000, .entered = hint == 1 ? 900 : 1};
    evolution->start_at = evolution->start_count;
    evolution->exploration = 0;
    random_seed(&random, 63, 0);
    for (int i = 0; i < 2000; i++) {
        struct proposal proposal;
        char text[OPERATOR_NAME_SIZE];
        int hint;
        random_seed(&evolution->random, random_next(&random), 0);
        assert_true(full_propose(evolution, &proposal));
        if (proposal.made_by != OPERATOR_HINT)
            continue;
        taken[proposal.hint]++;
        assert_true(proposal.genome.value[0] < 3 && proposal.genome.value[1] == 3);
        operator_print(proposal.made_by, proposal.hint, text);
        assert_int_equal(operator_parse(text, &hint), OPERATOR_HINT);
        assert_int_equal(hint, proposal.hint);
    }
    assert_true(taken[0] > 5 && taken[1] > 5 * taken[0]);
    assert_int_equal(taken[2], 0);
    evolution_free(evolution);
    space_free(space);
}

/* ---- measures of a profiler ---- */

/* Two hints, on a measure of the profiler and on one of the driver. */
static struct space *space_with_profiles(void) {
    struct error error = {0};
    struct space *space = space_new();
    int64_t values[64];
    static const char *const names[] = {"A", "B", "C"};
    for (int i = 0; i < 64; i++)
        values[i] = i;
    for (int gene = 0; gene < 3; gene++)
        space_add_integers(space, names[gene], "", values, 64, 63, NULL, &error);
    space_name_measures(space, measure_names, MEASURE_COUNT, MEASURE_PROFILED);
    space_add_hint(space, "PROFILED_SM_ACTIVE < 80", "idle", &error);
    space_add_hint(space, "MEASURED_REGISTERS > 100", "registers", &error);
    assert_int_equal(space_add_preference(space, 0, "A", "lower", &error), 0);
    assert_int_equal(space_add_preference(space, 1, "B", "lower", &error), 0);
    assert_int_equal(space_seal(space, &error), 0);
    return space;
}

static struct evolution *full_of(const struct space *space) {
    struct error error = {0};
    struct evolution_settings settings = evolution_defaults();
    settings.population = 6;
    settings.initial = 4;
    snprintf(settings.strategy, sizeof settings.strategy, "full");
    return evolution_new(space, &settings, 17, 0, &error);
}

static void judge(struct evolution *evolution, int64_t trial, const struct genome *genome) {
    struct outcome *outcome = calloc(1, sizeof *outcome);
    outcome->verdict = VERDICT_OK;
    outcome->score_us = 1; /* rugged, so that elites can still move */
    for (int gene = 0; gene < 3; gene++)
        outcome->score_us += 29 * (genome->value[gene] + 1) % 64;
    evolution_tell_outcome(evolution, trial, genome, outcome);
    free(outcome);
}

static struct measures idle(bool registers) {
    struct measures measures = {0};
    measures_put(&measures, MEASURE_SM_ACTIVE, 40);
    if (registers)
        measures_put(&measures, MEASURE_REGISTERS, 168);
    return measures;
}

/* Profiles the present elites with an even trial number. */
static void profile_elites(struct evolution *evolution) {
    const struct population *population = evolution_population(evolution);
    const struct measures measures = idle(true);
    for (int m = 0; m < population->count; m++)
        if (population->members[m].trial % 2 == 0)
            evolution_tell_profile(evolution, &population->members[m].genome, &measures);
}

static int ask_and_judge(struct evolution *evolution, int64_t from, int64_t to,
                         struct proposal *proposals) {
    int by_rule = 0;
    for (int64_t trial = from; trial < to; trial++) {
        assert_int_equal(evolution_ask(evolution, &proposals[trial]), 1);
        by_rule += proposals[trial].made_by == OPERATOR_HINT;
        judge(evolution, trial, &proposals[trial].genome);
    }
    return by_rule;
}

/* Such a hint breeds only from profiled genomes; the hints on resources, and the digest, depend
   on the trial alone. */
static void profile_is_known_once_observed(void **state) {
    (void)state;
    enum { BEFORE = 30, AFTER = 90 };
    struct space *space = space_with_profiles();
    struct evolution *evolution = full_of(space);
    struct proposal proposals[AFTER];
    const struct measures registers = idle(true);
    assert_int_equal(ask_and_judge(evolution, 0, BEFORE, proposals), 0);
    struct hash digest = evolution_digest(evolution);
    profile_elites(evolution);
    assert_true(hash_equal(digest, evolution_digest(evolution)));
    struct genome unseen = genome_default(space);
    for (unseen.value[0] = 0; history_find(&evolution->history, &unseen) != NULL; unseen.value[0]++)
        ;
    evolution_tell_profile(evolution, &unseen, &registers); /* not observed: ignored */
    assert_null(history_find(&evolution->history, &unseen));
    assert_true(ask_and_judge(evolution, BEFORE, AFTER, proposals) > 0);
    const struct operator_counters *hints = evolution->hint_counters;
    assert_true(hints[0].tries > 0 && hints[0].tries == hints[0].successes);
    assert_int_equal(hints[1].tries, 0);
    /* A later profile replaces it. */
    struct measures busy = {0};
    measures_put(&busy, MEASURE_SM_ACTIVE, 95);
    for (size_t i = 0; i < evolution->history.count; i++)
        evolution_tell_profile(evolution, &evolution->history.entries[i].genome, &busy);
    for (size_t i = 0; i < evolution->history.count; i++)
        assert_int_equal(evolution->history.entries[i].hints, 0);
    evolution_free(evolution);
    space_free(space);
}

/* A profiled search that is stopped and resumed, with the profiles of its elites at that time,
   asks as if it had never stopped. */
static void profiles_survive_a_resumption(void **state) {
    (void)state;
    enum { PROFILED_AT = 24, KILLED_AT = 60, ALL = 120 };
    struct space *space = space_with_profiles();
    struct evolution *whole = full_of(space);
    struct proposal proposals[ALL];
    bool profiled[ALL] = {false};
    const struct measures measures = idle(false);
    ask_and_judge(whole, 0, PROFILED_AT, proposals);
    const struct population *population = evolution_population(whole);
    for (int m = 0; m < population->count; m++) {
        profiled[population->members[m].trial] = true;
        evolution_tell_profile(whole, &population->members[m].genome, &measures);
    }
    assert_true(ask_and_judge(whole, PROFILED_AT, KILLED_AT, proposals) > 0);
    struct evolution *again = full_of(space);
    for (int64_t trial = 0; trial < KILLED_AT; trial++) {
        assert_int_equal(evolution_replay(again, &proposals[trial]), 0);
        judge(again, trial, &proposals[trial].genome);
    }
    assert_true(hash_equal(evolution_digest(whole), evolution_digest(again)));
    population = evolution_population(again);
    for (int m = 0; m < population->count; m++)
        if (profiled[population->members[m].trial])
            evolution_tell_profile(again, &population->members[m].genome, &measures);
    ask_and_judge(whole, KILLED_AT, ALL, proposals);
    for (int64_t trial = KILLED_AT; trial < ALL; trial++) {
        struct proposal proposal;
        assert_int_equal(evolution_ask(again, &proposal), 1);
        assert_true(genome_equal(&proposal.genome, &proposals[trial].genome));
        judge(again, trial, &proposal.genome);
    }
    assert_true(hash_equal(evolution_digest(whole), evolution_digest(again)));
    evolution_free(again);
    evolution_free(whole);
    space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_have_what_was_learned),
        cmocka_unit_test(insight_depends_on_results_alone),
        cmocka_unit_test(full_takes_the_operators_that_pay),
        cmocka_unit_test(full_takes_the_rules_that_hold_and_pay),
        cmocka_unit_test(profile_is_known_once_observed),
        cmocka_unit_test(profiles_survive_a_resumption),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
