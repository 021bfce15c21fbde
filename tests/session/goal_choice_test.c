/* Which goal of a run gets the next trial. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "session/goal_choice.h"

#include <math.h>

enum { GOALS = 4, TRIALS = 400 };

static struct goal_prospect open_goal(int64_t trials, double weight, double seconds, double gain) {
    return (struct goal_prospect){true, trials, weight, seconds, gain};
}

/* Gives `trials` trials; the prospects keep their gains. */
static void give_trials(struct goal_prospect *prospects, int count, int trials) {
    for (int i = 0; i < trials; i++) {
        const int chosen = goal_choose(prospects, count);
        assert_in_range(chosen, 0, count - 1);
        assert_true(prospects[chosen].open);
        prospects[chosen].trials++;
    }
}

/* Without a model the goals take turns, by their weights. */
static void first_trials_are_in_turn(void **state) {
    (void)state;
    struct goal_prospect prospects[] = {open_goal(0, 1, 1, INFINITY), open_goal(0, 2, 9, INFINITY),
                                        open_goal(0, 1, 1, INFINITY)};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(goal_choose(prospects, 3), i);
        prospects[i].trials++;
    }
    give_trials(prospects, 3, 397);
    assert_int_equal(prospects[0].trials, 100);
    assert_int_equal(prospects[1].trials, 200);
    assert_int_equal(prospects[2].trials, 100);
}

/* A goal of which no model speaks is before any that has one. */
static void an_unknown_goal_is_first(void **state) {
    (void)state;
    const struct goal_prospect prospects[] = {open_goal(8, 1, 1, 5), open_goal(6, 1, 1, INFINITY)};
    assert_int_equal(goal_choose(prospects, 2), 1);
}

static void the_most_gain_a_second_is_next(void **state) {
    (void)state;
    struct goal_prospect prospects[] = {open_goal(9, 1, 1, 0.02), open_goal(9, 1, 4, 0.06),
                                        open_goal(9, 1, 1, 0.01), open_goal(9, 1, 0.5, 0.005)};
    assert_int_equal(goal_choose(prospects, GOALS), 0);
    prospects[2].weight = 3;
    assert_int_equal(goal_choose(prospects, GOALS), 2);
    prospects[1].seconds = 1;
    assert_int_equal(goal_choose(prospects, GOALS), 1);
    prospects[1].open = false;
    prospects[3].gain = 0.05;
    assert_int_equal(goal_choose(prospects, GOALS), 3);
}

/* However little is expected of a goal, it gets a quarter of an equal share by weight. */
static void no_goal_starves(void **state) {
    (void)state;
    struct goal_prospect prospects[] = {open_goal(0, 1, 1, 1), open_goal(0, 1, 1, 0),
                                        open_goal(0, 2, 1, 1e-30), open_goal(0, 1, 1, 1e-9)};
    give_trials(prospects, GOALS, TRIALS);
    const double least = TRIALS / 5.0 / GOAL_SHARE;
    assert_true(prospects[1].trials >= least - 1 && prospects[1].trials <= least + 1);
    assert_true(prospects[2].trials >= 2 * least - 1 && prospects[2].trials <= 2 * least + 2);
    assert_true(prospects[0].trials > 2 * TRIALS / 3);
}

static void closed_goals_get_none(void **state) {
    (void)state;
    struct goal_prospect prospects[] = {{0}, open_goal(90, 1, 1, 0), {.trials = 400, .gain = 9}};
    assert_int_equal(goal_choose(prospects, 3), 1);
    prospects[1].open = false;
    assert_int_equal(goal_choose(prospects, 3), -1);
    assert_int_equal(goal_choose(prospects, 0), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_trials_are_in_turn),
        cmocka_unit_test(an_unknown_goal_is_first),
        cmocka_unit_test(the_most_gain_a_second_is_next),
        cmocka_unit_test(no_goal_starves),
        cmocka_unit_test(closed_goals_get_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
