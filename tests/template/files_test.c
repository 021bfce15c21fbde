/* What a template may consist of and include: nothing outside its folder and the lib/ beside it. */
#include "template/files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/path.h"

static char root[64];

static const char *below(const char *name) {
    static char paths[4][128];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", root, name);
    return path;
}

static void write_file(const char *name) {
    struct error error = {0};
    char parent[PATH_SIZE];
    if (path_parent(parent, below(name), &error) < 0 || path_make_folder(parent, &error) < 0 ||
        path_write_file(below(name), "{}", 2, &error) < 0)
        fail_msg("%s", error.text);
}

static int make_root(void **state) {
    (void)state;
    strcpy(root, "/tmp/evotile-files-XXXXXX");
    if (mkdtemp(root) == NULL)
        return -1;
    write_file("templates/rows/template.json");
    write_file("templates/rows/kernel.cu");
    write_file("templates/other/template.json");
    write_file("templates/lib/types.cuh");
    write_file("templates/secret");
    write_file("headers/a.cuh");
    return 0;
}

static int remove_root(void **state) {
    struct error error = {0};
    (void)state;
    return path_remove_tree(root, &error);
}

static void expect(const char *text) {
    struct error error = {0};
    int status = template_files_check(below("templates/rows"), &error);
    if (text == NULL ? status != 0 : status != -1 || strstr(error.text, text) == NULL)
        fail_msg("%s: %d, %s", text, status, error.text);
    assert_true(text == NULL || error.kind == ERROR_INPUT);
}

static void regular_files_are_a_template(void **state) {
    (void)state;
    expect(NULL);
    write_file("templates/rows/data/deep/file");
    assert_int_equal(symlink("kernel.cu", below("templates/rows/same.cu")), 0);
    assert_int_equal(symlink("../lib/types.cuh", below("templates/rows/types.cuh")), 0);
    assert_int_equal(symlink("../other/template.json", below("templates/rows/shared")), 0);
    expect(NULL);
}

/* Each is refused by its name, and a pipe does not hang. */
static void other_files_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *link, *target, *said;
    } links[] = {
        {"templates/rows/passwd.cuh", "/etc/passwd", "rows/passwd.cuh is a link out of"},
        {"templates/rows/up", "../secret", "rows/up is a link out of"},
        {"templates/rows/parent", "..", "rows/parent is a link out of"},
        {"templates/rows/void", "nowhere", "rows/void is a link to nothing"},
        {"templates/rows/null", "/dev/null", "rows/null is a link out of"},
        {"templates/rows/a/b/etc", "/etc", "a/b/etc is a link out of"},
        {"templates/lib/passwd", "/etc/passwd", "lib/passwd is a link out of"},
        {"templates/rows/folder", "../rows", "rows/folder is a link to no regular file"},
    };
    write_file("templates/rows/a/b/c");
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        assert_int_equal(symlink(links[i].target, below(links[i].link)), 0);
        expect(links[i].said);
        assert_int_equal(unlink(below(links[i].link)), 0);
    }
    assert_int_equal(mkfifo(below("templates/rows/pipe.cu"), 0600), 0);
    expect("pipe.cu is no regular file");
    unlink(below("templates/rows/pipe.cu"));
    assert_int_equal(mkfifo(below("templates/lib/pipe.cuh"), 0600), 0);
    expect("lib/pipe.cuh is no regular file");
    unlink(below("templates/lib/pipe.cuh"));
    expect(NULL);
}

static void linked_library_holds_headers(void **state) {
    struct error error = {0};
    (void)state;
    assert_int_equal(path_remove_tree(below("templates/lib"), &error), 0);
    assert_int_equal(symlink("../headers", below("templates/lib")), 0);
    write_file("headers/baseline.py");
    expect(NULL);
    write_file("headers/baseline.py");
    expect(NULL);
    write_file("headers/id_rsa");
    expect("id_rsa, which is no header");
}

/* ---- includes ---- */

static void includes_of_a_kernel_are_allowed(void **state) {
    (void)state;
    static const char *const sources[] = {
        "#include \"lib/types.cuh\"\n#include \"loads.cuh\"\n",
        "#include <cuda_fp16.h>\n#  include <cuda/std/cstdint>\n",
        "#include \"cuda_fp16.h\"",
        "int includes; // include this\n#define X(a) #a\n#if 1\n#endif\n",
        "#include <a..b>\n",
    };
    struct error error = {0};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (template_includes_check("kernel.cu", sources[i], &error) < 0)
            fail_msg("%s: %s", sources[i], error.text);
}

static void other_includes_are_refused(void **state) {
    (void)state;
    static const char *const sources[] = {
        "#include \"/etc/passwd\"",
        "#include </etc/passwd>",
        "  #  include \"../../x\"",
        "#include <../../../etc/passwd>",
        "#include \"lib/../../x\"",
        "#include \"lib/..\"",
        "#/* a */include/* b */\"/etc/passwd\"",
        "#inc\\\nlude \"/etc/passwd\"",
        "#inc\\ \nlude \"/etc/passwd\"",
        "#include \"/et\\\r\nc/passwd\"",
        "%:include \"/etc/passwd\"",
        "?\?=include \"/etc/passwd\"",
        "#define FILE \"/etc/passwd\"\n#include FILE\n",
        "#include __FILE__",
        "#include_next </etc/passwd>",
        "#import \"/etc/passwd\"",
        "#embed \"/etc/passwd\"",
        "const char *s = \"/*\";\n#include \"/etc/passwd\" // */",
        "const char *s = R\"(\n)\"; \n#include \"/etc/passwd\"",
        "#include \"/etc/passwd",
        "#include",
        "#include \"Makefile\"", /* of the working directory */
    };
    struct error error = {0};
    assert_true(path_exists("Makefile"));
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        error.text[0] = '\0';
        if (template_includes_check("kernel.cu", sources[i], &error) == 0)
            fail_msg("allowed: %s", sources[i]);
        assert_ptr_equal(strstr(error.text, "kernel.cu:"), error.text);
        assert_null(strchr(error.text, '\n'));
        assert_int_equal(error.kind, ERROR_INPUT);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_root, remove_root)
    const struct CMUnitTest tests[] = {
        TEST(regular_files_are_a_template),
        TEST(other_files_are_refused),
        TEST(linked_library_holds_headers),
        cmocka_unit_test(includes_of_a_kernel_are_allowed),
        cmocka_unit_test(other_includes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
