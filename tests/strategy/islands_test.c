#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/random.h"
#include "strategy/islands.h"

#include <string.h>

enum { ISLANDS = 5 };

static struct member member_of(int trial, double score_us) {
    return (struct member){trial, {{(uint8_t)(trial & 255), (uint8_t)(trial >> 8)}}, score_us};
}

static int draw(struct random *random, int below) {
    return (int)random_below(random, (uint64_t)below);
}

/* Few different scores, so that ties are frequent. */
static double score(struct random *random) {
    return 1 + draw(random, 50);
}

static void fill(struct archipelago *archipelago, struct random *random, int members, int *trial) {
    for (int i = 0; i < members; i++) {
        const struct member member = member_of((*trial)++, score(random));
        archipelago_offer(archipelago, draw(random, archipelago->count), &member);
    }
}

static bool is_on(const struct population *island, int64_t trial) {
    for (int i = 0; i < island->count; i++)
        if (island->members[i].trial == trial)
            return true;
    return false;
}

static bool same_island(const struct population *one, const struct population *other) {
    return one->count == other->count &&
           memcmp(one->members, other->members, (size_t)one->count * sizeof *one->members) == 0;
}

/* Random sequences of offers, replaced scores and migrations. */
static void one_island_is_a_population(void **state) {
    (void)state;
    struct archipelago archipelago;
    struct population population;
    struct random random;
    random_seed(&random, 61, 0);
    archipelago_init(&archipelago, 1, 24);
    population_init(&population, 24);
    assert_int_equal(archipelago.islands[0].capacity, 24);
    assert_null(archipelago_champion(&archipelago));
    for (int i = 0; i < 3000; i++) {
        struct member member = member_of(i, score(&random));
        assert_int_equal(archipelago_offer(&archipelago, 0, &member),
                         population_offer(&population, &member));
        if (draw(&random, 4) == 0) {
            member = population.members[draw(&random, population.count)];
            member.score_us = score(&random);
            bool ok = population.count < 3 || draw(&random, 2) == 0;
            archipelago_renew(&archipelago, 0, &member.genome, ok ? &member : NULL);
            population_remove(&population, &member.genome);
            if (ok)
                population_offer(&population, &member);
        }
        archipelago_migrate(&archipelago);
        assert_true(same_island(&archipelago.islands[0], &population));
        assert_ptr_equal(archipelago_champion(&archipelago), archipelago.islands[0].members);
    }
    population_release(&population);
    archipelago_release(&archipelago);
}

static void islands_share_the_room(void **state) {
    (void)state;
    static const struct {
        int islands, members, each;
    } rows[] = {{1, 3, 3}, {2, 24, 12}, {5, 24, 4}, {8, 24, ISLAND_LEAST}, {64, 4096, 64}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct archipelago archipelago;
        archipelago_init(&archipelago, rows[i].islands, rows[i].members);
        assert_int_equal(archipelago.count, rows[i].islands);
        for (int k = 0; k < rows[i].islands; k++)
            assert_int_equal(archipelago.islands[k].capacity, rows[i].each);
        archipelago_release(&archipelago);
    }
}

/* Each island receives the best of the previous one, taken before any migration; a full island
   drops its worst member unless that is better. */
static void the_best_goes_to_the_next(void **state) {
    (void)state;
    struct random random;
    int trial = 0, replaced = 0, refused = 0;
    random_seed(&random, 62, 0);
    for (int round = 0; round < 300; round++) {
        struct archipelago archipelago;
        struct population before[ISLANDS];
        archipelago_init(&archipelago, ISLANDS, 30);
        fill(&archipelago, &random, round, &trial);
        for (int i = 0; i < ISLANDS; i++) {
            population_init(&before[i], 6);
            for (int k = 0; k < archipelago.islands[i].count; k++)
                population_offer(&before[i], &archipelago.islands[i].members[k]);
        }
        archipelago_migrate(&archipelago);
        for (int i = 0; i < ISLANDS; i++) {
            const struct population *from = &before[i], *to = &before[(i + 1) % ISLANDS];
            const struct population *now = &archipelago.islands[(i + 1) % ISLANDS];
            int64_t worst = to->count == 6 ? to->members[5].trial : -1;
            bool better = from->count > 0 &&
                          (to->count < 6 || from->members[0].score_us < to->members[5].score_us);
            for (int k = 0; k < to->count; k++)
                assert_int_equal(is_on(now, to->members[k].trial),
                                 !better || to->members[k].trial != worst);
            assert_int_equal(now->count, to->count + (better && worst < 0));
            if (from->count > 0)
                assert_int_equal(is_on(now, from->members[0].trial), better);
            replaced += better && worst >= 0;
            refused += from->count > 0 && !better;
        }
        for (int i = 0; i < ISLANDS; i++)
            population_release(&before[i]);
        archipelago_release(&archipelago);
    }
    assert_true(replaced > 100 && refused > 10);
}

