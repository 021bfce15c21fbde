/* Whole trials of calls of 0.4 ms and more, on a device with scripted latencies. The champion has
   blocks of 32 threads, its challengers of 64. */
#include "evaluate/scripted.h"

#include "evaluate/evaluation.h"
#include "evaluate/timing_budget.h"

#include <math.h>

enum { CHAMPION = 1, CHALLENGER = 2 }; /* warps per block */

#define CHAMPION_US 400.0

static struct trial_request make_challenge(struct scripted *it) {
    struct trial_request request = scripted_request(it, "THREADS=64");
    request.champion_us = CHAMPION_US;
    request.opponent = (struct trial_opponent){
        .present = true, .trial = 7, .genome = scripted_genome(it, "THREADS=32")};
    return request;
}

/* Runs a challenger of `us` against the champion; the caller releases the result. Returns the
   number of warm samples, each of which is one call. */
static int challenge_at(struct scripted *it, double us, struct trial_result *result) {
    struct trial_request request = make_challenge(it);
    int samples = it->warm_samples;
    it->warm_us[CHAMPION] = CHAMPION_US;
    it->warm_us[CHALLENGER] = us;
    scripted_run_trial(it, &request, result);
    return it->warm_samples - samples;
}

static struct champion_timings *timings_of(struct scripted *it) {
    return &it->evaluator->timings[0];
}

static void forget_champion(struct scripted *it) {
    *timings_of(it) = (struct champion_timings){0};
}

static void remember_champion(struct scripted *it, double load_ratio, double full_ratio) {
    *timings_of(it) = (struct champion_timings){
        .load_ratio = load_ratio, .race_ratio = load_ratio, .full_ratio = full_ratio};
}

static const struct latency *warm_of(const struct trial_result *result) {
    return &result->outcome.cases[0].warm;
}

