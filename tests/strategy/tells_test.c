/* What a observed score changes, and what the candidate pool holds, on a space of six genes of
 * eight values. */
#include "strategy/candidate_pool.h"
#include "strategy/strategy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"

enum { GENES = 6, VALUES = 8 };

static struct space *space_of_six_genes(void) {
    static const int64_t values[VALUES] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct space *space = space_new();
    struct error error = {0};
    char name[NAME_SIZE];
    for (int g = 0; g < GENES; g++) {
        snprintf(name, sizeof name, "G%d", g);
        assert_true(space_add_integers(space, name, "", values, VALUES, 0, NULL, &error) >= 0);
    }
    assert_true(space_add_constraint(space, "G0 + G1 <= 9", "memory", &error) >= 0);
    if (space_seal(space, &error) < 0)
        fail_msg("%s", error.text);
    return space;
}

static struct evolution *evolution_of(const struct space *space, uint64_t seed) {
    struct error error = {0};
    struct evolution_settings settings = evolution_defaults();
    snprintf(settings.strategy, sizeof settings.strategy, "random");
    settings.population = 3;
    struct evolution *evolution = evolution_new(space, &settings, seed, 1, &error);
    assert_non_null(evolution);
    return evolution;
}

/* Asks for genomes and tells these scores. */
static void tell_scores(struct evolution *evolution, const double *scores, int count,
                        struct genome *genomes) {
    for (int i = 0; i < count; i++) {
        struct proposal proposal;
        assert_int_equal(evolution_ask(evolution, &proposal), 1);
        genomes[i] = proposal.genome;
        evolution_tell(evolution, i, &proposal.genome, VERDICT_OK, scores[i]);
    }
}

static void a_gain_is_a_new_best_score(void **state) {
    (void)state;
    static const double scores[] = {10, 9, 11, 8, 8.5, 30};
    struct genome genomes[6];
    struct operator_counters sum = {0};
    struct space *space = space_of_six_genes();
    struct evolution *evolution = evolution_of(space, 1);
    tell_scores(evolution, scores, 6, genomes);
    for (int i = 0; i < OPERATOR_COUNT; i++) {
        sum.successes += evolution->counters[i].successes;
        sum.entered += evolution->counters[i].entered;
        sum.gains += evolution->counters[i].gains;
    }
    assert_int_equal(sum.successes, 6);
    assert_int_equal(sum.entered, 5); /* 30 is not among the best three */
    assert_int_equal(sum.gains, 3);   /* 10, 9 and 8 */
    evolution_free(evolution);
    space_free(space);
}

/* The models read every score, not only those of the population. */
static void a_score_observed_again_is_part_of_the_state(void **state) {
    (void)state;
    static const double scores[] = {1, 2, 3, 4, 5};
    struct genome genomes[5];
    struct space *space = space_of_six_genes();
    struct evolution *evolution = evolution_of(space, 1);
    tell_scores(evolution, scores, 5, genomes);
    struct hash before = evolution_digest(evolution);
    struct outcome outcome = {.score_us = 6};
    evolution_tell_again(evolution, 4, &genomes[4], &outcome);
    assert_false(hash_equal(evolution_digest(evolution), before));
    outcome.score_us = 5;
    evolution_tell_again(evolution, 4, &genomes[4], &outcome);
    assert_true(hash_equal(evolution_digest(evolution), before));
    evolution_free(evolution);
    space_free(space);
}

static void the_seed_is_part_of_the_state(void **state) {
    (void)state;
    struct space *space = space_of_six_genes();
    struct evolution *one = evolution_of(space, 1), *other = evolution_of(space, 2);
    struct evolution *same = evolution_of(space, 1);
    assert_false(hash_equal(evolution_digest(one), evolution_digest(other)));
    assert_true(hash_equal(evolution_digest(one), evolution_digest(same)));
    evolution_free(one);
    evolution_free(other);
    evolution_free(same);
    space_free(space);
}

static void the_pool_holds_valid_neighbours_and_children(void **state) {
    (void)state;
    const struct genome elites[] = {{.value = {1, 1, 1, 1, 1, 1}}, {.value = {4, 4, 4, 4, 4, 4}}};
    struct space *space = space_of_six_genes();
    struct candidate_pool *pool = candidate_pool_new(space);
    struct random random;
    int children = 0;
    random_seed(&random, 1, 1);
    const struct uniform_draws draws = {.first = 1};
    candidate_pool_refill(pool, &random, &draws, elites, 2);
    for (int i = 0; i < candidate_pool_count(pool); i++) {
        const struct genome *genome = candidate_pool_genome(pool, i);
        int ones = 0, fours = 0;
        assert_true(space_check(space, genome, NULL));
        for (int g = 0; g < GENES; g++) {
            ones += genome->value[g] == 1;
            fours += genome->value[g] == 4;
        }
        children += ones == 3 && fours == 3; /* neighbours differ from an elite in at most two */
    }
    assert_in_range(children, 10, 20);
    candidate_pool_free(pool);
    space_free(space);
}

/* Refills a pool at a window of draws; `random` starts alike each time. */
static void refill_at(struct candidate_pool *pool, uint64_t stream, uint64_t first) {
    static const struct genome elites[] = {{.value = {1, 1, 1, 1, 1, 1}},
                                           {.value = {4, 4, 4, 4, 4, 4}}};
    const struct uniform_draws draws = {.seed = 7, .stream = stream, .first = first};
    struct random random;
    random_seed(&random, 1, 1);
    candidate_pool_refill(pool, &random, &draws, elites, 2);
}

/* How many genomes two pools share at the same place. */
static int shared_genomes(const struct candidate_pool *a, const struct candidate_pool *b) {
    int shared = 0;
    for (int i = 0; i < candidate_pool_count(a) && i < candidate_pool_count(b); i++)
        shared += genome_equal(candidate_pool_genome(a, i), candidate_pool_genome(b, i));
    return shared;
}

/* A pool that was refilled before keeps draws, and holds the same as one that was not: a run that
   is resumed builds its pool at once. */
static void a_refill_depends_on_its_arguments_alone(void **state) {
    (void)state;
    struct space *space = space_of_six_genes();
    struct candidate_pool *long_used = candidate_pool_new(space);
    for (uint64_t first = 0; first < 40; first += 1 + first % 3) {
        struct candidate_pool *fresh = candidate_pool_new(space);
        refill_at(long_used, 2, first);
        refill_at(fresh, 2, first);
        assert_int_equal(candidate_pool_count(fresh), candidate_pool_count(long_used));
        assert_int_equal(shared_genomes(fresh, long_used), candidate_pool_count(fresh));
        refill_at(fresh, 3, first);
        assert_true(shared_genomes(fresh, long_used) < candidate_pool_count(fresh));
        candidate_pool_free(fresh);
    }
    candidate_pool_free(long_used);
    space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gain_is_a_new_best_score),
        cmocka_unit_test(a_score_observed_again_is_part_of_the_state),
        cmocka_unit_test(the_seed_is_part_of_the_state),
        cmocka_unit_test(the_pool_holds_valid_neighbours_and_children),
        cmocka_unit_test(a_refill_depends_on_its_arguments_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
