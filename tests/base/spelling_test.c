#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/spelling.h"

static void finds_what_was_meant(void **state) {
    (void)state;
    static const char *const names[] = {"BLOCK_M", "BLOCK_N", "WARPS", "WARPS_KV", "STAGES", "S"};
    static const struct {
        const char *word, *meant;
    } rows[] = {{"BLOCK_M", "BLOCK_M"},
                {"BLOCK_n", "BLOCK_N"},
                {"block_m", "BLOCK_M"},
                {"BLOCKM", "BLOCK_M"},
                {"WARP", "WARPS"},
                {"warps_kw", "WARPS_KV"},
                {"STAGE", "STAGES"},
                {"SATGES", "STAGES"},
                {"s", "S"},
                {"", "S"},
                {"BLOCK_X", "BLOCK_M"} /* ties go to the first */};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(spelling_nearest(rows[i].word, names, 6), rows[i].meant);
}

static void one_name_is_always_nearest(void **state) {
    (void)state;
    static const char *const names[] = {"only"};
    assert_string_equal(spelling_nearest("nothing alike", names, 1), "only");
}

static void long_words_are_compared_by_their_beginnings(void **state) {
    (void)state;
    char word[500];
    char name[500];
    memset(word, 'a', sizeof word);
    memset(name, 'a', sizeof name);
    word[499] = name[499] = '\0';
    const char *const names[] = {"b", name};
    assert_string_equal(spelling_nearest(word, names, 2), name);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_meant),
        cmocka_unit_test(one_name_is_always_nearest),
        cmocka_unit_test(long_words_are_compared_by_their_beginnings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
