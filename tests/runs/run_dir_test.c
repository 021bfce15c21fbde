#include "run/run_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pool/protocol.h"

static const char device_spec[] = "emulated:sm_89";
static char root[PATH_SIZE]; /* a folder for a test */

static int make_root(void **state) {
    (void)state;
    const char *temporary = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/evotile-run-XXXXXX", temporary != NULL ? temporary : "/tmp");
    setenv("EVOTILE_INTERVALS", "worker_exit=0.001", 1);
    setenv("EVOTILE_DEVICES", "configs/devices", 0);
    return mkdtemp(root) != NULL ? 0 : -1;
}

static int remove_root(void **state) {
    struct error error = {0};
    (void)state;
    return path_remove_tree(root, &error);
}

/* A path below the root; valid for four calls. */
static const char *below(const char *name) {
    static char paths[4][PATH_SIZE];
    static int next;
    struct error error = {0};
    char *path = paths[next++ % 4];
    assert_int_equal(path_join(path, root, name, &error), 0);
    return path;
}

static void write_file(const char *name, const char *text) {
    struct error error = {0};
    char parent[PATH_SIZE];
    if (path_parent(parent, below(name), &error) < 0 || path_make_folder(parent, &error) < 0 ||
        path_write_file(below(name), text, strlen(text), &error) < 0)
        fail_msg("%s", error.text);
}

static void expect_error(int status, const struct error *error, const char *text) {
    assert_int_equal(status, -1);
    if (strstr(error->text, text) == NULL)
        fail_msg("\"%s\" is not in: %s", text, error->text);
}

/* ---- the template ---- */

static void template_has_the_name_of_its_real_folder(void **state) {
    (void)state;
    static const char *const ways[] = {"rows", "rows/", "rows/.", "rows/../rows", "link", "link/"};
    struct error error = {0};
    char name[PATH_SIZE];
    write_file("rows/template.json", "{}");
    assert_int_equal(symlink("rows", below("link")), 0);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        assert_int_equal(run_dir_template_name(below(ways[i]), name, &error), 0);
        assert_string_equal(name, "rows");
    }
    expect_error(run_dir_template_name(below("missing"), name, &error), &error,
                 "cannot read the template");
}

