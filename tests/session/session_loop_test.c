/* The loop of a session on a scripted pool: what is asked, what must win a duel before it is
   champion, and when a run ends. */
#include "session/scripted_session.h"

#include <math.h>

static double faster_and_faster(int64_t trial) {
    return 100 - (double)trial;
}

static double slower_and_slower(int64_t trial) {
    return 100 + (double)trial;
}

/* Gains 2 % at trials 0, 4 and 9, and less than any two timings differ at each later one. */
static double sometimes_faster(int64_t trial) {
    return trial < 4 ? 100 : trial < 9 ? 98 : 96 - 0.01 * (double)(trial - 9);
}

/* The last request of a trial. */
static const struct trial_request *last_request(int64_t trial) {
    for (int i = scripted.count; i-- > 0;)
        if (scripted.requests[i].number == trial)
            return &scripted.requests[i];
    fail_msg("trial %lld was never submitted", (long long)trial);
    return NULL;
}

/* ---- champions ---- */

/* With four trials in flight each result is faster than a champion that its duel did not know. */
static void winner_duels_the_present_champion(void **state) {
    (void)state;
    enum { TRIALS = 12 };
    scripted_search("\"budget\": {\"trials\": 12}", 4, faster_and_faster);
    assert_int_equal(session.observed, TRIALS);
    assert_true(scripted.count > TRIALS); /* some ran again, against the new champion */
    assert_int_equal(scripted.champions[scripted.champion_count - 1].trial, TRIALS - 1);
    for (int i = 1; i < scripted.champion_count; i++) {
        const struct trial_champion *before = &scripted.champions[i - 1];
        const struct trial_request *won = last_request(scripted.champions[i].trial);
        assert_true(won->opponent.present);
        assert_int_equal(won->opponent.trial, before->trial);
        assert_true(genome_equal(&won->opponent.genome, &before->genome));
        assert_true(won->champion_us == before->score_us);
    }
}

static void loser_runs_once(void **state) {
    (void)state;
    scripted_search("\"budget\": {\"trials\": 12}", 4, slower_and_slower);
    assert_int_equal(scripted.count, 12);
    assert_int_equal(scripted.champion_count, 1);
    assert_int_equal(scripted.champions[0].trial, 0);
}

static void inputs_differ_between_trials(void **state) {
    (void)state;
    scripted_search("\"budget\": {\"trials\": 12}", 1, slower_and_slower);
    for (int i = 0; i < scripted.count; i++)
        for (int j = 0; j < i; j++)
            assert_int_not_equal(scripted.requests[i].seed, scripted.requests[j].seed);
}

/* ---- the end of a run ---- */

static void budget_is_exact(void **state) {
    (void)state;
    scripted_search("\"budget\": {\"trials\": 7}", 5, slower_and_slower);
    assert_int_equal(session.asked, 7);
    assert_int_equal(scripted.count, 7);
}

static void patience_counts_from_the_last_gain(void **state) {
    (void)state;
    scripted_search("\"budget\": {\"trials\": 60, \"patience\": 6}", 1, sometimes_faster);
    assert_int_equal(session.observed, 10 + 6); /* trial 9 is the tenth */
}

static void target_ends_the_run(void **state) {
    (void)state;
    scripted_search("\"budget\": {\"trials\": 60, \"target_us\": 91}", 1, faster_and_faster);
    assert_int_equal(session.observed, 10); /* trial 9 takes 91 us */
}

static void target_ratio_refers_to_the_default(void **state) {
    (void)state;
    scripted_search("\"budget\": {\"trials\": 60, \"target_ratio\": 1.25}", 1, faster_and_faster);
    assert_int_equal(session.observed,
                     21); /* the default is trial 0, at 100 us; trial 20 takes 80 us */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(winner_duels_the_present_champion, scripted_close),
        cmocka_unit_test_teardown(loser_runs_once, scripted_close),
        cmocka_unit_test_teardown(inputs_differ_between_trials, scripted_close),
        cmocka_unit_test_teardown(budget_is_exact, scripted_close),
        cmocka_unit_test_teardown(patience_counts_from_the_last_gain, scripted_close),
        cmocka_unit_test_teardown(target_ends_the_run, scripted_close),
        cmocka_unit_test_teardown(target_ratio_refers_to_the_default, scripted_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
