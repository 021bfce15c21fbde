/*
 * The comparison of tests/gpu/agree_test.c without a GPU: the emulated device agrees with itself
 * bit for bit, for a genome of each template and variant, and a changed output is detected.
 */
#include "emulated/agree.h"

#define EMULATED "emulated:sm_90"

/* NVRTC leaks memory when it is unloaded. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "detect_leaks=0";
}

static void it_agrees_with_itself(void **state) {
    (void)state;
    const struct agree_plan plan = {.one = EMULATED, .other = EMULATED, .share = 100, .jobs = 1};
    assert_int_equal(agree_all(&plan, stdout), 0);
}

/* Flips the lowest exponent bit of an f16 element. */
static void change_one(void *output, size_t bytes) {
    uint16_t *halves = output;
    halves[bytes / 4] ^= 0x0400;
}

static void a_difference_is_found(void **state) {
    (void)state;
    const struct agree_plan plan = {.one = EMULATED,
                                    .other = EMULATED,
                                    .share = 25,
                                    .jobs = 1,
                                    .only = "rows of softmax",
                                    .tamper = change_one};
    assert_int_equal(agree_all(&plan, stdout), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_agrees_with_itself),
        cmocka_unit_test(a_difference_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
