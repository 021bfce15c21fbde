/* The line of what a champion passed, from the gates of its trial. */
#include "evaluate/checks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static const struct device_info device = {.name = "NVIDIA H200"};

/* The gates of a champion on a GPU. */
static struct trial_result champion(void) {
    struct trial_result result = {0};
    trial_add_gate(&result, "compile", true, 0, "1 variant, 0 bytes spilled");
    trial_add_gate(&result, "probe cases", true, 0, "3 of 4 correct on 12 inputs");
    trial_add_gate(&result, "cases", true, 0, "2 of 2 correct on 9 inputs, error 3.0e-04");
    trial_add_gate(&result, "timing", true, 0, "9.000 us warm, 12.000 us cold");
    trial_add_gate(&result, "edge shapes", true, 0, "24 cases correct on 24 inputs, error 3e-04");
    trial_add_gate(&result, "hard inputs", true, 0, "2 cases correct on 16 inputs, error 3.0e-04");
    trial_add_gate(&result, "flush memory", true, 0, "2 cases correct on 8 fresh inputs, tensors");
    trial_add_gate(&result, "race checker", true, 0, "3 of 4 small cases without findings, and a");
    return result;
}

static void passed_gates_are_listed(void **state) {
    (void)state;
    struct trial_result result = champion();
    checks_record(&result, 45, UINT64_C(18446744073709551615), &device, REGIME_SUSTAINED);
    assert_string_equal(
        result.outcome.checks,
        "probe cases (3 of 4), cases (2 of 2), timed outputs, "
        "edge shapes (24 cases), hard inputs (2 cases), work carried over in flush memory (2 "
        "cases), race checker (3 of 4 small "
        "cases); 45 inputs of seed 18446744073709551615; NVIDIA H200; " TRIAL_METHOD ", sustained");
}

static void what_was_not_checked_is_said(void **state) {
    (void)state;
    struct trial_result result = champion();
    result.gate_count--;
    trial_add_gate(&result, "race checker", true, 0, "not checked: the PTX was not kept");
    checks_record(&result, 45, 1, &device, REGIME_SUSTAINED);
    assert_non_null(
        strstr(result.outcome.checks, "race checker (not checked: the PTX was not kept); 45"));
}

static void others_have_no_line(void **state) {
    (void)state;
    struct trial_result result = champion();
    strcpy(result.outcome.checks, "of an earlier outcome");
    result.gate_count--; /* a loser: its final checks did not run */
    checks_record(&result, 45, 1, &device, REGIME_SUSTAINED);
    assert_string_equal(result.outcome.checks, "");
    trial_add_gate(&result, "race checker", false, 0, "data race");
    checks_record(&result, 45, 1, &device, REGIME_SUSTAINED);
    assert_string_equal(result.outcome.checks, "");
    result = champion();
    trial_set_verdict(&result, VERDICT_CRASHED, "damaged other kernels");
    checks_record(&result, 45, 1, &device, REGIME_SUSTAINED);
    assert_string_equal(result.outcome.checks, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passed_gates_are_listed),
        cmocka_unit_test(what_was_not_checked_is_said),
        cmocka_unit_test(others_have_no_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
