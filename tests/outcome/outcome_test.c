#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "outcome/outcome.h"

static void every_verdict_has_its_name(void **state) {
    (void)state;
    for (int verdict = 0; verdict < VERDICT_COUNT; verdict++) {
        assert_non_null(verdict_name(verdict));
        assert_int_equal(verdict_parse(verdict_name(verdict)), verdict);
    }
    assert_int_equal(verdict_parse("fine"), -1);
    assert_int_equal(verdict_parse(""), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_verdict_has_its_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
