/* The files of solutions that come from elsewhere. */
#include "template/solution_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"

static char top[] = "/tmp/solution_files.XXXXXX";

static cJSON *files_of(const char *kernel) {
    cJSON *files = cJSON_CreateObject();
    cJSON_AddStringToObject(files, "solution.json", "{}");
    cJSON_AddStringToObject(files, "kernel.cu", kernel);
    return files;
}

static void expect_refused(const char *name, cJSON *files, const char *words) {
    struct error error = {0};
    assert_int_equal(solution_files_check(name, files, &error), -1);
    assert_int_equal(error.kind, ERROR_INPUT);
    if (strstr(error.text, words) == NULL)
        fail_msg("'%s' does not contain '%s'", error.text, words);
    cJSON_Delete(files);
}

static void what_they_may_not_be(void **state) {
    (void)state;
    static const char *const names[] = {"../a", "/a", ".a", "-a", "a/b", "a b", "", "a\nb"};
    cJSON *files;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        expect_refused(names[i], files_of("k"), "cannot name a solution");
        cJSON_AddStringToObject(files = files_of("k"), names[i], "x");
        expect_refused("mine", files, "cannot name a file");
    }
    expect_refused("lib", files_of("k"), "cannot name a solution");
    expect_refused("a.cu", files_of("k"), "cannot name a solution");
    cJSON_AddNumberToObject(files = files_of("k"), "a.h", 1);
    expect_refused("mine", files, "must be a text");
    cJSON_AddStringToObject(files = files_of("k"), "kernel.cu", "another");
    expect_refused("mine", files, "is there twice");
    cJSON_DeleteItemFromObjectCaseSensitive(files = files_of("k"), "solution.json");
    expect_refused("mine", files, "solution.json is missing");
    files = files_of("k");
    for (int i = 2; i <= SOLUTION_FILES_MAX; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d.h", i);
        cJSON_AddStringToObject(files, name, "");
    }
    expect_refused("mine", files, "at most 64 files");
}

/* Exactly 4 MB pass, one byte more does not. */
static void their_bytes_are_limited(void **state) {
    (void)state;
    struct error error = {0};
    char *text = calloc(1, SOLUTION_BYTES_MAX);
    memset(text, 'x', SOLUTION_BYTES_MAX - strlen("{}"));
    cJSON *files = files_of(text);
    assert_int_equal(solution_files_check("mine", files, &error), 0);
    cJSON_AddStringToObject(files, "more.h", "x");
    expect_refused("mine", files, "at most 4 MB");
    free(text);
}

static void the_path_is_that_of_all_texts(void **state) {
    (void)state;
    char path[SOLUTION_PATH_SIZE], other[SOLUTION_PATH_SIZE];
    cJSON *files = files_of("k");
    cJSON *turned = cJSON_CreateObject();
    cJSON_AddStringToObject(turned, "kernel.cu", "k");
    cJSON_AddStringToObject(turned, "solution.json", "{}");
    solution_files_path("mine", files, path);
    assert_true(solution_files_is_path(path));
    assert_string_equal(path + HASH_TEXT_SIZE, "mine");
    solution_files_path("mine", turned, other);
    assert_string_equal(path, other);
    solution_files_path("mina", files, other);
    assert_int_not_equal(strncmp(path, other, HASH_TEXT_SIZE - 1), 0);
    cJSON *changed = files_of("K");
    solution_files_path("mine", changed, other);
    assert_int_not_equal(strncmp(path, other, HASH_TEXT_SIZE - 1), 0);
    /* The same letters, divided otherwise. */
    cJSON *moved = cJSON_CreateObject();
    cJSON_AddStringToObject(moved, "solution.json", "{}");
    cJSON_AddStringToObject(moved, "kernel.c", "uk");
    solution_files_path("mine", moved, other);
    assert_int_not_equal(strncmp(path, other, HASH_TEXT_SIZE - 1), 0);
    cJSON_Delete(files);
    cJSON_Delete(turned);
    cJSON_Delete(changed);
    cJSON_Delete(moved);
}

static void a_path_leads_nowhere_else(void **state) {
    (void)state;
#define DIGITS "0123456789abcdef0123456789abcdef"
    static const char *const texts[] = {"",
                                        DIGITS,
                                        DIGITS "/",
                                        DIGITS "/..",
                                        DIGITS "/a/b",
                                        DIGITS "/lib",
                                        DIGITS "0/a",
                                        "/" DIGITS "/a",
                                        "../" DIGITS "/a",
                                        "0123456789ABCDEF0123456789abcdef/a",
                                        "problem/a"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (solution_files_is_path(texts[i]))
            fail_msg("\"%s\" is a path", texts[i]);
    assert_true(solution_files_is_path(DIGITS "/mine-2"));
}

/* What is written reads back, beside links to the problem's files; a second time changes nothing.
 */
static void they_lie_beside_the_problem(void **state) {
    (void)state;
    struct error error = {0};
    char folder[PATH_SIZE], path[SOLUTION_PATH_SIZE], found[SOLUTION_PATH_SIZE];
    assert_non_null(mkdtemp(top));
    assert_int_equal(path_join(folder, top, "problem", &error), 0);
    assert_int_equal(path_make_folder(folder, &error), 0);
    assert_int_equal(path_join(folder, top, "problem/problem.json", &error), 0);
    assert_int_equal(path_write_file(folder, "judges", 6, &error), 0);
    cJSON *files = files_of("\t\"k\"\x01\n");
    solution_files_path("mine", files, path);
    for (int i = 0; i < 2; i++)
        assert_int_equal(solution_files_write(top, path, files, &error), 0);
    assert_int_equal(path_join(folder, top, path, &error), 0);
    cJSON *read = solution_files_read(folder, &error);
    solution_files_path("mine", read, found);
    assert_string_equal(found, path);
    strcat(folder, "/../problem.json");
    char *judge = path_read_file(folder, 100, NULL, &error);
    assert_string_equal(judge, "judges");
    char text[2 * PATH_SIZE];
    snprintf(text, sizeof text, "%s/%s/kernel.cu(1): error", top, path);
    solution_files_shorten(top, text);
    assert_string_equal(text, "mine/kernel.cu(1): error");
    assert_int_equal(solution_files_remove(top, path, &error), 0);
    assert_false(path_exists(folder));
    cJSON_Delete(files);
    cJSON_Delete(read);
    free(judge);
    assert_int_equal(path_remove_tree(top, &error), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_they_may_not_be),
        cmocka_unit_test(their_bytes_are_limited),
        cmocka_unit_test(the_path_is_that_of_all_texts),
        cmocka_unit_test(a_path_leads_nowhere_else),
        cmocka_unit_test(they_lie_beside_the_problem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
