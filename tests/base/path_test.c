#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/path.h"

static int make_folder(void **state) {
    char *folder = strdup("/tmp/evotile-path-XXXXXX");
    *state = folder;
    return folder && mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    struct error error = {0};
    int result = path_remove_tree(*state, &error);
    free(*state);
    return result;
}

static const char *below(char path[PATH_SIZE], void **state, const char *name) {
    struct error error = {0};
    assert_int_equal(path_join(path, *state, name, &error), 0);
    return path;
}

static void put(const char *path, const char *text) {
    struct error error = {0};
    assert_int_equal(path_write_file(path, text, strlen(text), &error), 0);
}

static void assert_holds(const char *path, const char *text) {
    struct error error = {0};
    size_t size = 0;
    char *found = path_read_file(path, 1 << 20, &size, &error);
    assert_non_null(found);
    assert_int_equal(size, strlen(text));
    assert_string_equal(found, text);
    free(found);
}

static void joins(void **state) {
    (void)state;
    static const struct {
        const char *folder, *name, *joined;
    } rows[] = {{"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"", "b", "b"},
                {"a", "/b", "/b"}, {"/", "b", "/b"},   {"a/b", "c/d", "a/b/c/d"}};
    struct error error = {0};
    char path[PATH_SIZE];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(path_join(path, rows[i].folder, rows[i].name, &error), 0);
        assert_string_equal(path, rows[i].joined);
    }
    strcpy(path, "a");
    assert_int_equal(path_join(path, path, "b", &error), 0);
    assert_int_equal(path_join(path, "c", path, &error), 0);
    assert_string_equal(path, "c/a/b");

    /* The longest name that fits, and one byte more. */
    char name[PATH_SIZE + 1];
    memset(name, 'x', sizeof name);
    name[PATH_SIZE - 3] = '\0';
    assert_int_equal(path_join(path, "f", name, &error), 0);
    assert_int_equal(strlen(path), PATH_SIZE - 1);
    assert_int_equal(error.kind, ERROR_NONE);
    name[PATH_SIZE - 3] = 'x';
    name[PATH_SIZE - 2] = '\0';
    assert_int_equal(path_join(path, "f", name, &error), -1);
    assert_int_equal(error.kind, ERROR_FAILED);
}

static void parents_and_names(void **state) {
    (void)state;
    static const struct {
        const char *path, *parent, *name;
    } rows[] = {{"a/b/c", "a/b", "c"}, {"c", ".", "c"}, {"/c", "/", "c"}, {"a//c", "a", "c"}};
    struct error error = {0};
    char parent[PATH_SIZE];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(path_parent(parent, rows[i].path, &error), 0);
        assert_string_equal(parent, rows[i].parent);
        assert_string_equal(path_name(rows[i].path), rows[i].name);
    }
}

static void written_is_read(void **state) {
    struct error error = {0};
    char path[PATH_SIZE];
    below(path, state, "file");
    char bytes[20000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * i);
    static const size_t sizes[] = {0, 1, 4095, 4096, 4097, sizeof bytes};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_int_equal(path_write_file(path, bytes, sizes[i], &error), 0);
        size_t size;
        char *found = path_read_file(path, sizes[i], &size, &error);
        assert_non_null(found);
        assert_int_equal(size, sizes[i]);
        assert_memory_equal(found, bytes, size);
        assert_int_equal(found[size], 0);
        free(found);
        if (sizes[i] > 0)
            assert_null(path_read_file(path, sizes[i] - 1, &size, &error));
    }
    char *status = path_read_file("/proc/self/status", 1 << 20, NULL, &error); /* st_size is 0 */
    assert_non_null(strstr(status, "Name:"));
    free(status);
    assert_null(path_read_file(*state, 100, NULL, &error));
    assert_non_null(strstr(error.text, "it is a folder"));
    assert_null(path_read_file(below(path, state, "none"), 100, NULL, &error));
    assert_non_null(strstr(error.text, path));
}

static void replacing_keeps_permissions(void **state) {
    char path[PATH_SIZE];
    put(below(path, state, "script"), "one");
    assert_int_equal(chmod(path, 0751), 0);
    put(path, "two");
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0751);
}

/* A file size limit simulates a full disk: the write fails half-way. */
static void full_disk_leaves_the_old_file(void **state) {
    char path[PATH_SIZE];
    put(below(path, state, "file"), "old");
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, 4096});
        static const char bytes[100000];
        struct error error = {0};
        int said = path_write_file(path, bytes, sizeof bytes, &error);
        _exit(said == -1 && strstr(error.text, path) && strstr(error.text, "free some space") ? 0
                                                                                              : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_holds(path, "old");
    char **names;
    int count;
    struct error error = {0};
    assert_int_equal(path_list(*state, &names, &count, &error), 0);
    assert_int_equal(count, 1);
    path_list_free(names, count);
}

