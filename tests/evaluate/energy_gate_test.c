/* Energy within whole trials: on a device with scripted latencies and a counter that follows its
   calls. */
#include "evaluate/scripted.h"

#include "evaluate/evaluation.h"

enum { CHAMPION = 1, CANDIDATE = 2 }; /* warps per block */

#define CHAMPION_US 100.0
#define IDLE_WATTS  100.0

/* The counter: every batch is 20 calls, of 3 timed replays and one more of 5 calls. */
static struct meter {
    struct scripted *it;
    double now_s, total_mj, call_mj;
    int samples; /* at the last reading */
    bool stands_still;
} meter;

static bool read_counter(void *context, double *now_s, double *changed_s, double *total_mj) {
    struct meter *of = context;
    double calls = 200.0 / 39 * (of->it->warm_samples - of->samples);
    of->samples = of->it->warm_samples;
    of->now_s += 0.02;
    of->total_mj += of->stands_still ? 0 : 20 * IDLE_WATTS + calls * of->call_mj;
    *now_s = *changed_s = of->now_s;
    *total_mj = of->total_mj;
    return true;
}

static void wait_a_little(void *context) {
    (void)context;
}

static void give_meter(struct scripted *it, double call_mj) {
    static const struct energy_counter counter = {
        .read = read_counter, .wait = wait_a_little, .context = &meter};
    meter = (struct meter){.it = it, .call_mj = call_mj, .samples = it->warm_samples};
    energy_meter_free(it->evaluator->energy_meter);
    it->evaluator->energy_meter = energy_meter_new_with_counter(&counter);
}

static const struct trial_gate *find_gate(const struct trial_result *result, const char *name) {
    for (int i = 0; i < result->gate_count; i++)
        if (strcmp(result->gates[i].name, name) == 0)
            return &result->gates[i];
    return NULL;
}

static struct trial_request make_request(struct scripted *it, double us, bool full) {
    struct trial_request request = scripted_request(it, "THREADS=64");
    it->warm_us[CHAMPION] = CHAMPION_US;
    it->warm_us[CANDIDATE] = us;
    request.full = full;
    return request;
}

static void a_final_timing_measures_energy(void **state) {
    struct scripted *it = *state;
    struct trial_request request = make_request(it, 99, true);
    struct trial_result result;
    give_meter(it, 30);
    scripted_run_trial(it, &request, &result);
    const struct energy *energy = &result.outcome.cases[0].energy;
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_true(fabs(energy->mj - 30) < 0.01);
    assert_true(energy->error < 0.001);
    assert_true(fabs(energy->idle_watts - IDLE_WATTS) < 0.1);
    assert_true(fabs(energy->watts - (IDLE_WATTS + 20 * 30 / 2.0)) < 1);
    assert_true(fabs(outcome_energy_mj(&result.outcome) - 30) < 0.01);
    assert_non_null(strstr(find_gate(&result, "energy")->text, "30 mJ a call"));
    assert_true(fabs(result.outcome.score_us - 99) < 0.1);
    trial_result_release(&result);
}