static void first_call_drops_hopeless_candidate(void **state) {
    struct trial_result result;
    int samples = challenge_at(*state, 5 * CHAMPION_US, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_true(result.outcome.raced);
    assert_int_equal(samples, 1);
    assert_int_equal(warm_of(&result)->sample_count, 1);
    assert_true(fabs(result.outcome.score_us - 5 * CHAMPION_US) < 1);
    trial_result_release(&result);
}

static void race_drops_slower_candidate(void **state) {
    struct trial_result result;
    int samples = challenge_at(*state, 1.1 * CHAMPION_US, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_true(result.outcome.raced);
    assert_in_range(samples, 5, 40e3 / (1.1 * CHAMPION_US)); /* 40 ms */
    assert_int_equal(warm_of(&result)->sample_count, 5);
    trial_result_release(&result);
}

static void near_candidate_is_timed_until_its_samples_suffice(void **state) {
    struct trial_result result;
    challenge_at(*state, 1.03 * CHAMPION_US, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_false(result.outcome.raced);
    assert_in_range(warm_of(&result)->sample_count, 10, 50);
    assert_in_range(result.outcome.cases[0].cold.sample_count, 2, 10);
    assert_int_equal(result.outcome.cases[0].placements.count, 0);
    trial_result_release(&result);
}

static void champion_is_timed_in_turns_over_placements(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    it->spread = 0.01;
    challenge_at(it, 0.8 * CHAMPION_US, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_int_equal(result.outcome.duel.result, DUEL_WON);
    assert_int_equal(result.outcome.cases[0].placements.count, 5);
    assert_in_range(warm_of(&result)->sample_count, 50, 60);
    assert_true(fabs(result.outcome.cases[0].placements.most_us /
                         result.outcome.cases[0].placements.least_us -
                     1.04) < 0.003);
    trial_result_release(&result);
    it->spread = 0;
}

/* Until it is known that the last champion was no slower under steady load, 100 ms of it come
   before the samples. */
static void load_comes_before_the_samples(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    forget_champion(it);
    int steady = challenge_at(it, 1.03 * CHAMPION_US, &result);
    trial_result_release(&result);
    remember_champion(it, 1, 1);
    int cool = challenge_at(it, 1.03 * CHAMPION_US, &result);
    trial_result_release(&result);
    forget_champion(it);
    assert_true((steady - cool) * CHAMPION_US * 1.25 > BUDGET_SETTLED_AFTER_US - 2e4);
}

/* The champion took a fifth longer under steady load than before it; a race comes before it. */
static void race_compares_what_is_alike(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    remember_champion(it, 1.2, 1);
    challenge_at(it, 1.08 * CHAMPION_US / 1.2, &result);
    assert_true(result.outcome.raced);
    assert_true(fabs(result.outcome.score_us / CHAMPION_US - 1.08) < 0.001);
    trial_result_release(&result);
    challenge_at(it, 1.03 * CHAMPION_US / 1.2, &result);
    assert_false(result.outcome.raced);
    trial_result_release(&result);
    forget_champion(it);
}

/* The champion's final timing was a tenth slower than its full timing: so would be a candidate's.
 */
static void full_timing_is_compared_with_a_final_one(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    remember_champion(it, 1.08, 1.1);
    challenge_at(it, 0.94 * CHAMPION_US, &result);
    assert_false(result.outcome.raced);
    assert_int_equal(result.outcome.duel.result, DUEL_NONE);
    assert_true(fabs(result.outcome.score_us / CHAMPION_US - 0.94 * 1.1) < 0.001);
    assert_true(fabs(warm_of(&result)->p50_us / CHAMPION_US - 0.94) < 0.001);
    trial_result_release(&result);
    forget_champion(it);
    challenge_at(it, 0.9 * CHAMPION_US, &result);
    assert_int_equal(result.outcome.duel.result, DUEL_WON);
    assert_true(fabs(timings_of(it)->full_ratio - 1) < 0.001); /* nothing slows it down */
    trial_result_release(&result);
    forget_champion(it);
}

/* Load made the champion 4 % slower: too little for load in full timings, whose score is that of
   one with load. */
static void full_timing_without_load_is_compared(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    remember_champion(it, 1.04, 1.02);
    challenge_at(it, 0.98 * CHAMPION_US, &result);
    assert_false(result.outcome.raced);
    assert_true(fabs(result.outcome.score_us / CHAMPION_US - 0.98 * 1.04 * 1.02) < 0.001);
    trial_result_release(&result);
    forget_champion(it);
}

/* ---- at the power limit ---- */

/* As fast as the champion at one clock, but it needs so much more power that it is slower. */
static void hungry_candidate_is_dropped_under_load(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    remember_champion(it, 1.1, 1);
    it->power_slows[CHALLENGER] = 0.3;
    int samples = challenge_at(it, 0.95 * CHAMPION_US, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_true(result.outcome.raced);
    assert_true(fabs(result.outcome.score_us / CHAMPION_US - 0.95 * 1.3) < 0.001);
    assert_in_range(samples, BUDGET_SETTLED_AFTER_US / 600, 2 * BUDGET_SETTLED_AFTER_US / 300);
    trial_result_release(&result);
    it->power_slows[CHALLENGER] = 0;
    forget_champion(it);
}

static const struct trial_gate *find_gate(const struct trial_result *result, const char *name) {
    for (int i = 0; i < result->gate_count; i++)
        if (strcmp(result->gates[i].name, name) == 0)
            return &result->gates[i];
    return NULL;
}

/* It wins at one clock, but not where each side has its own. */
static void hungry_candidate_is_no_champion(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    remember_champion(it, 1.1, 1);
    it->power_slows[CHALLENGER] = 0.065;
    challenge_at(it, 0.95 * CHAMPION_US, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_false(result.outcome.raced);
    assert_non_null(find_gate(&result, "settled duel"));
    assert_int_equal(result.outcome.duel.result, DUEL_LOST);
    assert_true(fabs(result.outcome.duel.ratio - 0.95 * 1.065) < 0.001);
    assert_true(result.outcome.score_us > CHAMPION_US);
    assert_null(find_gate(&result, "final timing"));
    trial_result_release(&result);
    it->power_slows[CHALLENGER] = 0;
    forget_champion(it);
}

/* The champion loses a tenth of its clock, the candidate nothing: it is slower at one clock only.
 */
static void lean_candidate_becomes_champion(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    struct trial_request request = make_challenge(it);
    remember_champion(it, 1.1, 1);
    request.champion_us = 1.1 * CHAMPION_US;
    it->warm_us[CHALLENGER] = 1.02 * CHAMPION_US;
    it->power_slows[CHAMPION] = 0.1;
    scripted_run_trial(it, &request, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_int_equal(result.outcome.duel.result, DUEL_WON);
    assert_true(fabs(result.outcome.duel.ratio - 1.02 / 1.1) < 0.001);
    assert_true(fabs(result.outcome.score_us / CHAMPION_US - 1.02) < 0.001);
    assert_true(fabs(timings_of(it)->load_ratio - 1) < 0.001);
    trial_result_release(&result);
    it->power_slows[CHAMPION] = 0;
    forget_champion(it);
}

/* Settled duels have taken more than their share of the search: a loser stays one, but no winner
   that needs too much power becomes champion for that. */
static void only_winners_settle_beyond_the_share(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    struct trial_request request = make_challenge(it);
    it->evaluator->settled_s = 1e6;
    remember_champion(it, 1.1, 1);
    request.champion_us = 1.1 * CHAMPION_US;
    it->warm_us[CHALLENGER] = 1.02 * CHAMPION_US;
    it->power_slows[CHAMPION] = 0.1;
    scripted_run_trial(it, &request, &result);
    assert_int_equal(result.outcome.duel.result, DUEL_LOST);
    assert_null(find_gate(&result, "settled duel"));
    trial_result_release(&result);
    it->power_slows[CHAMPION] = 0;
    it->power_slows[CHALLENGER] = 0.065;
    remember_champion(it, 1.1, 1);
    challenge_at(it, 0.95 * CHAMPION_US, &result);
    assert_non_null(find_gate(&result, "settled duel"));
    assert_int_equal(result.outcome.duel.result, DUEL_LOST);
    trial_result_release(&result);
    it->power_slows[CHALLENGER] = it->evaluator->settled_s = 0;
    forget_champion(it);
}

/* Both slow down alike: settled sides are left out, unless a full timing seems to disagree; and
   then their few blocks do not replace the ratio of many alternating ones. */
static void settled_duel_is_where_it_matters(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    struct trial_request request = make_challenge(it);
    request.champion_us = 1.1 * CHAMPION_US;
    it->power_slows[CHAMPION] = it->power_slows[CHALLENGER] = 0.1;
    remember_champion(it, 1.1, 1);
    it->warm_us[CHALLENGER] = 0.95 * CHAMPION_US;
    scripted_run_trial(it, &request, &result);
    assert_int_equal(result.outcome.duel.result, DUEL_WON);
    assert_null(find_gate(&result, "settled duel"));
    trial_result_release(&result);
    remember_champion(it, 1.1, 1.05); /* its full timing was too fast by a twentieth */
    it->warm_us[CHALLENGER] = 0.94 * CHAMPION_US;
    scripted_run_trial(it, &request, &result);
    const struct trial_gate *gate = find_gate(&result, "settled duel");
    assert_non_null(gate);
    assert_non_null(strstr(gate->text, "in agreement with 0.9400 at one clock"));
    assert_int_equal(result.outcome.duel.result, DUEL_WON);
    assert_int_equal(result.outcome.duel.blocks, 10); /* not 4 */
    trial_result_release(&result);
    remember_champion(it, 1.1, 1);
    it->warm_us[CHALLENGER] = 1.01 * CHAMPION_US;
    scripted_run_trial(it, &request, &result);
    assert_int_equal(result.outcome.duel.result, DUEL_LOST);
    assert_null(find_gate(&result, "settled duel"));
    trial_result_release(&result);
    it->power_slows[CHAMPION] = it->power_slows[CHALLENGER] = 0;
    remember_champion(it, 1, 1);
    challenge_at(it, 0.95 * CHAMPION_US, &result);
    assert_int_equal(result.outcome.duel.result, DUEL_WON);
    assert_null(find_gate(&result, "settled duel"));
    trial_result_release(&result);
    forget_champion(it);
}

/* A duel that was asked for compares settled sides in every block. */
static void requested_duel_settles(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    struct trial_request request = make_challenge(it);
    request.full = true;
    request.duel_blocks = 5;
    it->warm_us[CHAMPION] = it->warm_us[CHALLENGER] = CHAMPION_US;
    it->power_slows[CHALLENGER] = 0.05;
    scripted_run_trial(it, &request, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_int_equal(result.outcome.duel.result, DUEL_LOST);
    assert_true(fabs(result.outcome.duel.ratio - 1.05) < 0.001);
    assert_true(fabs(result.case_results[0].p50_us / CHAMPION_US - 1.05) < 0.001);
    trial_result_release(&result);
    it->power_slows[CHALLENGER] = 0;
    forget_champion(it);
}

/* A champion's final timing finds that ratio: its samples slow down by a tenth while it is loaded.
 */
static void final_timing_finds_the_ratio(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    struct trial_request request = scripted_request(it, "THREADS=64");
    request.full = true;
    it->warm_us[CHALLENGER] = CHAMPION_US;
    it->slower_after = it->warm_samples + 50;
    scripted_run_trial(it, &request, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_true(fabs(timings_of(it)->load_ratio - 1.1) < 0.001);
    assert_true(fabs(result.outcome.score_us / CHAMPION_US - 1.1) < 0.001);
    trial_result_release(&result);
    it->slower_after = 0;
    forget_champion(it);
}

/* A kernel that waits once the GPU is loaded becomes champion, to make every other one lose its
   race: one that is faster than it under load still passes. */
static void waiting_under_load_spoils_no_race(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    struct trial_request request = scripted_request(it, "THREADS=64");
    request.full = true;
    it->warm_us[CHALLENGER] = CHAMPION_US;
    it->slower_by = 4;
    it->slower_after = it->warm_samples + 50;
    scripted_run_trial(it, &request, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_true(fabs(result.outcome.score_us / CHAMPION_US - 5) < 0.01);
    trial_result_release(&result);
    it->slower_by = 0.1;
    it->slower_after = 0;
    request = make_challenge(it);
    request.champion_us = 5 * CHAMPION_US;
    it->warm_us[CHALLENGER] = 2 * CHAMPION_US;
    scripted_run_trial(it, &request, &result);
    assert_false(result.outcome.raced);
    trial_result_release(&result);
    forget_champion(it);
}

/* The clock changes at every moment of a trial: the median is that of one state, and at most a
   quarter of the samples are of another one. */
static void samples_are_of_one_state(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    const double us = 1.04 * CHAMPION_US;
    int mixed = 0, timed = 0;
    remember_champion(it, 1, 1);
    int samples = challenge_at(it, us, &result);
    trial_result_release(&result);
    for (int after = 1; after < samples; after++) {
        it->slower_after = it->warm_samples + after;
        challenge_at(it, us, &result);
        if (!result.outcome.raced) {
            double p50_us = warm_of(&result)->p50_us;
            assert_true(fabs(p50_us / us - 1) < 0.01 || fabs(p50_us / us - 1.1) < 0.01);
            mixed += warm_of(&result)->p90_us > 1.05 * warm_of(&result)->p10_us;
            timed++;
        }
        trial_result_release(&result);
    }
    assert_in_range(timed, 10, samples);
    assert_in_range(mixed, 0, 8);
    it->slower_after = 0;
    forget_champion(it);
}

static void kept_results_are_found(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    it->keeps_results = true;
    challenge_at(it, 1.02 * CHAMPION_US, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_WRONG);
    assert_non_null(strstr(result.outcome.reason, "keeps results between calls: wrong after"));
    trial_result_release(&result);
    it->keeps_results = false;
}

static void skipped_calls_are_found(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    it->skips_timed_calls = true;
    challenge_at(it, 1.02 * CHAMPION_US, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_WRONG);
    trial_result_release(&result);
    it->skips_timed_calls = false;
}

static int open_device(void **state) {
    static struct scripted it;
    /* The emulated device needs more than 50 us for it: no call that it ends sooner is long. */
    scripted_open(&it, "{ \"template\": \"scaled_add\", \"device\": \"" TINY_DEVICE "\",\n"
                       "  \"cases\": [{\"ROWS\": 64, \"COLS\": 400}] }");
    it.warm_us[CHAMPION] = CHAMPION_US;
    for (int w = 0; w < SCRIPTED_WARPS_MAX; w++)
        it.cold_us[w] = CHAMPION_US;
    *state = &it;
    return 0;
}

static int close_device(void **state) {
    scripted_close(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_call_drops_hopeless_candidate),
        cmocka_unit_test(race_drops_slower_candidate),
        cmocka_unit_test(near_candidate_is_timed_until_its_samples_suffice),
        cmocka_unit_test(champion_is_timed_in_turns_over_placements),
        cmocka_unit_test(load_comes_before_the_samples),
        cmocka_unit_test(race_compares_what_is_alike),
        cmocka_unit_test(full_timing_is_compared_with_a_final_one),
        cmocka_unit_test(full_timing_without_load_is_compared),
        cmocka_unit_test(hungry_candidate_is_dropped_under_load),
        cmocka_unit_test(hungry_candidate_is_no_champion),
        cmocka_unit_test(lean_candidate_becomes_champion),
        cmocka_unit_test(only_winners_settle_beyond_the_share),
        cmocka_unit_test(settled_duel_is_where_it_matters),
        cmocka_unit_test(requested_duel_settles),
        cmocka_unit_test(final_timing_finds_the_ratio),
        cmocka_unit_test(waiting_under_load_spoils_no_race),
        cmocka_unit_test(samples_are_of_one_state),
        cmocka_unit_test(kept_results_are_found),
        cmocka_unit_test(skipped_calls_are_found),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
