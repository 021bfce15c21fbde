/* Trials of a template whose genes change how much a call computes, on a device with scripted
   latencies: the race, the score and the duel compare the time of the same work. The champion has
   blocks of 32 threads and half the operations of a challenger, which has blocks of 64. */
#include "evaluate/scripted.h"

#include <math.h>

enum { CHAMPION = 1, CHALLENGER = 2 }; /* warps per block */

#define CHAMPION_US 10.0

static struct expression *operations;

static double score_of(double us, int threads) {
    return us / (1000 * threads * 1e-9);
}

/* Gives a template other operations, and the objective. */
static void count_operations(struct template *template) {
    struct error error = {0};
    if (operations == NULL)
        operations = expression_parse("1000 * THREADS", &template->space->symbols, &error);
    assert_non_null(operations);
    template->operations = operations;
    template->objective = MINIMISED_OPERATIONS;
}

static void challenge_at(struct scripted *it, double us, struct trial_result *result) {
    struct trial_request request = scripted_request(it, "THREADS=64");
    request.champion_us = score_of(CHAMPION_US, 32);
    request.opponent = (struct trial_opponent){
        .present = true, .trial = 7, .genome = scripted_genome(it, "THREADS=32")};
    it->warm_us[CHAMPION] = CHAMPION_US;
    it->warm_us[CHALLENGER] = us;
    scripted_run_trial(it, &request, result);
    assert_int_equal(result->outcome.verdict, VERDICT_OK);
}

static void assert_near(double value, double expected) {
    if (fabs(value / expected - 1) > 0.01)
        fail_msg("%g is not %g", value, expected);
}

static void more_work_wins_a_duel(void **state) {
    struct trial_result result;
    challenge_at(*state, 1.5 * CHAMPION_US, &result);
    assert_int_equal(result.outcome.duel.result, DUEL_WON);
    assert_near(result.outcome.duel.ratio, 0.75);
    assert_near(result.outcome.score_us, score_of(15, 64));
    assert_near(result.outcome.cases[0].warm.p50_us, 15); /* a latency stays one */
    assert_near(minimised_score(&result.outcome, MINIMISED_OPERATIONS), score_of(15, 64));
    trial_result_release(&result);
}

static void same_rate_is_undecided(void **state) {
    struct trial_result result;
    challenge_at(*state, 2 * CHAMPION_US, &result);
    assert_int_equal(result.outcome.duel.result, DUEL_UNDECIDED);
    assert_true(result.outcome.score_us > score_of(CHAMPION_US, 32));
    trial_result_release(&result);
}

static void race_counts_work(void **state) {
    struct trial_result result;
    challenge_at(*state, 2.8 * CHAMPION_US, &result); /* 1.4 of the time of the same work */
    assert_true(result.outcome.raced);
    assert_near(result.outcome.score_us, score_of(28, 64));
    trial_result_release(&result);
}

/* Where the genomes are the other way round, the faster call loses. */
static void less_work_loses(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    struct trial_request request = scripted_request(it, "THREADS=32");
    request.champion_us = score_of(15, 64);
    request.opponent = (struct trial_opponent){
        .present = true, .trial = 7, .genome = scripted_genome(it, "THREADS=64")};
    it->warm_us[1] = 7.6;
    it->warm_us[2] = 15;
    scripted_run_trial(it, &request, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_int_equal(result.outcome.duel.result, DUEL_LOST);
    assert_near(result.outcome.duel.ratio, 7.6 / 7.5);
    trial_result_release(&result);
}

/* So does the p90 of a requested duel; the figures in microseconds stay what they are. */
static void p90_counts_work(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    struct trial_request request = scripted_request(it, "THREADS=64");
    request.full = true;
    request.duel_blocks = 10;
    request.opponent = (struct trial_opponent){
        .present = true, .trial = 7, .genome = scripted_genome(it, "THREADS=32")};
    it->warm_us[CHAMPION] = CHAMPION_US;
    it->warm_us[CHALLENGER] = 1.5 * CHAMPION_US;
    scripted_run_trial(it, &request, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    const struct case_result *one = &result.case_results[0];
    assert_near(one->p90_us / one->rival_p90_us, 1.5);
    assert_near(one->ratio, 0.75);
    assert_near(one->p90_ratio, 0.75);
    trial_result_release(&result);
}

static int open_work(void **state) {
    static struct scripted it;
    struct error error = {0};
    scripted_open(&it, SCRIPTED_CONFIG "}");
    it.settings.minimise = MINIMISED_OPERATIONS;
    count_operations(it.template);
    count_operations((struct template *)compiler_template(it.compiler, 0, &error));
    *state = &it;
    return 0;
}

static int close_work(void **state) {
    scripted_close(*state);
    expression_free(operations);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_work_wins_a_duel), cmocka_unit_test(same_rate_is_undecided),
        cmocka_unit_test(race_counts_work),      cmocka_unit_test(less_work_loses),
        cmocka_unit_test(p90_counts_work),
    };
    return cmocka_run_group_tests(tests, open_work, close_work);
}
