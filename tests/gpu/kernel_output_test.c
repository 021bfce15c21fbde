/* What a candidate prints on a GPU: the driver writes it to the worker's standard output, and a
   failed assertion to its standard error. Both pass through the relay. */
#include "pool/kernel_output.h"

static void escape_sequences_are_shown(void **state) {
    (void)state;
    struct printed printed;
    print_and_capture("cuda:0", KERNEL("printf(\"%d\\033[2J\\rgone\\n\", ROWS);"), &printed);
    assert_non_null(strstr(printed.text, "6\\x1b[2J\\x0dgone\n"));
    assert_null(strchr(printed.text, '\033'));
    release_printed(&printed);
}

static void output_has_an_end(void **state) {
    (void)state;
    struct printed printed;
    print_and_capture("cuda:0", KERNEL("for (int i = 0; i < 300; ++i) printf(\"%0100d\\n\", i);"),
                      &printed);
    assert_in_range(printed.length, 1 << 20, (1 << 20) + 1000);
    assert_non_null(strstr(printed.text, "the rest is dropped"));
    release_printed(&printed);
}

int main(void) {
    struct error error = {0};
    struct device_info device;
    if (device_describe("cuda:0", &device, &error) < 0) {
        printf("no GPU: %s\n", error.text);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escape_sequences_are_shown),
        cmocka_unit_test(output_has_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
