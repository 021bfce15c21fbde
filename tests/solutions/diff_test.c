/* What a change says of itself, where its own text looks like the marks of diff. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "solutions/diff.h"
#include "solutions/edit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *changed(const char *before, const char *after) {
    cJSON *a = cJSON_Parse(before), *b = cJSON_Parse(after);
    assert_true(a != NULL && b != NULL);
    char *diff = edit_diff(a, b);
    assert_non_null(diff);
    cJSON_Delete(a);
    cJSON_Delete(b);
    return diff;
}

static void expect(const char *before, const char *after, int files, int added, int removed) {
    char *diff = changed(before, after);
    const struct diff_size size = diff_size(diff);
    if (size.files != files || size.added != added || size.removed != removed)
        fail_msg("%d files, %d added, %d removed in\n%s", size.files, size.added, size.removed,
                 diff);
    free(diff);
}

static void lines_are_counted(void **state) {
    (void)state;
    expect("{\"k.cu\": \"a\\nb\\nc\\n\"}", "{\"k.cu\": \"a\\nB\\nc\\nd\\n\"}", 1, 2, 1);
    expect("{\"k.cu\": \"a\\n\"}", "{\"k.cu\": \"a\\n\"}", 0, 0, 0);
    expect("{\"k.cu\": \"a\\n\", \"gone.cuh\": \"1\\n2\\n\"}",
           "{\"k.cu\": \"a\\n\", \"new.cuh\": \"3\\n\"}", 2, 1, 2);
    expect("{\"k.cu\": \"a\"}", "{\"k.cu\": \"a\\n\"}", 1, 1, 1); /* no newline at the end */
    assert_int_equal(diff_size("").files, 0);
}

/* A line of the change that has the form of a file's or a hunk's head is a line of the change. */
static void text_is_no_mark(void **state) {
    (void)state;
    expect("{\"k.cu\": \"a\\n\"}",
           "{\"k.cu\": \"a\\n++ b/solution.json\\n+++ b/x\\n@@ -1,900 +1,900 @@\\n- y\\n\"}", 1, 4,
           0);
    expect("{\"k.cu\": \"a\\n-- a/solution.json\\n-- b\\n\"}", "{\"k.cu\": \"a\\n\"}", 1, 0, 2);
    char *diff = changed("{\"k.cu\": \"a\\n\"}", "{\"k.cu\": \"a\\n++ b/forged.cu\\n\"}");
    struct diff_reader reader = {.at = diff};
    struct diff_line line;
    size_t length;
    int names = 0;
    while (diff_next(&reader, &line)) {
        const char *name = diff_file_name(&line, &length);
        if (name != NULL) {
            names++;
            assert_int_equal(length, 4);
            assert_memory_equal(name, "k.cu", 4);
        }
    }
    assert_int_equal(names, 1);
    free(diff);
}

/* A damaged text has an end, and a head with absurd numbers takes what is there. */
static void damaged_texts_end(void **state) {
    (void)state;
    static const char *const texts[] = {"@@ ",
                                        "@@ -",
                                        "@@ -1,-5 +2 @@\n+a",
                                        "@@ -99999999999999999999,9 +1 @@\n-b\n+c",
                                        "\\ No",
                                        "+++ b/",
                                        "\n\n\n",
                                        "@@ -1,3 +1,3"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct diff_reader reader = {.at = texts[i]};
        struct diff_line line;
        int count = 0;
        while (diff_next(&reader, &line))
            assert_true(++count < 9);
    }
}

static void long_changes_are_shortened(void **state) {
    (void)state;
    struct strbuf text = {0};
    int left_out;
    strbuf_print(&text, "--- a/k.cu\n+++ b/k.cu\n@@ -0,0 +1,500 @@\n");
    for (int i = 0; i < 500; i++)
        strbuf_print(&text, "+line %d\n", i);
    char *shown = diff_shortened(text.bytes, 60, 100, &left_out);
    assert_int_equal(left_out, 443);
    assert_true(strstr(shown, "+line 56\n") != NULL && strstr(shown, "+line 57\n") == NULL);
    free(shown);
    strbuf_release(&text);
    shown = diff_shortened("+a\n", 60, 100, &left_out);
    assert_int_equal(left_out, 0);
    assert_string_equal(shown, "+a\n");
    free(shown);
    /* A character of two bytes is not cut. */
    shown = diff_shortened("+abc\xc3\xa9"
                           "def",
                           60, 5, &left_out);
    assert_string_equal(shown, "+abc ... (5 bytes more)\n");
    free(shown);
    shown = diff_shortened("+abc\xc3\xa9"
                           "def",
                           60, 6, &left_out);
    assert_string_equal(shown, "+abc\xc3\xa9 ... (3 bytes more)\n");
    free(shown);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_counted),
        cmocka_unit_test(text_is_no_mark),
        cmocka_unit_test(damaged_texts_end),
        cmocka_unit_test(long_changes_are_shortened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
