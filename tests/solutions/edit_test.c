/* edit: search blocks, whole files, and the hash of a solution's files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "solutions/edit.h"

#include <stdlib.h>
#include <string.h>

static cJSON *parse(const char *text) {
    cJSON *value = cJSON_Parse(text);
    if (value == NULL)
        fail_msg("not JSON: %s", text);
    return value;
}

static const char *const parent = "{\"kernel.cu\": \"a b a\\nc\\n\", \"solution.json\": \"{}\"}";

struct change {
    const char *change, *file, *text; /* the file's text after it */
    const char *error;                /* or a word of the error */
};

static void check(cJSON *(*edit)(const cJSON *, const cJSON *, struct error *),
                  const struct change *change) {
    struct error error = {0};
    cJSON *files = parse(parent), *changes = parse(change->change);
    cJSON *edited = edit(files, changes, &error);
    char *untouched = cJSON_PrintUnformatted(files);
    cJSON *before = parse(parent);
    assert_true(cJSON_Compare(files, before, true));
    if (change->error != NULL) {
        assert_null(edited);
        assert_int_equal(error.kind, ERROR_INPUT);
        if (strstr(error.text, change->error) == NULL)
            fail_msg("%s: %s", change->change, error.text);
    } else {
        if (edited == NULL)
            fail_msg("%s: %s", change->change, error.text);
        const cJSON *file = cJSON_GetObjectItemCaseSensitive(edited, change->file);
        if (change->text == NULL)
            assert_null(file);
        else
            assert_string_equal(file->valuestring, change->text);
    }
    cJSON_Delete(before);
    free(untouched);
    cJSON_Delete(edited);
    cJSON_Delete(files);
    cJSON_Delete(changes);
}

static void a_block_matches_exactly_once(void **state) {
    (void)state;
    static const struct change changes[] = {
        {"[{\"file\": \"kernel.cu\", \"search\": \"b\", \"replace\": \"x\\\\ny\"}]", "kernel.cu",
         "a x\\ny a\nc\n", NULL},
        {"[{\"file\": \"kernel.cu\", \"search\": \"a\\nc\\n\", \"replace\": \"\"}]", "kernel.cu",
         "a b ", NULL},
        /* The second searches what the first made. */
        {"[{\"file\": \"kernel.cu\", \"search\": \" b \", \"replace\": \" bb \"},"
         " {\"file\": \"kernel.cu\", \"search\": \"bb\", \"replace\": \"d\"}]",
         "kernel.cu", "a d a\nc\n", NULL},
        {"[{\"file\": \"kernel.cu\", \"search\": \"a\", \"replace\": \"x\"}]", NULL, NULL,
         "edit 1 matches 2 times in kernel.cu"},
        {"[{\"file\": \"kernel.cu\", \"search\": \"b\", \"replace\": \"d\"},"
         " {\"file\": \"kernel.cu\", \"search\": \"b\", \"replace\": \"e\"}]",
         NULL, NULL, "edit 2 matches 0 times"},
        {"[{\"file\": \"kernel.c\", \"search\": \"b\", \"replace\": \"\"}]", NULL, NULL,
         "did you mean \"kernel.cu\""},
        {"[{\"file\": \"kernel.cu\", \"search\": \"\", \"replace\": \"\"}]", NULL, NULL,
         "searches for nothing"},
        {"[{\"file\": \"kernel.cu\", \"search\": \"b\"}]", NULL, NULL, "\"replace\""},
        {"[]", NULL, NULL, "1 to 256"},
        {"{}", NULL, NULL, "1 to 256"},
        {"[1]", NULL, NULL, "edit 1 must have"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        check(edit_blocks, &changes[i]);
}

/* Matches that overlap count, too: either could be meant. */
static void overlapping_matches_are_counted(void **state) {
    (void)state;
    struct error error = {0};
    cJSON *files = parse("{\"f\": \"aaa\"}");
    cJSON *edits = parse("[{\"file\": \"f\", \"search\": \"aa\", \"replace\": \"b\"}]");
    assert_null(edit_blocks(files, edits, &error));
    assert_non_null(strstr(error.text, "matches 2 times"));
    cJSON_Delete(files);
    cJSON_Delete(edits);
}

static void files_are_replaced_added_and_removed(void **state) {
    (void)state;
    static const struct change changes[] = {
        {"{\"kernel.cu\": \"new\"}", "kernel.cu", "new", NULL},
        {"{\"more.cuh\": \"\"}", "more.cuh", "", NULL},
        {"{\"kernel.cu\": null}", "kernel.cu", NULL, NULL},
        {"{\"kernel.cuh\": null}", NULL, NULL, "did you mean \"kernel.cu\""},
        {"{\"kernel.cu\": 1}", NULL, NULL, "must be a text"},
        {"{}", NULL, NULL, "at least one file"},
        {"[\"x\"]", NULL, NULL, "at least one file"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        check(edit_files, &changes[i]);
}

static void the_hash_is_of_names_and_texts(void **state) {
    (void)state;
    static const char *const texts[] = {"{\"a\": \"1\", \"b\": \"2\"}",
                                        "{\"a\": \"12\", \"b\": \"\"}",
                                        "{\"a\": \"2\", \"b\": \"1\"}",
                                        "{\"ab\": \"12\"}",
                                        "{\"a\": \"1\"}",
                                        "{}"};
    enum { COUNT = sizeof texts / sizeof *texts };
    struct hash hashes[COUNT];
    for (int i = 0; i < COUNT; i++) {
        cJSON *files = parse(texts[i]);
        hashes[i] = edit_hash(files);
        cJSON_Delete(files);
        for (int j = 0; j < i; j++)
            assert_false(hash_equal(hashes[i], hashes[j]));
    }
    cJSON *turned = parse("{\"b\": \"2\", \"a\": \"1\"}");
    assert_true(hash_equal(edit_hash(turned), hashes[0]));
    cJSON_Delete(turned);
}

static void a_diff_names_files_and_lines(void **state) {
    (void)state;
    cJSON *before = parse(parent);
    cJSON *after = parse(
        "{\"kernel.cu\": \"a b a\\nd\\n\", \"new.cuh\": \"x\\n\", \"solution.json\": \"{}\"}");
    char *diff = edit_diff(before, after);
    assert_string_equal(diff, "--- a/kernel.cu\n+++ b/kernel.cu\n@@ -1,2 +1,2 @@\n a b a\n-c\n+d\n"
                              "--- a/new.cuh\n+++ b/new.cuh\n@@ -0,0 +1 @@\n+x\n");
    free(diff);
    diff = edit_diff(before, before);
    assert_string_equal(diff, "");
    free(diff);
    cJSON_Delete(before);
    cJSON_Delete(after);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_matches_exactly_once),
        cmocka_unit_test(overlapping_matches_are_counted),
        cmocka_unit_test(files_are_replaced_added_and_removed),
        cmocka_unit_test(the_hash_is_of_names_and_texts),
        cmocka_unit_test(a_diff_names_files_and_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
