/* Text in comments, strings and names of generated C. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/strbuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_wrap(void **state) {
    struct strbuf text = {0};
    char words[1024] = "";
    (void)state;
    for (int i = 0; i < 40; i++)
        sprintf(words + strlen(words), "GENE_%d=%d,", i, i * i);
    strbuf_add_wrapped(&text, " * ", words);
    char *joined = calloc(1, text.used + 1);
    for (char *line = strtok(text.bytes, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        assert_true(strlen(line) <= 100);
        assert_memory_equal(line, " * ", 3);
        strcat(joined, line + 3);
    }
    assert_string_equal(joined, words);
    free(joined);
    strbuf_release(&text);
}

/* A word longer than a line is not broken; line ends in the text are kept. */
static void test_wrap_long(void **state) {
    struct strbuf text = {0};
    char word[150];
    (void)state;
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    strbuf_add_wrapped(&text, "// ", word);
    assert_int_equal(text.used, 3 + sizeof word - 1 + 1);
    strbuf_release(&text);
    strbuf_add_wrapped(&text, "// ", "one\ntwo three");
    assert_string_equal(text.bytes, "// one\n// two three\n");
    strbuf_release(&text);
}

/* No text ends a comment or a string early. */
static void test_escapes(void **state) {
    struct strbuf text = {0};
    (void)state;
    strbuf_add_comment(&text, "a */ b **/", 10);
    assert_null(strstr(text.bytes, "*/"));
    strbuf_release(&text);
    strbuf_add_quoted(&text, "a \"b\" \\ c\n");
    assert_string_equal(text.bytes, "\"a \\\"b\\\" \\\\ c \"");
    strbuf_release(&text);
}

/* Control characters, also as UTF-8 of two bytes, are shown and not sent to the terminal. */
static void test_controls(void **state) {
    char small[] = "\x1b[2J";
    (void)state;
    char *text = text_escaped("\x1b[2J \x7f \xc2\x9b \xc3\xa9 \xc2\xb5 \n\t\r", false);
    assert_string_equal(text, "\\x1b[2J \\x7f \\x9b \xc3\xa9 \xc2\xb5 \\x0a\\x09\\x0d");
    free(text);
    text = text_escaped("\n\t\r\xc2", true);
    assert_string_equal(text, "\n\t\\x0d\xc2");
    free(text);
    text_escape(small, sizeof small, false);
    assert_string_equal(small, "\\x1b");
}

/* What turns the direction of writing would show another program than the one that is compiled. */
static void test_directions(void **state) {
    (void)state;
    char *text = text_escaped("a\xe2\x80\xae"
                              "b\xe2\x81\xa6 \xe2\x80\xa8\xe2\x80\xa7\xe2\x80\xaf"
                              "\xe2\x81\xaa\xe6\xbc\xa2",
                              true);
    assert_string_equal(text,
                        "a\\u202eb\\u2066 \\u2028\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\xaa\xe6\xbc\xa2");
    free(text);
    text = text_escaped("cut \xe2\x80", false);
    assert_string_equal(text, "cut \xe2\x80");
    free(text);
    char array[32] = "x\xe2\x80\xae";
    text_escape(array, sizeof array, false);
    assert_string_equal(array, "x\\u202e");
}

static void test_mentions(void **state) {
    (void)state;
    assert_true(mentions_identifier("UNITS < 5", "UNITS"));
    assert_true(mentions_identifier("(SUBUNITS + UNITS)", "UNITS"));
    assert_false(mentions_identifier("SUBUNITS + UNITS_2", "UNITS"));
    assert_false(mentions_identifier("", "UNITS"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrap),       cmocka_unit_test(test_wrap_long),
        cmocka_unit_test(test_escapes),    cmocka_unit_test(test_controls),
        cmocka_unit_test(test_directions), cmocka_unit_test(test_mentions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
