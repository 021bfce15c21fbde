#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "trial/posts.h"

static void begin(struct posts *posts, int count) {
    struct device_list list = {.count = count};
    struct error error = {0};
    for (int p = 0; p < count; p++)
        snprintf(list.specs[p], sizeof list.specs[p], "cuda:%d", p);
    posts_init(posts, &list);
    assert_int_equal(posts_first(posts), -1);
    for (int p = 0; p < count; p++) {
        struct device_info info = {.name = "NVIDIA H200", .compute_capability = 90};
        assert_false(posts_all_known(posts));
        strcpy(info.spec, list.specs[p]);
        assert_int_equal(posts_take(posts, p, &info, &error), 0);
    }
    assert_true(posts_all_known(posts));
    assert_int_equal(posts_left(posts), count);
}

/* Number of lost trials in a row after which the first device fails; -1: not within 1000. */
static int patience(struct posts *posts) {
    struct error error = {0};
    for (int i = 1; i <= 1000; i++)
        if (posts_note(posts, 0, i % 2 == 0 ? VERDICT_CRASHED : VERDICT_TIMEOUT, &error) < 0) {
            assert_non_null(strstr(error.text, "crashed or hung"));
            return i;
        }
    return -1;
}

static void note(struct posts *posts, int post, enum verdict verdict, int times) {
    struct error error = {0};
    for (int i = 0; i < times; i++)
        assert_int_equal(posts_note(posts, post, verdict, &error), 0);
}

static void crashes_that_the_others_do_not_have_are_the_devices(void **state) {
    (void)state;
    struct posts posts;
    begin(&posts, 2);
    note(&posts, 1, VERDICT_OK, 108); /* one crash in 110 by Laplace's rule */
    assert_int_equal(patience(&posts), 3);
    begin(&posts, 2);
    note(&posts, 1, VERDICT_OK, 49); /* half of them crash anywhere */
    note(&posts, 1, VERDICT_CRASHED, 7);
    note(&posts, 1, VERDICT_WRONG, 1);
    note(&posts, 1, VERDICT_CRASHED, 7);
    note(&posts, 1, VERDICT_OK, 34);
    assert_in_range(patience(&posts), 6, 8);
}

static void crashes_of_all_are_the_candidates(void **state) {
    (void)state;
    struct posts posts;
    begin(&posts, 3);
    for (int i = 0; i < 1000; i++)
        note(&posts, i % 3, VERDICT_CRASHED, 1);
}

static void one_success_begins_anew(void **state) {
    (void)state;
    struct posts posts;
    begin(&posts, 2);
    note(&posts, 1, VERDICT_OK, 98);
    for (int i = 0; i < 100; i++) {
        note(&posts, 0, VERDICT_CRASHED, 2);
        note(&posts, 0, VERDICT_OK, 1);
    }
}

static void the_last_device_has_no_bad_luck(void **state) {
    (void)state;
    struct posts posts;
    begin(&posts, 2);
    note(&posts, 1, VERDICT_OK, 98);
    posts.items[1].set_aside = true;
    assert_int_equal(patience(&posts), -1);
    begin(&posts, 1);
    assert_int_equal(patience(&posts), -1);
}

static void another_model_is_refused(void **state) {
    (void)state;
    struct posts posts;
    struct error error = {0};
    const struct device_info other = {.spec = "cuda:1", .name = "NVIDIA L4"};
    begin(&posts, 2);
    assert_int_equal(posts_take(&posts, 1, &other, &error), -1);
    assert_int_equal(error.kind, ERROR_INPUT);
    assert_non_null(strstr(error.text, "cuda:0 is NVIDIA H200 and cuda:1 is NVIDIA L4"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crashes_that_the_others_do_not_have_are_the_devices),
        cmocka_unit_test(crashes_of_all_are_the_candidates),
        cmocka_unit_test(one_success_begins_anew),
        cmocka_unit_test(the_last_device_has_no_bad_luck),
        cmocka_unit_test(another_model_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
