/* The folder in which a server keeps clients' solutions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "solutions/solution_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 3 };

static char top[] = "/tmp/solution_store.XXXXXX";
static struct config *config;
static struct solution_store *store;

static void must(int result, const struct error *error) {
    if (result < 0)
        fail_msg("%s", error->text);
}

static int make_store(void **state) {
    (void)state;
    struct error error = {0};
    char path[PATH_SIZE], folder[PATH_SIZE];
    static const char text[] =
        "{ \"template\": \"axpy\", \"solutions\": [\"vector\"], \"cases\": [{ \"N\": 100 }],"
        " \"genes\": { \"STAGED\": [0] } } // as a user has it\n";
    setenv("EVOTILE_TEMPLATES", "tests/templates", 1);
    assert_non_null(mkdtemp(top));
    must(path_join(path, top, "config.json", &error), &error);
    must(path_write_file(path, text, strlen(text), &error), &error);
    must(path_join(folder, top, "serve", &error), &error);
    config = config_load(path, NULL, &error);
    must(config != NULL ? 0 : -1, &error);
    store = solution_store_new(config, folder, MOST, &error);
    must(store != NULL ? 0 : -1, &error);
    return 0;
}

static int remove_store(void **state) {
    (void)state;
    struct error error = {0};
    solution_store_free(store);
    config_free(config);
    return path_remove_tree(top, &error);
}

/* The files of a solution that differs by a number. */
static cJSON *files_of(int number) {
    char kernel[64];
    cJSON *files = cJSON_CreateObject();
    snprintf(kernel, sizeof kernel, "// kernel %d\n", number);
    cJSON_AddStringToObject(files, "solution.json", "{ \"format\": 2 }");
    cJSON_AddStringToObject(files, "kernel.cu", kernel);
    return files;
}

static void add_files(const cJSON *files, char folder[PATH_SIZE]) {
    struct error error = {0};
    must(solution_store_add(store, "mine", files, folder, &error), &error);
}

static void add_number(int number, char folder[PATH_SIZE]) {
    cJSON *files = files_of(number);
    add_files(files, folder);
    cJSON_Delete(files);
}

static void expect_refused(const char *name, const cJSON *files, const char *words) {
    struct error error = {0};
    char folder[PATH_SIZE];
    assert_int_equal(solution_store_add(store, name, files, folder, &error), -1);
    assert_int_equal(error.kind, ERROR_INPUT);
    if (strstr(error.text, words) == NULL)
        fail_msg("\"%s\" does not contain \"%s\"", error.text, words);
}

