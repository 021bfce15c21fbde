/* The exported folder is complete, and is written atomically. build_test.c builds what it holds. */
#include "export/example.h"

#include <signal.h>
#include <sys/resource.h>

/* The test's folder contains only `expected`: no temporary files remain. */
static void assert_only(const char *folder, const char *expected) {
    struct error error = {0};
    char **names;
    int count;
    must(path_list(folder, &names, &count, &error), &error);
    for (int i = 0; i < count; i++)
        assert_string_equal(names[i], expected);
    path_list_free(names, count);
}

/* Of a problem's solutions the folder holds those that are exported. */
static void test_unused_solution(void **state) {
    struct error error = {0};
    struct example *example = example_new("attention_fwd", three_cases);
    must(export_write(&example->request, within(*state, "attention"), &error), &error);
    assert_true(path_exists(within(*state, "attention/kernel.cu")));
    assert_true(path_exists(within(*state, "attention/template/attention_fwd/mma/solution.json")));
    assert_true(path_exists(within(*state, "attention/template/attention_fwd/problem.json")));
    assert_false(path_exists(within(*state, "attention/template/attention_fwd/hopper")));
    example_free(example);
}

/* NVRTC and nvcc get the same text for a variant: its macros once, and the kernel once. */
static void test_variant_source(void **state) {
    struct error error = {0};
    struct manifest manifest;
    struct example *example = example_new("attention_fwd", three_cases);
    const char *folder = within(*state, "attention");
    must(genome_parse(&example->genomes[2], example->template->space, "KV_SPLITS=4,PERSISTENT=2",
                      &error),
         &error);
    example_request(example);
    must(export_write(&example->request, folder, &error), &error);
    must(manifest_read(&manifest, folder, &error), &error);
    for (int variant = 0; variant < 2; variant++) {
        char name[NAME_SIZE];
        char *source = manifest_read_source(&manifest, folder, variant, &error);
        must(source != NULL ? 0 : -1, &error);
        snprintf(name, sizeof name, "variant_%d.cu", variant + 1);
        must(path_write_file(within(*state, name), source, strlen(source), &error), &error);
        assert_int_equal(strstr(source, "#define KV_SPLITS 4\n") != NULL, variant == 1);
        assert_runs("cd %s && gcc -E -P -x c++ %s >ours && gcc -E -P -x c++ -DEVOTILE_VARIANT=%d "
                    "attention/kernel.cu >nvcc && cmp ours nvcc",
                    (const char *)*state, name, variant + 1);
        free(source);
    }
    assert_runs("sed -i /variant_2.h/d %s/kernel.cu", folder);
    assert_null(manifest_read_source(&manifest, folder, 1, &error));
    assert_non_null(strstr(error.text, "does not include variant_2.h"));
    manifest_release(&manifest);
    example_free(example);
}

/* Without workspaces the launcher has no code for them. */
static void test_no_workspace(void **state) {
    struct error error = {0};
    struct example *example = example_new("attention_fwd", three_cases);
    must(export_write(&example->request, within(*state, "attention"), &error), &error);
    assert_false(file_contains(within(*state, "attention/attention.c"), "struct part"));
    assert_runs(
        "cd %s/attention && gcc -std=c11 -Wall -Wextra -Werror -I%s/include -c -o /dev/null "
        "attention.c",
        (const char *)*state, cuda_home());
    example_free(example);
}

/* The copy of the template is complete: replay does not need the original. */
static void test_template_copy(void **state) {
    struct error error = {0};
    struct manifest manifest;
    struct example *example = example_new("softmax_rows", one_case);
    must(export_write(&example->request, within(*state, "rows"), &error), &error);
    must(manifest_read(&manifest, within(*state, "rows"), &error), &error);
    struct template *copy = template_load(manifest.template_folder, &example->setting, &error);
    must(copy != NULL ? 0 : -1, &error);
    assert_true(hash_equal(copy->hash, manifest.template_hash));
    char *source = template_source(copy, &example->genomes[0], 0, &error);
    must(source != NULL ? 0 : -1, &error);
    free(source);
    template_free(copy);
    manifest_release(&manifest);
    example_free(example);
}

