#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/random.h"
#include "outcome/scaling.h"

/* A grid bug: 8 times the batch takes 17 times as long. */
static void a_serialised_batch_is_flagged(void **state) {
    (void)state;
    const struct scaling_case cases[] = {{8e9, 8e6, 170}, {1e9, 1e6, 10}, {2e9, 2e6, 14}};
    struct scaling_flag flags[3];
    assert_int_equal(scaling_check(cases, 3, flags), 1);
    assert_int_equal(flags[0].from, 2);
    assert_int_equal(flags[0].to, 0);
    assert_true(fabs(flags[0].time_ratio - 170.0 / 14) < 1e-12);
    assert_true(fabs(flags[0].work_ratio - 4) < 1e-12);
}

/* Bytes grow while operations do not (memory-bound); and cases with equal work. */
static void bytes_or_operations_explain_growth(void **state) {
    (void)state;
    const struct scaling_case bytes[] = {{1e9, 1e6, 10}, {1e9, 4e6, 40}};
    const struct scaling_case equal[] = {{1e9, 1e6, 10}, {1e9, 1e6, 16}};
    const struct scaling_case unknown[] = {{0, 0, 10}, {1e9, 1e6, NAN}, {1e9, 1e6, 0}};
    struct scaling_flag flags[3];
    assert_int_equal(scaling_check(bytes, 2, flags), 0);
    assert_int_equal(scaling_check(equal, 2, flags), 1);
    assert_int_equal(scaling_check(unknown, 3, flags), 0);
    assert_int_equal(scaling_check(equal, 0, flags), 0);
}

/* Time = overhead + work / rate never grows faster than work, in any order of the cases; a case
   that is slowed down by a factor is flagged exactly if that factor exceeds the limit. */
static void proportional_kernels_pass_in_any_order(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 5, 1);
    for (int round = 0; round < 2000; round++) {
        struct scaling_case cases[CASES_MAX];
        struct scaling_flag flags[CASES_MAX];
        int count = 2 + (int)random_below(&random, CASES_MAX - 1);
        double overhead_us = 5 * random_uniform(&random);
        int largest = 0;
        for (int i = 0; i < count; i++) {
            double work = exp(20 * random_uniform(&random));
            cases[i] = (struct scaling_case){1e3 * work, work, overhead_us + 1e-3 * work};
            largest = work > cases[largest].bytes ? i : largest;
        }
        assert_int_equal(scaling_check(cases, count, flags), 0);
        int before = largest == 0 ? 1 : 0;
        for (int i = 0; i < count; i++)
            if (i != largest && cases[i].bytes > cases[before].bytes)
                before = i;
        double limit_us =
            SCALING_LIMIT * cases[before].time_us * cases[largest].bytes / cases[before].bytes;
        cases[largest].time_us = 0.99 * limit_us;
        assert_int_equal(scaling_check(cases, count, flags), 0);
        cases[largest].time_us = 1.01 * limit_us;
        assert_int_equal(scaling_check(cases, count, flags), 1);
        assert_int_equal(flags[0].from, before);
        assert_int_equal(flags[0].to, largest);
    }
}

static void counts_are_recovered_from_stored_rates(void **state) {
    (void)state;
    struct case_outcome outcome = {.warm.p50_us = 8, .tflops = 120, .gb_per_s = 500};
    struct scaling_case it = scaling_from_outcome(&outcome);
    assert_true(it.operations == 960e6 && it.bytes == 4e6 && it.time_us == 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_serialised_batch_is_flagged),
        cmocka_unit_test(bytes_or_operations_explain_growth),
        cmocka_unit_test(proportional_kernels_pass_in_any_order),
        cmocka_unit_test(counts_are_recovered_from_stored_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