/* The best of all islands, and unchanged until a better one arrives, wherever copies of it are. */
static void an_equal_does_not_depose_the_champion(void **state) {
    (void)state;
    struct archipelago archipelago;
    struct random random;
    double best_us = 1e9;
    int64_t champion = -1;
    int deposed = 0;
    random_seed(&random, 63, 0);
    archipelago_init(&archipelago, ISLANDS, 30);
    for (int trial = 0; trial < 2000; trial++) {
        const struct member member = member_of(trial, 40 - 2 * (trial / 100) + score(&random));
        archipelago_offer(&archipelago, draw(&random, ISLANDS), &member);
        if (member.score_us < best_us) {
            best_us = member.score_us;
            champion = trial;
            deposed++;
        }
        if (trial % 7 == 0)
            archipelago_migrate(&archipelago);
        assert_int_equal(archipelago_champion(&archipelago)->trial, champion);
        assert_true(archipelago_champion(&archipelago)->score_us == best_us);
    }
    assert_true(deposed > 5);
    archipelago_release(&archipelago);
}

/* Every copy moves, and its own island takes it if there is room. */
static void told_anew_it_moves_everywhere(void **state) {
    (void)state;
    struct archipelago archipelago;
    struct random random;
    int trial = 0;
    random_seed(&random, 64, 0);
    archipelago_init(&archipelago, ISLANDS, 30);
    for (int round = 0; round < 500; round++) {
        bool was_on[ISLANDS];
        double best_us = 1e9;
        fill(&archipelago, &random, 5, &trial);
        archipelago_migrate(&archipelago);
        int from = draw(&random, ISLANDS), home = draw(&random, ISLANDS);
        const struct population *island = &archipelago.islands[from];
        if (island->count == 0)
            continue;
        struct member member = island->members[draw(&random, island->count)];
        bool ok = draw(&random, 2);
        member.score_us = 0.5 + draw(&random, 60);
        for (int i = 0; i < ISLANDS; i++)
            was_on[i] = is_on(&archipelago.islands[i], member.trial);
        archipelago_renew(&archipelago, home, &member.genome, ok ? &member : NULL);
        for (int i = 0; i < ISLANDS; i++) {
            island = &archipelago.islands[i];
            assert_true(!is_on(island, member.trial) || (ok && (was_on[i] || i == home)));
            if (was_on[i] && ok) /* its own slot was freed */
                assert_true(is_on(island, member.trial));
            for (int k = 1; k < island->count; k++)
                assert_true(island->members[k - 1].score_us <= island->members[k].score_us);
            if (island->count > 0 && island->members[0].score_us < best_us)
                best_us = island->members[0].score_us;
        }
        assert_true(archipelago_champion(&archipelago)->score_us == best_us);
    }
    while (archipelago_champion(&archipelago) != NULL) { /* until none is left */
        const struct genome genome = archipelago_champion(&archipelago)->genome;
        archipelago_renew(&archipelago, 0, &genome, NULL);
    }
    for (int i = 0; i < ISLANDS; i++)
        assert_int_equal(archipelago.islands[i].count, 0);
    archipelago_release(&archipelago);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_island_is_a_population),
        cmocka_unit_test(islands_share_the_room),
        cmocka_unit_test(the_best_goes_to_the_next),
        cmocka_unit_test(an_equal_does_not_depose_the_champion),
        cmocka_unit_test(told_anew_it_moves_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
