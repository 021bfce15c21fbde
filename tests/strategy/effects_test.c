/* Archives with known effects: what is claimed must be true, and what they cannot tell is not
   claimed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/random.h"
#include "strategy/effects.h"

#include <math.h>

enum { GENES = 4, VALUES = 4, TRIALS = 90 };

static const double error_of_trials = 0.01;

/* Log costs; gene 3 has none. */
struct landscape {
    double cost[GENES][VALUES];
    double together; /* of values 1 of genes 0 and 1 */
};

static struct space *four_genes(void) {
    struct space *space = space_new();
    struct error error = {0};
    int64_t values[] = {1, 3, 4, 7};
    static const char *const names[] = {"A", "B", "C", "D"};
    for (int gene = 0; gene < GENES; gene++)
        space_add_integers(space, names[gene], "", values, VALUES, 0, NULL, &error);
    if (space_seal(space, &error) < 0)
        fail_msg("%s", error.text);
    return space;
}

static double log_cost(const struct landscape *landscape, const struct genome *genome) {
    double sum = genome->value[0] == 1 && genome->value[1] == 1 ? landscape->together : 0;
    for (int gene = 0; gene < GENES; gene++)
        sum += landscape->cost[gene][genome->value[gene]];
    return sum;
}

static double normal(struct random *random) {
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += random_uniform(random);
    return sum;
}

static struct effect_trial measure(const struct landscape *landscape, const struct genome *genome,
                                   struct random *random) {
    const double score = 10 * exp(log_cost(landscape, genome) + error_of_trials * normal(random));
    return (struct effect_trial){*genome, score, error_of_trials, 0};
}

static void draw_landscape(struct landscape *landscape, struct random *random) {
    for (int gene = 0; gene < GENES; gene++)
        for (int value = 0; value < VALUES; value++)
            landscape->cost[gene][value] = gene == 3 ? 0 : 0.6 * random_uniform(random);
    landscape->together = 0.6 * (random_uniform(random) - 0.5);
}

/* A search: later trials keep good values more and more often, and repeat none. */
static int search(const struct landscape *landscape, struct random *random,
                  struct effect_trial *trials, int most) {
    int count = 0;
    for (int i = 0; i < most; i++) {
        struct genome genome = {{0}};
        bool known = false;
        for (int gene = 0; gene < GENES; gene++) {
            int value = (int)random_below(random, VALUES),
                other = (int)random_below(random, VALUES);
            const bool better = landscape->cost[gene][other] < landscape->cost[gene][value];
            genome.value[gene] =
                (uint8_t)(better && random_uniform(random) * most < i ? other : value);
        }
        for (int t = 0; t < count; t++)
            known = known || genome_equal(&trials[t].genome, &genome);
        if (!known)
            trials[count++] = measure(landscape, &genome, random);
    }
    return effects_choose(trials, count, most);
}

/* Of a landscape with effects and a gene without: claims have the right sign, intervals hold the
   truth, most strong effects are claimed, and of the gene without an effect one change in a hundred
   is claimed at most, up to what so few archives can show. */
static void claims_are_true(void **state) {
    (void)state;
    int claims = 0, right = 0, held = 0, strong = 0, strong_claims = 0, null_claims = 0;
    struct space *space = four_genes();
    struct effects *effects = effects_new(space);
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct effect_trial trials[TRIALS];
        struct landscape landscape;
        struct random random;
        random_seed(&random, seed, 0);
        draw_landscape(&landscape, &random);
        const int count = search(&landscape, &random, trials, TRIALS);
        assert_true(effects_fit(effects, trials, count));
        for (int base = 0; base < 10; base += 9) /* the champion, and the tenth-best */
            for (int change = 0; change < GENES * VALUES; change++) {
                struct genome changed = trials[base].genome;
                changed.value[change / VALUES] = (uint8_t)(change % VALUES);
                if (genome_equal(&changed, &trials[base].genome))
                    continue;
                const double truth = exp(log_cost(&landscape, &changed) -
                                         log_cost(&landscape, &trials[base].genome));
                const struct effect effect =
                    effects_between(effects, &trials[base].genome, &changed);
                const bool certain = effect_is_certain(&effect);
                assert_true(effect.low <= effect.ratio && effect.ratio <= effect.high);
                if (change / VALUES == 3) {
                    null_claims += certain;
                    continue;
                }
                strong += fabs(log(truth)) > 0.2;
                strong_claims += fabs(log(truth)) > 0.2 && certain;
                claims += certain;
                right += certain && (effect.low > 1 ? truth > 1 : truth < 1);
                held += certain && effect.low <= truth && truth <= effect.high;
            }
    }
    assert_true(claims > 100);
    assert_true(right >= 0.99 * claims);
    assert_true(held >= 0.96 * claims);
    assert_true(strong_claims > 0.7 * strong);
    assert_in_range(null_claims, 0, 4); /* of 180 */
    effects_free(effects);
    space_free(space);
}

/* The last value of gene 0, which has no effect, occurs only beside values of gene 1 that are slow
   or new: nothing may be said of it. A mean over its trials would call it four times slower. */