/* Clients' files lie beside links to the problem's. */
static void files_lie_beside_links(void **state) {
    (void)state;
    struct error error = {0};
    struct stat status;
    char folder[PATH_SIZE], problem[PATH_SIZE], path[PATH_SIZE], whole[PATH_SIZE];
    add_number(1, folder);
    must(path_parent(problem, folder, &error), &error);
    must(path_join(path, problem, "problem.json", &error), &error);
    assert_int_equal(lstat(path, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_non_null(realpath(path, whole));
    assert_non_null(strstr(whole, "/templates/problem/problem.json"));
    assert_string_equal(path_name(folder), "mine");
}

static void equal_files_are_one_folder(void **state) {
    (void)state;
    char first[PATH_SIZE], second[PATH_SIZE], other[PATH_SIZE];
    add_number(1, first);
    add_number(1, second);
    add_number(2, other);
    assert_string_equal(first, second);
    assert_string_not_equal(first, other);
}

/* A word that moves from one file to the next is another solution. */
static void files_do_not_run_into_each_other(void **state) {
    (void)state;
    char folders[2][PATH_SIZE];
    static const char *const texts[2][2] = {{"ab", "c"}, {"a", "bc"}};
    for (int i = 0; i < 2; i++) {
        cJSON *files = cJSON_CreateObject();
        cJSON_AddStringToObject(files, "solution.json", texts[i][0]);
        cJSON_AddStringToObject(files, "kernel.cu", texts[i][1]);
        add_files(files, folders[i]);
        cJSON_Delete(files);
    }
    assert_string_not_equal(folders[0], folders[1]);
}

static void the_oldest_that_is_not_held_goes(void **state) {
    (void)state;
    char folders[6][PATH_SIZE];
    for (int i = 0; i < MOST; i++)
        add_number(100 + i, folders[i]);
    solution_store_hold(store, folders[0]);
    add_number(101, folders[1]); /* used again: 102 is the oldest now */
    add_number(103, folders[3]);
    assert_true(path_exists(folders[0]));
    assert_true(path_exists(folders[1]));
    assert_false(path_exists(folders[2]));
    solution_store_hold(store, folders[1]);
    solution_store_hold(store, folders[3]);
    cJSON *files = files_of(104);
    struct error error = {0};
    assert_int_equal(solution_store_add(store, "mine", files, folders[4], &error), -1);
    assert_non_null(strstr(error.text, "wait"));
    cJSON_Delete(files);
    for (int i = 0; i < 4; i += i == 1 ? 2 : 1)
        solution_store_release(store, folders[i]);
    add_number(104, folders[4]);
    assert_false(path_exists(folders[0]));
}

static void names_lead_nowhere(void **state) {
    (void)state;
    static const char *const names[] = {"",    ".",   "..",      "a/b", "../a", "/a",
                                        "a.b", "lib", "-option", "a b", "a\nb"};
    cJSON *files = files_of(1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect_refused(names[i], files, "cannot name a solution");
    static const char *const wrong[] = {"a/b.cu", "../b.cu", "/b.cu", ".b.cu",
                                        "-b.cu",  "b\n.cu",  ""};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cJSON_AddStringToObject(files, wrong[i], "x");
        expect_refused("mine", files, "cannot name a file");
        cJSON_DeleteItemFromObjectCaseSensitive(files, wrong[i]);
    }
    cJSON_AddNumberToObject(files, "number.cu", 1);
    expect_refused("mine", files, "must be a text");
    cJSON_Delete(files);
}

static void solutions_are_bounded(void **state) {
    (void)state;
    cJSON *files = files_of(1);
    char name[32];
    for (int i = 0; i < 70; i++) {
        snprintf(name, sizeof name, "part%d.cuh", i);
        cJSON_AddStringToObject(files, name, "");
    }
    expect_refused("mine", files, "at most 64 files");
    cJSON_Delete(files);
    files = files_of(1);
    char *large = calloc(1, (5 << 20) + 1);
    memset(large, ' ', 5 << 20);
    cJSON_AddStringToObject(files, "large.cuh", large);
    expect_refused("mine", files, "at most 4 MB");
    free(large);
    cJSON_Delete(files);
}

static void the_config_has_no_solutions_and_genes(void **state) {
    (void)state;
    struct error error = {0};
    char folder[PATH_SIZE];
    must(solution_store_find(store, "loop", folder, &error), &error);
    struct config *stored = config_from_file(solution_store_config(store), folder, &error);
    must(stored != NULL ? 0 : -1, &error);
    assert_int_equal(stored->restriction_count, 0);
    assert_int_equal(stored->case_count, 1);
    assert_string_equal(config_goal_solution(stored, 0), "loop");
    config_free(stored);
    assert_int_equal(solution_store_find(store, "lop", folder, &error), -1);
    assert_non_null(strstr(error.text, "did you mean \"loop\""));
}

static void messages_name_no_folder(void **state) {
    (void)state;
    char folder[PATH_SIZE], text[2 * PATH_SIZE + 100];
    add_number(1, folder);
    snprintf(text, sizeof text, "%s/kernel.cu:3: x, and %s/solution.json", folder, folder);
    solution_store_shorten(store, text);
    assert_string_equal(text, "mine/kernel.cu:3: x, and mine/solution.json");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_lie_beside_links),
        cmocka_unit_test(equal_files_are_one_folder),
        cmocka_unit_test(files_do_not_run_into_each_other),
        cmocka_unit_test(the_oldest_that_is_not_held_goes),
        cmocka_unit_test(names_lead_nowhere),
        cmocka_unit_test(solutions_are_bounded),
        cmocka_unit_test(the_config_has_no_solutions_and_genes),
        cmocka_unit_test(messages_name_no_folder),
    };
    return cmocka_run_group_tests_name("solution store", tests, make_store, remove_store);
}
