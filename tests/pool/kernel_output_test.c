/* What a candidate prints: shown through its worker's relay (base/relay.h), with an end. */
#include "pool/kernel_output.h"

static void escape_sequences_are_shown(void **state) {
    (void)state;
    struct printed printed;
    print_and_capture(TINY_DEVICE, KERNEL("printf(\"%d\\033[2J\\rgone\\n\", ROWS);"), &printed);
    if (printed.result.outcome.verdict != VERDICT_OK)
        fail_msg("%s", printed.result.outcome.reason);
    assert_non_null(strstr(printed.text, "6\\x1b[2J\\x0dgone\n"));
    assert_null(strchr(printed.text, '\033'));
    release_printed(&printed);
}

/* Each launch prints 300 KB; the trial has many. */
static void output_has_an_end(void **state) {
    (void)state;
    struct printed printed;
    print_and_capture(TINY_DEVICE,
                      KERNEL("for (int i = 0; i < 3000; ++i) printf(\"%0100d\\n\", i);"), &printed);
    if (printed.result.outcome.verdict != VERDICT_OK)
        fail_msg("%s", printed.result.outcome.reason);
    assert_in_range(printed.length, 1 << 20, (1 << 20) + 1000);
    assert_non_null(strstr(printed.text, "the rest is dropped"));
    release_printed(&printed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escape_sequences_are_shown),
        cmocka_unit_test(output_has_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
