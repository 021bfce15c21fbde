#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "pool/device_slots.h"

static void init_slots(struct device_slots *slots, int count) {
    struct device_list list = {.count = count};
    struct error error = {0};
    for (int p = 0; p < count; p++)
        snprintf(list.specs[p], sizeof list.specs[p], "cuda:%d", p);
    device_slots_init(slots, &list);
    assert_int_equal(device_slots_first_active(slots), -1);
    for (int p = 0; p < count; p++) {
        struct device_info info = {.name = "NVIDIA H200", .compute_capability = 90};
        assert_false(device_slots_all_described(slots));
        strcpy(info.spec, list.specs[p]);
        assert_int_equal(device_slots_describe(slots, p, &info, &error), 0);
    }
    assert_true(device_slots_all_described(slots));
    assert_int_equal(device_slots_active_count(slots), count);
}

/* Number of lost trials in a row after which the first device fails; -1: not within 1000. */
static int crashes_until_quarantine(struct device_slots *slots) {
    struct error error = {0};
    for (int i = 1; i <= 1000; i++)
        if (device_slots_record_trial(slots, 0, i % 2 == 0 ? VERDICT_CRASHED : VERDICT_TIMEOUT,
                                      &error) < 0) {
            assert_non_null(strstr(error.text, "crashed or hung"));
            return i;
        }
    return -1;
}

static void record_trials(struct device_slots *slots, int slot, enum verdict verdict, int times) {
    struct error error = {0};
    for (int i = 0; i < times; i++)
        assert_int_equal(device_slots_record_trial(slots, slot, verdict, &error), 0);
}

static void device_with_more_crashes_fails(void **state) {
    (void)state;
    struct device_slots slots;
    init_slots(&slots, 2);
    record_trials(&slots, 1, VERDICT_OK, 108); /* one crash in 110 by Laplace's rule */
    assert_int_equal(crashes_until_quarantine(&slots), 3);
    init_slots(&slots, 2);
    record_trials(&slots, 1, VERDICT_OK, 49); /* half of them crash anywhere */
    record_trials(&slots, 1, VERDICT_CRASHED, 7);
    record_trials(&slots, 1, VERDICT_WRONG, 1);
    record_trials(&slots, 1, VERDICT_CRASHED, 7);
    record_trials(&slots, 1, VERDICT_OK, 34);
    assert_in_range(crashes_until_quarantine(&slots), 6, 8);
}

static void crashes_on_all_devices_quarantine_none(void **state) {
    (void)state;
    struct device_slots slots;
    init_slots(&slots, 3);
    for (int i = 0; i < 1000; i++)
        record_trials(&slots, i % 3, VERDICT_CRASHED, 1);
}

static void success_resets_the_count(void **state) {
    (void)state;
    struct device_slots slots;
    init_slots(&slots, 2);
    record_trials(&slots, 1, VERDICT_OK, 98);
    for (int i = 0; i < 100; i++) {
        record_trials(&slots, 0, VERDICT_CRASHED, 2);
        record_trials(&slots, 0, VERDICT_OK, 1);
    }
}

static void last_device_is_never_quarantined(void **state) {
    (void)state;
    struct device_slots slots;
    init_slots(&slots, 2);
    record_trials(&slots, 1, VERDICT_OK, 98);
    slots.items[1].quarantined = true;
    assert_int_equal(crashes_until_quarantine(&slots), -1);
    init_slots(&slots, 1);
    assert_int_equal(crashes_until_quarantine(&slots), -1);
}

static void other_model_is_rejected(void **state) {
    (void)state;
    struct device_slots slots;
    struct error error = {0};
    const struct device_info other = {.spec = "cuda:1", .name = "NVIDIA L4"};
    init_slots(&slots, 2);
    assert_int_equal(device_slots_describe(&slots, 1, &other, &error), -1);
    assert_int_equal(error.kind, ERROR_INPUT);
    assert_non_null(strstr(error.text, "cuda:0 is NVIDIA H200 and cuda:1 is NVIDIA L4"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_with_more_crashes_fails),
        cmocka_unit_test(crashes_on_all_devices_quarantine_none),
        cmocka_unit_test(success_resets_the_count),
        cmocka_unit_test(last_device_is_never_quarantined),
        cmocka_unit_test(other_model_is_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