/* With the lib/ beside it and without; a template may also be one file, as a recorded space is. */
static void copied_template_is_found_in_the_run(void **state) {
    (void)state;
    struct error error = {0};
    char config[PATH_SIZE], folder[PATH_SIZE];
    write_file("alone/rows/template.json", "{}");
    write_file("templates/rows/template.json", "{}");
    write_file("templates/lib/common.cuh", "//");
    write_file("space.json.gz", "a space");
    static const struct {
        const char *from, *run, *file;
        bool has_lib;
    } rows[] = {{"alone/rows", "1", "template/rows/template.json", false},
                {"templates/rows", "2", "template/rows/template.json", true},
                {"space.json.gz", "3", "template/rows", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char run[PATH_SIZE], path[PATH_SIZE];
        strcpy(run, below(rows[i].run));
        expect_error(run_dir_files(run, config, folder, &error), &error, "there is no run");
        if (run_dir_copy_template(below(rows[i].from), "rows", run, &error) < 0)
            fail_msg("%s", error.text);
        expect_error(run_dir_files(run, config, folder, &error), &error, "has no config.json");
        assert_int_equal(path_join(path, run, "config.json", &error), 0);
        assert_int_equal(path_write_file(path, "{}", 2, &error), 0);
        if (run_dir_files(run, config, folder, &error) < 0)
            fail_msg("%s", error.text);
        assert_string_equal(config, path);
        assert_int_equal(path_join(path, run, "template/rows", &error), 0);
        assert_string_equal(folder, path);
        assert_int_equal(path_join(path, run, rows[i].file, &error), 0);
        assert_true(path_exists(path));
        assert_int_equal(path_join(path, run, "template/lib/common.cuh", &error), 0);
        assert_int_equal(path_exists(path), rows[i].has_lib);
    }
}

static void run_without_a_template_says_so(void **state) {
    (void)state;
    struct error error = {0};
    char config[PATH_SIZE], folder[PATH_SIZE];
    write_file("run/config.json", "{}");
    write_file("run/template/lib/common.cuh", "//");
    expect_error(run_dir_files(below("run"), config, folder, &error), &error,
                 "contains no template");
    assert_null(run_dir_read_config(below("run"), &error));
}

/* ---- locks ---- */

/* A worker that outlives its parent keeps the lock by the descriptor that it inherited. */
static void lock_is_free_when_its_last_holder_has_exited(void **state) {
    (void)state;
    struct error error = {0};
    int lock = run_dir_lock(root, &error);
    assert_true(lock >= 0);
    pid_t worker = fork();
    if (worker == 0) {
        pause();
        _exit(0);
    }
    assert_true(worker > 0);
    close(lock);
    expect_error(run_dir_lock(root, &error), &error, "are still running");
    kill(worker, SIGKILL);
    waitpid(worker, NULL, 0);
    lock = run_dir_lock(root, &error);
    assert_true(lock >= 0);
    close(lock);
}

static void new_run_has_a_folder_of_its_own(void **state) {
    (void)state;
    struct error error = {0};
    int lock = run_dir_claim(below("a/new/run"), &error);
    assert_true(lock >= 0);
    assert_true(path_is_dir(below("a/new/run")));
    expect_error(run_dir_claim(below("a/new/run"), &error), &error, "are still running");
    close(lock);
}

/* Another program's files are not overwritten; what a run left that was killed while it started
   is. */
static void only_files_of_a_killed_start_are_replaced(void **state) {
    (void)state;
    static const char *const names[] = {"config.json", "template/rows/template.json"};
    struct error error = {0};
    for (int n = 0; n < 2; n++) {
        char run[64], file[128], lock_name[96];
        snprintf(run, sizeof run, "run%d", n);
        snprintf(file, sizeof file, "%s/%s", run, names[n]);
        snprintf(lock_name, sizeof lock_name, "%s/workers.lock", run);
        write_file(file, "{}");
        expect_error(run_dir_claim(below(run), &error), &error, "would overwrite");
        assert_true(path_exists(below(file)));
        assert_false(path_exists(below(lock_name)));
        write_file(lock_name, "");
        int lock = run_dir_claim(below(run), &error);
        assert_true(lock >= 0);
        assert_int_equal(path_exists(below(file)), n == 0);
        close(lock);
    }
}

/* ---- a run with a store ---- */

static struct store *create_run(const char *name) {
    static const char *const goals[] = {"ROWS=6"};
    struct error error = {0};
    const struct store_description description = {.goals = goals, .goal_count = 1};
    struct store *store = store_create(below(name), &description, &error);
    if (store == NULL)
        fail_msg("%s", error.text);
    return store;
}

static void set_device(struct store *store, const char *line) {
    struct error error = {0};
    if (store_begin(store, &error) < 0 || store_meta_set(store, "device_info", line, &error) < 0 ||
        store_commit(store, &error) < 0)
        fail_msg("%s", error.text);
}

static void finished_run_is_not_overwritten(void **state) {
    (void)state;
    struct error error = {0};
    store_close(create_run("run"));
    expect_error(run_dir_claim(below("run"), &error), &error, "holds a run already");
}

static void what_a_run_minimises(void **state) {
    (void)state;
    struct error error = {0};
    enum minimised minimised = MINIMISED_PARETO;
    struct store *store = create_run("run");
    assert_int_equal(run_dir_minimised(store, &minimised, &error), 0);
    assert_int_equal(minimised, MINIMISED_LATENCY); /* as in runs of earlier versions */
    if (store_begin(store, &error) < 0 || store_meta_set(store, "minimise", "energy", &error) < 0 ||
        store_commit(store, &error) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(run_dir_minimised(store, &minimised, &error), 0);
    assert_int_equal(minimised, MINIMISED_ENERGY);
    store_close(store);
}

/* Any prefix of its line, and any other message, is damage and not a device. */
static void device_is_read_as_it_was_stored(void **state) {
    (void)state;
    struct error error = {0};
    struct device_info stored, read;
    struct store *store = create_run("run");
    assert_int_equal(run_dir_device(store, &read, &error), 0);
    assert_int_equal(device_describe(device_spec, &stored, &error), 0);
    char *line = protocol_print_device(&stored);
    set_device(store, line);
    assert_int_equal(run_dir_device(store, &read, &error), 1);
    assert_memory_equal(&read, &stored, sizeof read);
    /* Runs of earlier versions have no such members. */
    static const char *const later[] = {"\"counts_energy\":false,", "\"clusters_of_2\":0,",
                                        "\"clusters_of_4\":0,", "\"clusters_of_8\":0,"};
    for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
        char *at = strstr(line, later[i]);
        assert_non_null(at);
        memmove(at, at + strlen(later[i]), strlen(at + strlen(later[i])) + 1);
        set_device(store, line);
        assert_int_equal(run_dir_device(store, &read, &error), 1);
        assert_memory_equal(&read, &stored, sizeof read);
    }
    for (size_t length = strlen(line) - 1; length > 0; length /= 2) {
        line[length] = '\0';
        set_device(store, line);
        expect_error(run_dir_device(store, &read, &error), &error, "is damaged");
    }
    free(line);
    line = protocol_print_failure(&error);
    set_device(store, line);
    expect_error(run_dir_device(store, &read, &error), &error, "is damaged");
    free(line);
    store_close(store);
}

int main(void) {
#define RUN_TEST(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)
    const struct CMUnitTest tests[] = {
        RUN_TEST(template_has_the_name_of_its_real_folder),
        RUN_TEST(copied_template_is_found_in_the_run),
        RUN_TEST(run_without_a_template_says_so),
        RUN_TEST(lock_is_free_when_its_last_holder_has_exited),
        RUN_TEST(new_run_has_a_folder_of_its_own),
        RUN_TEST(only_files_of_a_killed_start_are_replaced),
        RUN_TEST(finished_run_is_not_overwritten),
        RUN_TEST(what_a_run_minimises),
        RUN_TEST(device_is_read_as_it_was_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