static void folders_are_made_once(void **state) {
    struct error error = {0};
    char path[PATH_SIZE], file[PATH_SIZE];
    below(path, state, "a/b/c/");
    assert_int_equal(path_make_folder(path, &error), 0);
    assert_int_equal(path_make_folder(path, &error), 0);
    assert_true(path_is_dir(path));
    assert_int_equal(path_make_folder("/", &error), 0);
    assert_int_equal(path_make_folder(".", &error), 0);
    put(below(file, state, "a/file"), "");
    assert_int_equal(path_make_folder(file, &error), -1);
    assert_int_equal(symlink("/nowhere", below(path, state, "a/dangling")), 0);
    assert_int_equal(path_make_folder(path, &error), -1);
    assert_non_null(strstr(error.text, "Not a directory"));
    assert_int_equal(path_make_folder("/proc/evotile/a", &error), -1);
    assert_non_null(strstr(error.text, "/proc/evotile"));
}

/* A link is followed and its target written; a device is written in place; a file is replaced. */
static void links_and_devices_are_written_into(void **state) {
    struct error error = {0};
    char folder[PATH_SIZE], file[PATH_SIZE], link[PATH_SIZE];
    assert_int_equal(path_make_folder(below(folder, state, "links"), &error), 0);
    put(below(file, state, "links/file"), "a long text");
    assert_int_equal(symlink(file, below(link, state, "links/link")), 0);
    assert_int_equal(path_write_file(link, "new", 3, &error), 0);
    assert_holds(file, "new");
    assert_false(path_is_replaceable(link));
    assert_true(path_is_replaceable(file));
    assert_true(path_is_replaceable(below(folder, state, "links/nothing")));
    /* Through links in the test's folder, so that a bug cannot damage a device. */
    assert_int_equal(symlink("/dev/full", below(link, state, "links/full")), 0);
    assert_int_equal(path_write_file(link, "more", 4, &error), -1);
    assert_non_null(strstr(error.text, "free some space"));
    assert_false(path_is_replaceable("/dev/null"));
}

static void trees_are_copied_and_removed(void **state) {
    struct error error = {0};
    char path[PATH_SIZE], from[PATH_SIZE], to[PATH_SIZE], outside[PATH_SIZE];
    assert_int_equal(path_make_folder(below(path, state, "from/deep"), &error), 0);
    put(below(path, state, "from/b"), "two");
    put(below(path, state, "from/a"), "one");
    put(below(path, state, "from/deep/c"), "three");
    put(below(outside, state, "outside"), "kept");
    assert_int_equal(symlink(outside, below(path, state, "from/link")), 0);
    assert_int_equal(path_copy_tree(below(from, state, "from"), below(to, state, "to"), &error), 0);
    assert_holds(below(path, state, "to/a"), "one");
    assert_holds(below(path, state, "to/deep/c"), "three");
    assert_holds(below(path, state, "to/link"), "kept");

    char **names;
    int count;
    assert_int_equal(path_list(from, &names, &count, &error), 0);
    assert_int_equal(count, 4);
    static const char *const sorted[] = {"a", "b", "deep", "link"};
    for (int i = 0; i < count; i++)
        assert_string_equal(names[i], sorted[i]);
    path_list_free(names, count);

    char flat[PATH_SIZE];
    assert_int_equal(path_copy_files(from, below(flat, state, "flat"), "b", &error), 0);
    assert_int_equal(path_list(flat, &names, &count, &error), 0);
    assert_int_equal(count, 2); /* no "b", no folder */
    assert_string_equal(names[0], "a");
    assert_string_equal(names[1], "link");
    path_list_free(names, count);
    assert_holds(below(path, state, "flat/a"), "one");
    assert_int_equal(path_copy_files(below(path, state, "none"), flat, NULL, &error), -1);

    /* A copy into itself, and around a cycle of links: both must end. */
    assert_int_equal(path_copy_tree(from, below(to, state, "from/inside"), &error), 0);
    assert_int_equal(symlink("..", below(path, state, "from/deep/circle")), 0);
    assert_int_equal(path_copy_tree(from, below(to, state, "circle"), &error), -1);
    assert_int_equal(path_remove_tree(to, &error), 0);

    assert_int_equal(path_remove_tree(from, &error), 0);
    assert_false(path_exists(from));
    assert_holds(outside, "kept");
    assert_int_equal(path_remove_tree(from, &error), 0);
}

static void this_machine(void **state) {
    (void)state;
    struct error error = {0};
    char folder[PATH_SIZE], program[PATH_SIZE];
    assert_int_equal(path_program_folder(folder, &error), 0);
    assert_int_equal(path_join(program, folder, "path_test", &error), 0);
    assert_true(path_exists(program));
    assert_null(path_network_filesystem("/proc"));
    assert_null(path_network_filesystem("/no/such/path"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins),
        cmocka_unit_test(parents_and_names),
        cmocka_unit_test_setup_teardown(written_is_read, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(replacing_keeps_permissions, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(full_disk_leaves_the_old_file, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(folders_are_made_once, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(links_and_devices_are_written_into, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(trees_are_copied_and_removed, make_folder, remove_folder),
        cmocka_unit_test(this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