static void a_value_beside_bad_ones_is_not_blamed(void **state) {
    (void)state;
    const struct landscape landscape = {.cost[1] = {0, 0.05, 1.4, 1.5},
                                        .cost[2] = {0, 0.1, 0.2, 0.3}};
    struct space *space = four_genes();
    struct effects *effects = effects_new(space);
    int claims = 0;
    for (uint64_t seed = 0; seed < 25; seed++) {
        struct effect_trial trials[60];
        struct random random;
        random_seed(&random, seed, 1);
        for (int i = 0; i < 60; i++) {
            struct genome genome = {{0}};
            for (int gene = 0; gene < GENES; gene++)
                genome.value[gene] = (uint8_t)random_below(&random, VALUES);
            const bool blamed = i < 12;
            genome.value[0] = (uint8_t)(blamed ? 3 : random_below(&random, 3));
            genome.value[1] = (uint8_t)((blamed ? 2 : 0) + random_below(&random, 2));
            trials[i] = measure(&landscape, &genome, &random);
        }
        assert_true(effects_fit(effects, trials, effects_choose(trials, 60, 60)));
        struct genome changed = trials[0].genome;
        assert_true(changed.value[0] != 3 && changed.value[1] < 2);
        changed.value[0] = 3;
        const struct effect effect = effects_between(effects, &trials[0].genome, &changed);
        assert_int_equal(effect.tried, 12);
        assert_false(effect.measured);
        claims += effect_is_certain(&effect);
    }
    assert_int_equal(claims, 0);
    effects_free(effects);
    space_free(space);
}

/* Two trials that were measured differ as measured, as far as their errors allow. */
static void what_was_measured_counts_as_measured(void **state) {
    (void)state;
    struct space *space = four_genes();
    struct effects *effects = effects_new(space);
    for (int percent = 1; percent <= 20; percent += 19) {
        struct effect_trial trials[TRIALS];
        struct landscape landscape = {.cost[1] = {0, 0.1, 0.2, 0.3}};
        struct random random;
        random_seed(&random, 5, 2);
        int count = search(&landscape, &random, trials, TRIALS);
        struct genome base = trials[0].genome, changed = base;
        changed.value[2] = (uint8_t)((base.value[2] + 1) % VALUES);
        for (int t = count - 1; t > 0; t--)
            if (genome_equal(&trials[t].genome, &changed))
                trials[t] = trials[--count];
        trials[count++] = (struct effect_trial){changed, trials[0].score * (1 + percent / 100.0),
                                                error_of_trials, 0};
        assert_true(effects_fit(effects, trials, effects_choose(trials, count, TRIALS)));
        const struct effect effect = effects_between(effects, &base, &changed);
        const struct effect back = effects_between(effects, &changed, &base);
        assert_true(effect.measured && back.measured);
        assert_true(effect.pairs > 0);
        assert_int_equal(effect_is_certain(&effect), percent > 10);
        assert_true(fabs(log(effect.ratio * back.ratio)) < 1e-6);
        assert_true(effect.low < 1 + percent / 100.0 && 1 + percent / 100.0 < effect.high);
        assert_true(percent > 10 ||
                    effect.high / effect.low < exp(2 * 2.6 * sqrt(2) * error_of_trials));
    }
    effects_free(effects);
    space_free(space);
}

/* A trend goes on past the values that were tried, or it does not: there is no claim. */
static void an_untried_value_gets_no_claim(void **state) {
    (void)state;
    const struct landscape landscape = {.cost[0] = {0, 0.5, 1, 1.5}};
    struct effect_trial trials[48];
    struct space *space = four_genes();
    struct effects *effects = effects_new(space);
    struct random random;
    int tried = 0;
    random_seed(&random, 6, 3);
    for (int i = 0; i < 48; i++) {
        struct genome genome = {{(uint8_t)(i % 3), (uint8_t)(i / 3 % 4), (uint8_t)(i / 12), 0}};
        trials[i] = measure(&landscape, &genome, &random);
    }
    assert_true(effects_fit(effects, trials, effects_choose(trials, 48, 48)));
    for (int value = 1; value < 4; value++) {
        struct genome changed = trials[0].genome;
        changed.value[0] = (uint8_t)value;
        const struct effect effect = effects_between(effects, &trials[0].genome, &changed);
        assert_int_equal(effect_is_certain(&effect), value < 3);
        tried += effect.tried;
    }
    assert_int_equal(tried, 32);
    effects_free(effects);
    space_free(space);
}

static void few_or_equal_trials_have_no_model(void **state) {
    (void)state;
    const struct landscape flat = {.together = 0};
    struct effect_trial trials[40];
    struct space *space = four_genes();
    struct effects *effects = effects_new(space);
    struct random random;
    random_seed(&random, 7, 4);
    int count = search(&flat, &random, trials, 40);
    assert_false(effects_fit(effects, trials, EFFECTS_TRIALS_MIN - 1));
    assert_true(effects_fit(effects, trials, EFFECTS_TRIALS_MIN));
    for (int i = 0; i < count; i++)
        trials[i].score = 3;
    assert_false(effects_fit(effects, trials, count));
    effects_free(effects);
    space_free(space);
}

/* Of a long archive the best trials are kept, and others from all of the rest. */
static void a_long_archive_is_sampled(void **state) {
    (void)state;
    enum { ALL = 5000, KEPT = 400 };
    struct effect_trial *trials = calloc(ALL, sizeof *trials);
    for (int i = 0; i < ALL; i++)
        trials[i] = (struct effect_trial){.score = 1 + (i * 1237 % ALL), .number = i};
    assert_int_equal(effects_choose(trials, ALL, KEPT), KEPT);
    for (int i = 0; i < KEPT; i++) {
        assert_true(i == 0 || trials[i].score > trials[i - 1].score);
        assert_true(trials[i].score == 1 + (double)(trials[i].number * 1237 % ALL));
        if (i < KEPT * 2 / 5)
            assert_true(trials[i].score == 1 + i);
    }
    assert_true(trials[KEPT - 1].score > 0.95 * ALL);
    free(trials);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims_are_true),
        cmocka_unit_test(a_value_beside_bad_ones_is_not_blamed),
        cmocka_unit_test(what_was_measured_counts_as_measured),
        cmocka_unit_test(an_untried_value_gets_no_claim),
        cmocka_unit_test(few_or_equal_trials_have_no_model),
        cmocka_unit_test(a_long_archive_is_sampled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
