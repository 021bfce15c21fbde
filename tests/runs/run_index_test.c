/* The index of runs: what a damaged, a full and a busy one still gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "run/run_index.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 2 * RUN_INDEX_MAX };

static char folder[] = "/tmp/run_index_XXXXXX", path[PATH_SIZE];

static int make_folder(void **state) {
    struct error error = {0};
    (void)state;
    return mkdtemp(folder) == NULL ? -1 : path_join(path, folder, "state/runs.jsonl", &error);
}

static int remove_folder(void **state) {
    struct error error = {0};
    (void)state;
    return path_remove_tree(folder, &error);
}

static int remove_index(void **state) {
    (void)state;
    unlink(path);
    return 0;
}

/* The path of a run, whose folder exists. */
static const char *made_run(const char *name) {
    static char run[PATH_SIZE];
    struct error error = {0};
    assert_int_equal(path_join(run, folder, name, &error), 0);
    assert_int_equal(path_make_folder(run, &error), 0);
    return run;
}

static int add(const char *run, const char *template, int64_t trials) {
    struct error error = {0};
    const struct run_index_entry entry = {run, template, "NVIDIA H200", trials};
    return run_index_add(path, &entry, &error);
}

/* The names of the folders that are found, joined by spaces; "failed". */
static const char *found(const char *template, int least, int most) {
    static char text[256];
    struct error error = {0};
    char **runs;
    int count;
    if (run_index_find(path, template, least, most, &runs, &count, &error) < 0)
        return "failed";
    text[0] = '\0';
    for (int i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i > 0 ? " " : "",
                 path_name(runs[i]));
    path_list_free(runs, count);
    return text;
}

static int64_t line_count(void) {
    struct error error = {0};
    int64_t lines = 0;
    char *text = path_read_file(path, 64 << 20, NULL, &error);
    for (const char *at = text; at != NULL && *at != '\0'; at++)
        lines += *at == '\n';
    free(text);
    return lines;
}

static void write_text(const char *text) {
    struct error error = {0};
    assert_int_equal(path_write_file(path, text, strlen(text), &error), 0);
}

static void newest_runs_of_the_template_are_found(void **state) {
    (void)state;
    assert_string_equal(found("demo", 0, 9), "");
    assert_int_equal(add(made_run("a"), "demo", 10), 0);
    assert_int_equal(add(made_run("b"), "other", 10), 0);
    assert_int_equal(add(made_run("c"), "demo", 7), 0);
    assert_int_equal(add(made_run("d"), "demo", 8), 0);
    assert_string_equal(found("demo", 0, 9), "d c a");
    assert_string_equal(found("demo", 8, 9), "d a");
    assert_string_equal(found("demo", 0, 2), "d c");
    /* A run that ends again is the newest, once. */
    assert_int_equal(add(made_run("a"), "demo", 20), 0);
    assert_string_equal(found("demo", 0, 9), "a d c");
    assert_int_equal(rmdir(made_run("d")), 0);
    assert_string_equal(found("demo", 0, 9), "a c");
}

static void damaged_lines_are_skipped_and_dropped(void **state) {
    (void)state;
    char text[2 * PATH_SIZE];
    snprintf(text, sizeof text,
             "{\"evotile_runs\":1}\n{\"run\":\"%s\",\"template\":\"demo\",\"trials\":9}\nrubbish\n"
             "{\"run\":\"relative\",\"template\":\"demo\",\"trials\":9}\n{\"run\":7}\n\n[]\n"
             "{\"run\":\"/\",\"template\":\"demo\",\"trials\":\"9\"}\n{\"run\":\"/tmp",
             made_run("a"));
    write_text(text);
    assert_string_equal(found("demo", 1, 9), "a");
    assert_int_equal(add(made_run("b"), "demo", 10), 0);
    assert_string_equal(found("demo", 1, 9), "b a");
    assert_int_equal(line_count(), 4); /* the header, /, a, b */
    write_text("");
    assert_string_equal(found("demo", 0, 9), "");
    assert_int_equal(add(made_run("a"), "demo", 10), 0);
    assert_string_equal(found("demo", 0, 9), "a");
}

