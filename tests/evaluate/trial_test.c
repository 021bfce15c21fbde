#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include "evaluate/trial.h"

static struct trial_result result, other;

static void request_initialises_result(void **state) {
    (void)state;
    struct trial_request request = {.number = 7, .goal = 2, .genome = {{3, 1, 4}}};
    memset(&result, 0x55, sizeof result);
    trial_result_init(&result, &request);
    assert_int_equal(result.number, 7);
    assert_int_equal(result.goal, 2);
    assert_true(genome_equal(&result.genome, &request.genome));
    assert_int_equal(result.opponent, -1);
    assert_int_equal(result.gate_count + result.case_result_count + result.outcome.case_count, 0);
    trial_result_release(&result);
}

static void result_moves_with_its_keys(void **state) {
    (void)state;
    result = (struct trial_result){.number = 7};
    result.has_key = true;
    key_set(&result.key, KEY_DEVICE, "a device");
    key_set(&result.opponent_key, KEY_DEVICE, "another");
    outcome_set_cases(&result.outcome, 2);
    result.outcome.cases[1].ctas = 12;
    trial_result_set_case_results(&result, 2);
    result.case_results[1].ratio = 0.5;
    memset(&other, 0x55, sizeof other);
    trial_result_move(&other, &result);
    assert_false(result.has_key);
    assert_null(result.outcome.cases);
    trial_result_release(&result); /* owns nothing */
    assert_true(other.has_key);
    assert_int_equal(other.number, 7);
    assert_string_equal(other.key.parts[KEY_DEVICE], "a device");
    assert_string_equal(other.opponent_key.parts[KEY_DEVICE], "another");
    assert_int_equal(other.outcome.case_count, 2);
    assert_int_equal(other.outcome.cases[1].ctas, 12);
    assert_int_equal(other.case_result_count, 2);
    assert_true(other.case_results[1].ratio == 0.5);
    trial_result_release(&other);
}

static void quoted_controls_are_blanked(void **state) {
    (void)state;
    result = (struct trial_result){0};
    trial_add_gate(&result, "compile", false, 0, "%s", "kernel.cu(1): error: \033[2Jgone\r");
    trial_set_verdict(&result, VERDICT_COMPILE_FAILED, "\"\033[31m\"\x7f: \xc3\xa4");
    assert_string_equal(result.gates[0].text, "kernel.cu(1): error:  [2Jgone ");
    assert_string_equal(result.outcome.reason, "\" [31m\" : \xc3\xa4");
    trial_result_release(&result);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(request_initialises_result),
                                       cmocka_unit_test(result_moves_with_its_keys),
                                       cmocka_unit_test(quoted_controls_are_blanked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
