#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "outcome/outcome.h"

#include <string.h>

static void every_verdict_has_its_name(void **state) {
    (void)state;
    for (int verdict = 0; verdict < VERDICT_COUNT; verdict++) {
        assert_non_null(verdict_name(verdict));
        assert_int_equal(verdict_parse(verdict_name(verdict)), verdict);
    }
    assert_int_equal(verdict_parse("fine"), -1);
    assert_int_equal(verdict_parse(""), -1);
}

static bool is_all(const void *bytes, size_t size, unsigned char value) {
    const unsigned char *at = bytes;
    while (size > 0 && at[size - 1] == value)
        size--;
    return size == 0;
}

/* Of what lay there nothing is left but past the cases, where nothing is touched. */
static void only_its_cases_count(void **state) {
    static struct outcome from, to;
    size_t head = offsetof(struct outcome, cases);
    (void)state;
    memset(&from, 0x55, sizeof from);
    outcome_clear(&from);
    assert_true(is_all(&from, head, 0));
    for (int count = 0; count <= CASES_MAX; count += 1 + count) {
        size_t used = head + (size_t)count * sizeof *from.cases, past = sizeof from - used;
        memset(&from, 0x55, sizeof from);
        outcome_set_cases(&from, count);
        assert_int_equal(from.case_count, count);
        assert_true(is_all(from.cases, used - head, 0));
        assert_true(is_all((const char *)&from + used, past, 0x55));
        memset(from.cases, 0x33, used - head);
        memset(&to, 0xaa, sizeof to);
        outcome_copy(&to, &from);
        assert_memory_equal(&to, &from, used);
        assert_true(is_all((const char *)&to + used, past, 0xaa));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_verdict_has_its_name),
                                       cmocka_unit_test(only_its_cases_count)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