static void another_file_is_left_alone(void **state) {
    (void)state;
    write_text("{\"evotile_runs\":2}\n");
    assert_string_equal(found("demo", 0, 9), "failed");
    assert_int_equal(add(made_run("a"), "demo", 10), -1);
    assert_int_equal(line_count(), 1);
}

/* Beyond the limit deleted runs go first, however new they are. */
static void size_is_bounded(void **state) {
    (void)state;
    char *text = malloc((size_t)MOST * 80);
    size_t used = (size_t)sprintf(
        text, "{\"evotile_runs\":1}\n{\"run\":\"%s\",\"template\":\"demo\"}\n", made_run("a"));
    for (int i = 0; i < MOST; i++)
        used += (size_t)sprintf(text + used, "{\"run\":\"/gone/%d\",\"template\":\"demo\"}\n", i);
    write_text(text);
    assert_int_equal(add(made_run("b"), "demo", 10), 0);
    assert_int_equal(line_count(), RUN_INDEX_MAX + 1);
    assert_string_equal(found("demo", 0, 9), "b a");
    /* Of runs that are all there, here as names of the root, the newest are kept. */
    used = (size_t)sprintf(text, "{\"evotile_runs\":1}\n{\"run\":\"%s\",\"template\":\"demo\"}\n",
                           made_run("a"));
    for (int i = 0; i < MOST; i++) {
        used += (size_t)sprintf(text + used, "{\"run\":\"/");
        for (int bit = 1; bit < MOST; bit *= 2)
            used += (size_t)sprintf(text + used, "%s", i & bit ? "./" : "//");
        used += (size_t)sprintf(text + used, "\",\"template\":\"other\"}\n");
    }
    write_text(text);
    free(text);
    assert_int_equal(add(made_run("b"), "demo", 10), 0);
    assert_int_equal(line_count(), RUN_INDEX_MAX + 1);
    assert_string_equal(found("demo", 0, 9), "b");
}

static void writers_wait_for_each_other(void **state) {
    enum { WRITERS = 4, RUNS = 8 };
    (void)state;
    made_run("a");
    for (int w = 0; w < WRITERS; w++)
        if (fork() == 0) {
            char name[32];
            for (int i = 0; i < RUNS; i++) {
                snprintf(name, sizeof name, "/run/%d/%d", w, i);
                if (add(name, "demo", 10) < 0)
                    _exit(1);
            }
            _exit(0);
        }
    for (int w = 0, status; w < WRITERS; w++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    assert_int_equal(line_count(), WRITERS * RUNS + 1);
}

static void variables_say_where_it_is(void **state) {
    (void)state;
    struct error error = {0};
    char at[PATH_SIZE];
    setenv("EVOTILE_INDEX", "none", 1);
    assert_int_equal(run_index_path(at, &error), 0);
    setenv("EVOTILE_INDEX", "a/b", 1);
    assert_int_equal(run_index_path(at, &error), 1);
    assert_string_equal(at, "a/b");
    setenv("EVOTILE_INDEX", "", 1);
    setenv("XDG_STATE_HOME", "/state", 1);
    setenv("HOME", "/home/me", 1);
    assert_int_equal(run_index_path(at, &error), 1);
    assert_string_equal(at, "/state/evotile/runs.jsonl");
    setenv("XDG_STATE_HOME", "relative", 1); /* the specification has such a path ignored */
    assert_int_equal(run_index_path(at, &error), 1);
    assert_string_equal(at, "/home/me/.local/state/evotile/runs.jsonl");
    unsetenv("HOME");
    assert_int_equal(run_index_path(at, &error), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(newest_runs_of_the_template_are_found, remove_index),
        cmocka_unit_test_teardown(damaged_lines_are_skipped_and_dropped, remove_index),
        cmocka_unit_test_teardown(another_file_is_left_alone, remove_index),
        cmocka_unit_test_teardown(size_is_bounded, remove_index),
        cmocka_unit_test_teardown(writers_wait_for_each_other, remove_index),
        cmocka_unit_test(variables_say_where_it_is),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