static void test_existing(void **state) {
    struct error error = {0};
    struct example *example = example_new("softmax_rows", one_case);
    const char *marker = within(*state, "rows/marker");
    must(export_write(&example->request, within(*state, "rows"), &error), &error);
    must(path_write_file(marker, "mine", 4, &error), &error);
    assert_int_equal(export_write(&example->request, within(*state, "rows"), &error), -1);
    assert_int_equal(error.kind, ERROR_INPUT);
    assert_non_null(strstr(error.text, "--force"));
    assert_true(path_exists(marker));
    example->request.force = true;
    must(export_write(&example->request, within(*state, "rows/"), &error), &error);
    assert_false(path_exists(marker));
    assert_only(*state, "rows");
    example_free(example);
}

/* --force with a mistyped path does not replace a folder that is not an export. */
static void test_foreign_folder(void **state) {
    struct error error = {0};
    struct example *example = example_new("softmax_rows", one_case);
    const char *marker = within(*state, "home/thesis.txt");
    must(path_make_folder(within(*state, "home"), &error), &error);
    must(path_write_file(marker, "mine", 4, &error), &error);
    example->request.force = true;
    assert_int_equal(export_write(&example->request, within(*state, "home"), &error), -1);
    assert_non_null(strstr(error.text, "manifest.json"));
    assert_true(path_exists(marker));
    assert_int_equal(export_write(&example->request, "/", &error), -1);
    assert_int_equal(export_write(&example->request, within(*state, ".."), &error), -1);
    assert_only(*state, "home");
    example_free(example);
}

static void test_full_disk(void **state) {
    struct error error = {0};
    struct rlimit old;
    struct example *example = example_new("softmax_rows", one_case);
    const char *marker = within(*state, "rows/marker");
    must(export_write(&example->request, within(*state, "rows"), &error), &error);
    must(path_write_file(marker, "mine", 4, &error), &error);
    example->request.force = true;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){3000, old.rlim_max});
    int result = export_write(&example->request, within(*state, "rows"), &error);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(result, -1);
    assert_non_null(strstr(error.text, "free some space"));
    assert_true(path_exists(marker));
    assert_only(*state, "rows");
    example_free(example);
}

static void test_names(void **state) {
    static const char *const bad[] = {"check",     "verify",    "int", "2x",
                                      "my kernel", "variant_2", "a-b", ""};
    struct example *example = example_new("softmax_rows", one_case);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error error = {0};
        example->request.name = bad[i];
        assert_int_equal(export_write(&example->request, within(*state, "x"), &error), -1);
        assert_int_equal(error.kind, ERROR_INPUT);
    }
    struct error error = {0};
    example->request.name = NULL;
    must(export_write(&example->request, within(*state, "4-rows.v2"), &error), &error);
    assert_true(path_exists(within(*state, "4-rows.v2/tuned_4_rows_v2.c")));
    assert_only(*state, "4-rows.v2");
    example_free(example);
}

/* A genome that the template no longer admits is an error: its launcher would reject every shape.
 */
static void test_invalid_genome(void **state) {
    struct error error = {0};
    struct example *example = example_new("softmax_rows", one_case);
    must(genome_parse(&example->genomes[0], example->template->space, "THREADS=32,ROW_THREADS=1024",
                      &error),
         &error);
    example_request(example);
    assert_int_equal(export_write(&example->request, within(*state, "rows"), &error), -1);
    assert_non_null(strstr(error.text, "ROW_THREADS=1024"));
    assert_non_null(strstr(error.text, "ROWS=64,COLS=512"));
    assert_false(path_exists(within(*state, "rows")));
    example_free(example);
}

static void test_predicted(void **state) {
    struct error error = {0};
    struct example *example = example_new("softmax_rows", one_case);
    example->request.predicted = true;
    must(export_write(&example->request, within(*state, "rows"), &error), &error);
    assert_true(file_contains(within(*state, "rows/variant_1.h"), "predicted, not measured"));
    assert_true(file_contains(within(*state, "rows/rows.h"), "predicted p50"));
    assert_true(file_contains(within(*state, "rows/cases.h"), "RECORD_KIND \"predicted\""));
    example_free(example);
}

int main(void) {
#define FOLDER_TEST(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(test_unused_solution), FOLDER_TEST(test_variant_source),
        FOLDER_TEST(test_no_workspace),    FOLDER_TEST(test_template_copy),
        FOLDER_TEST(test_existing),        FOLDER_TEST(test_foreign_folder),
        FOLDER_TEST(test_full_disk),       FOLDER_TEST(test_names),
        FOLDER_TEST(test_invalid_genome),  FOLDER_TEST(test_predicted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