static void a_candidate_is_measured_only_as_champion(void **state) {
    struct scripted *it = *state;
    struct trial_request request = make_request(it, 110, false);
    struct trial_result result;
    give_meter(it, 30);
    request.champion_us = CHAMPION_US;
    scripted_run_trial(it, &request, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_null(find_gate(&result, "energy"));
    assert_true(result.outcome.cases[0].energy.mj == 0);
    trial_result_release(&result);
    it->warm_us[CANDIDATE] = 99;
    request.champion_us = 0;
    scripted_run_trial(it, &request, &result);
    assert_non_null(find_gate(&result, "energy"));
    assert_true(result.outcome.cases[0].energy.mj > 0);
    trial_result_release(&result);
}

static void short_calls_and_energy_ms_0_are_not_measured(void **state) {
    struct scripted *it = *state;
    struct trial_request request = make_request(it, 49, true);
    struct trial_result result;
    give_meter(it, 30);
    scripted_run_trial(it, &request, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_null(find_gate(&result, "energy"));
    trial_result_release(&result);
    it->warm_us[CANDIDATE] = 99;
    it->settings.timing.energy_ms = 0;
    scripted_run_trial(it, &request, &result);
    it->settings.timing.energy_ms = 300;
    assert_null(find_gate(&result, "energy"));
    trial_result_release(&result);
}

static void a_counter_that_stands_still_is_said(void **state) {
    struct scripted *it = *state;
    struct trial_request request = make_request(it, 99, true);
    struct trial_result result;
    give_meter(it, 30);
    meter.stands_still = true;
    scripted_run_trial(it, &request, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_true(result.outcome.cases[0].energy.mj == 0);
    assert_string_equal(find_gate(&result, "energy")->text, "measured for 0 of 1 cases");
    trial_result_release(&result);
}

/* A candidate of a search that minimises energy, against a champion of 30 mJ. */
static void challenge(struct scripted *it, double us, double call_mj, enum minimised minimised,
                      struct trial_result *result) {
    struct trial_request request = make_request(it, us, false);
    give_meter(it, call_mj);
    it->settings.minimise = minimised;
    request.champion_us = minimised == MINIMISED_ENERGY ? 30 : 30 * 99;
    request.opponent = (struct trial_opponent){
        .present = true, .trial = 7, .genome = scripted_genome(it, "THREADS=32")};
    scripted_run_trial(it, &request, result);
    it->settings.minimise = MINIMISED_LATENCY;
}

/* Neither race nor duel: a slow candidate may need less energy. */
static void a_slow_candidate_wins_by_energy(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    challenge(it, 99, 25, MINIMISED_ENERGY, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_null(find_gate(&result, "race"));
    assert_null(find_gate(&result, "duel"));
    assert_non_null(find_gate(&result, "final timing"));
    assert_int_equal(result.outcome.duel.result, DUEL_NONE);
    assert_int_equal(result.opponent, 7); /* the session asks for no duel */
    assert_true(fabs(result.outcome.score_us - 25) < 0.1);
    assert_string_not_equal(result.outcome.checks, "");
    trial_result_release(&result);
}

static void a_score_within_the_error_is_behind_the_champion(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    challenge(it, 99, 29.9, MINIMISED_ENERGY, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_true(result.outcome.score_us > 30 && result.outcome.score_us < 30.001);
    assert_true(fabs(result.outcome.cases[0].energy.mj - 29.9) < 0.1);
    assert_null(find_gate(&result, "final timing"));
    trial_result_release(&result);
    challenge(it, 99, 33, MINIMISED_ENERGY, &result);
    assert_true(fabs(result.outcome.score_us - 33) < 0.1);
    trial_result_release(&result);
}

static void the_product_counts_latency_too(void **state) {
    struct scripted *it = *state;
    struct trial_result result;
    challenge(it, 99, 27, MINIMISED_ENERGY_DELAY, &result);
    assert_int_equal(result.outcome.verdict, VERDICT_OK);
    assert_true(fabs(result.outcome.score_us / (99 * 27) - 1) < 0.01);
    assert_non_null(find_gate(&result, "final timing"));
    assert_non_null(strstr(find_gate(&result, "score")->text, "mJ us, 0.90"));
    trial_result_release(&result);
}

/* A requested trial is scored by latency, and measured all the same. */
static void a_requested_trial_is_scored_by_latency(void **state) {
    struct scripted *it = *state;
    struct trial_request request = make_request(it, 99, true);
    struct trial_result result;
    give_meter(it, 30);
    it->settings.minimise = MINIMISED_ENERGY;
    scripted_run_trial(it, &request, &result);
    it->settings.minimise = MINIMISED_LATENCY;
    assert_true(fabs(result.outcome.score_us - 99) < 0.1);
    assert_true(fabs(result.outcome.cases[0].energy.mj - 30) < 0.1);
    trial_result_release(&result);
}

static void a_score_needs_a_figure(void **state) {
    struct scripted *it = *state;
    struct trial_request request = make_request(it, 99, false);
    struct trial_result result;
    give_meter(it, 30);
    meter.stands_still = true;
    it->settings.minimise = MINIMISED_ENERGY;
    scripted_run_trial(it, &request, &result);
    it->settings.minimise = MINIMISED_LATENCY;
    assert_int_equal(result.outcome.verdict, VERDICT_TOO_SLOW);
    assert_non_null(strstr(result.outcome.reason, "energy counter gave no figure"));
    assert_true(result.outcome.score_us == 0);
    trial_result_release(&result);
}

static int open_device(void **state) {
    static struct scripted it;
    scripted_open(&it, SCRIPTED_CONFIG "}");
    *state = &it;
    return 0;
}

static int close_device(void **state) {
    scripted_close(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_final_timing_measures_energy),
        cmocka_unit_test(a_candidate_is_measured_only_as_champion),
        cmocka_unit_test(short_calls_and_energy_ms_0_are_not_measured),
        cmocka_unit_test(a_counter_that_stands_still_is_said),
        cmocka_unit_test(a_slow_candidate_wins_by_energy),
        cmocka_unit_test(a_score_within_the_error_is_behind_the_champion),
        cmocka_unit_test(the_product_counts_latency_too),
        cmocka_unit_test(a_requested_trial_is_scored_by_latency),
        cmocka_unit_test(a_score_needs_a_figure),
    };
    return cmocka_run_group_tests_name("energy_gate", tests, open_device, close_device);
}
