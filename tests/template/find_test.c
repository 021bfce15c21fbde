/* template: which library a template in a folder of the user's own includes, and that a template's
   hash depends on it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include "template/example.h"

static char top_folder[PATH_SIZE];

/* Moves the example to own/example/, which has no lib/ beside it, and goes there. */
static int make(void **state) {
    (void)state;
    struct error error = {0};
    char from[PATH_SIZE], to[PATH_SIZE];
    example_new(&example);
    if (getcwd(top_folder, sizeof top_folder) == NULL ||
        path_join(from, example.top, "example", &error) < 0 ||
        path_join(to, example.top, "own", &error) < 0 || path_make_folder(to, &error) < 0 ||
        path_join(to, to, "example", &error) < 0 || rename(from, to) < 0)
        return -1;
    strcpy(example.folder, to);
    unsetenv("EVOTILE_TEMPLATES");
    return chdir(example.folder);
}

static int discard(void **state) {
    (void)state;
    unsetenv("EVOTILE_TEMPLATES");
    example_free(&example);
    return chdir(top_folder);
}

static char *load_source(struct hash *hash, struct error *error) {
    struct template *template = template_load(example.folder, &example_setting, error);
    if (template == NULL)
        return NULL;
    struct genome genome = genome_default(template->space);
    char *source = template_source(template, &genome, 0, error);
    *hash = template->hash;
    template_free(template);
    return source;
}

static void the_search_path_has_a_library(void **state) {
    (void)state;
    struct error error = {0};
    struct hash hash, changed, beside;
    assert_null(load_source(&hash, &error));
    assert_non_null(strstr(error.text, "includes \"lib/a.cuh\", but there is no "));
    assert_non_null(strstr(error.text, "own/example/../lib, nor a lib in $EVOTILE_TEMPLATES"));
    setenv("EVOTILE_TEMPLATES", example.top, 1);
    char *source = load_source(&hash, &error);
    if (source == NULL)
        fail_msg("%s", error.text);
    assert_non_null(strstr(source, "// b\n// a\n"));
    free(source);
    example_put(&example, "lib/b.cuh", "// changed");
    source = load_source(&changed, &error);
    assert_non_null(strstr(source, "// changed\n// a\n"));
    assert_false(hash_equal(hash, changed));
    free(source);

    /* The library beside the template comes first; one of the same contents is the same. */
    char path[PATH_SIZE];
    assert_int_equal(path_join(path, example.top, "own/lib", &error), 0);
    assert_int_equal(path_make_folder(path, &error), 0);
    example_put(&example, "own/lib/a.cuh", "#pragma once\n#include \"lib/b.cuh\"\n// a\n");
    example_put(&example, "own/lib/b.cuh", "// b");
    source = load_source(&beside, &error);
    assert_non_null(strstr(source, "// b\n// a\n"));
    assert_true(hash_equal(hash, beside));
    free(source);
}

/* Otherwise every change of the library would change the hash of templates that do not use it. */
static void only_who_includes_it_has_one(void **state) {
    (void)state;
    struct error error = {0};
    struct hash hash, changed;
    setenv("EVOTILE_TEMPLATES", example.top, 1);
    example_put(&example, "own/example/kernel.cu", "// kernel\n");
    example_put(&example, "own/example/reference.cu", "// reference\n");
    free(load_source(&hash, &error));
    example_put(&example, "lib/b.cuh", "// changed");
    free(load_source(&changed, &error));
    assert_true(hash_equal(hash, changed));
}

/* A source that cannot be read may include it: that is said, not passed over. */
static void an_unreadable_source_is_named(void **state) {
    (void)state;
    struct error error = {0};
    char library[PATH_SIZE];
    example_put(&example, "own/example/kernel.cu", "// kernel\n");
    example_put(&example, "own/example/reference.cu", "// reference\n");
    assert_int_equal(symlink("nowhere", "a_link.cu"), 0);
    assert_int_equal(template_library(library, example.folder, &error), -1);
    assert_non_null(strstr(error.text, "a_link.cu"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_search_path_has_a_library, make, discard),
        cmocka_unit_test_setup_teardown(only_who_includes_it_has_one, make, discard),
        cmocka_unit_test_setup_teardown(an_unreadable_source_is_named, make, discard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
