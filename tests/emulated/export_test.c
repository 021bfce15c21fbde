/* An exported kernel replays from its own source, also when several variants were exported into one
   folder. */
#include "resume/run.h"

#include <cjson/cJSON.h>
#include <math.h>

static void make_folder_path(char path[PATH_SIZE], const struct tiny *tiny, const char *name) {
    struct error error = {0};
    assert_int_equal(path_join(path, tiny->folder, name, &error), 0);
}

static void search_and_export(const struct tiny *tiny, const char *trials, char run_dir[PATH_SIZE],
                              char kernel_dir[PATH_SIZE]) {
    make_folder_path(run_dir, tiny, "run");
    make_folder_path(kernel_dir, tiny, "frozen");
    const char *const running[] = {"--out", run_dir, "--trials", trials, NULL};
    const char *const exporting[] = {"--out", kernel_dir, NULL};
    run_and_expect(tiny, "run", tiny->config, running, 0);
    run_and_expect(tiny, "export", run_dir, exporting, 0);
}

static bool file_exists(const char *folder, const char *name) {
    char path[PATH_SIZE];
    struct error error = {0};
    return path_join(path, folder, name, &error) == 0 && path_exists(path);
}

/* Returns the output of `replay --json`, to be deleted; checks its exit status. */
static cJSON *replay(const struct tiny *tiny, const char *what, int status) {
    char command[4 * PATH_SIZE], text[1 << 16];
    snprintf(command, sizeof command, "'%s' replay --json '%s' 2>/dev/null", tiny->program, what);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    size_t length = fread(text, 1, sizeof text - 1, output);
    text[length] = '\0';
    int ended = pclose(output);
    if (WEXITSTATUS(ended) != status)
        fail_msg("replay %s ended with status %d, not %d:\n%s", what, WEXITSTATUS(ended), status,
                 text);
    cJSON *object = cJSON_Parse(text);
    if (object == NULL)
        fail_msg("replay %s printed no JSON:\n%s", what, text);
    return object;
}

static void expect_rows(const struct tiny *tiny, const char *what, int count) {
    cJSON *object = replay(tiny, what, 0);
    cJSON *rows = cJSON_GetObjectItem(object, "rows");
    const cJSON *row;
    assert_int_equal(cJSON_GetArraySize(rows), count);
    cJSON_ArrayForEach(row, rows) {
        if (!cJSON_IsTrue(cJSON_GetObjectItem(row, "passed"))) {
            char *text = cJSON_Print(row);
            fail_msg("%s", text);
        }
        assert_true(cJSON_IsTrue(cJSON_GetObjectItem(row, "predicted")));
        double now = cJSON_GetObjectItem(row, "now_us")->valuedouble;
        double recorded = cJSON_GetObjectItem(row, "record_us")->valuedouble;
        if (fabs(now - recorded) > 1e-12 * recorded) /* the mean over cases is rounded */
            fail_msg("%s: %.17g us now, %.17g recorded", what, now, recorded);
        assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(row, "differences")), 0);
    }
    cJSON_Delete(object);
}

static void a_joint_kernel_replays(void **state) {
    (void)state;
    struct tiny tiny;
    char run_dir[PATH_SIZE], kernel_dir[PATH_SIZE];
    tiny_make(&tiny, TINY_CONFIG ", " TINY_GENES "}");
    search_and_export(&tiny, "12", run_dir, kernel_dir);
    assert_true(file_exists(kernel_dir, "kernel.cu"));
    assert_true(file_exists(kernel_dir, "variant_1.cubin"));
    assert_false(file_exists(kernel_dir, "variant_2.h"));
    expect_rows(&tiny, run_dir, 1);
    expect_rows(&tiny, kernel_dir, 1);
    tiny_remove(&tiny);
}

/* Cases of two variants: at least two units, each with its own machine code. */
static void several_variants_replay(void **state) {
    (void)state;
    struct tiny tiny;
    char run_dir[PATH_SIZE], kernel_dir[PATH_SIZE];
    tiny_make(&tiny, "{ \"template\": \"scaled_add\", \"device\": \"" TINY_DEVICE "\"," TINY_GENES
                     ", \"objective\": \"per_case\", \"cases\": [{\"ROWS\": 6, \"COLS\": 40},\n"
                     "  {\"ROWS\": 300, \"COLS\": 70}, {\"ROWS\": 3, \"COLS\": 7, \"BIAS\": 1}] }");
    search_and_export(&tiny, "40", run_dir, kernel_dir);
    assert_true(file_exists(kernel_dir, "kernel.cu"));
    assert_true(file_exists(kernel_dir, "variant_2.h"));
    assert_true(file_exists(kernel_dir, "variant_2.cubin"));
    expect_rows(&tiny, run_dir, 1);
    expect_rows(&tiny, kernel_dir, 3);
    tiny_remove(&tiny);
}

/* An export of an earlier version, with a source for each variant. */
static void an_old_export_replays(void **state) {
    (void)state;
    struct tiny tiny;
    tiny_make(&tiny, TINY_CONFIG "}");
    cJSON *object = replay(&tiny, "tests/export/old_layout", 0);
    const cJSON *rows = cJSON_GetObjectItem(object, "rows");
    const cJSON *row;
    assert_int_equal(cJSON_GetArraySize(rows), 2);
    cJSON_ArrayForEach(row, rows) assert_true(cJSON_IsTrue(cJSON_GetObjectItem(row, "passed")));
    cJSON_Delete(object);
    tiny_remove(&tiny);
}

/* Removes the hashes from the manifest, and the machine code. */
static void forget_files(const char *kernel_dir) {
    char path[PATH_SIZE];
    struct error error = {0};
    assert_int_equal(path_join(path, kernel_dir, "manifest.json", &error), 0);
    char *text = path_read_file(path, 1 << 20, NULL, &error);
    cJSON *manifest = cJSON_Parse(text);
    assert_non_null(manifest);
    cJSON_DeleteItemFromObject(manifest, "files");
    free(text);
    text = cJSON_Print(manifest);
    assert_int_equal(path_write_file(path, text, strlen(text), &error), 0);
    free(text);
    cJSON_Delete(manifest);
    assert_int_equal(path_join(path, kernel_dir, "variant_1.cubin", &error), 0);
    assert_int_equal(unlink(path), 0);
}

/* The verdict is about the file's current contents, in a manifest without hashes. */
static void a_changed_kernel_does_not_pass(void **state) {
    (void)state;
    struct tiny tiny;
    struct error error = {0};
    char run_dir[PATH_SIZE], kernel_dir[PATH_SIZE], path[PATH_SIZE];
    tiny_make(&tiny, TINY_CONFIG ", " TINY_GENES "}");
    search_and_export(&tiny, "5", run_dir, kernel_dir);
    assert_int_equal(path_join(path, kernel_dir, "kernel.cu", &error), 0);
    char *text = path_read_file(path, 1 << 20, NULL, &error);
    assert_non_null(text);
    char *right = strstr(text, ": 2.0f)");
    assert_non_null(right);
    memcpy(right, ": 2.1f)", 7);
    assert_int_equal(path_write_file(path, text, strlen(text), &error), 0);
    free(text);
    const char *const options[] = {NULL};
    run_and_expect(&tiny, "replay", kernel_dir, options, 3);
    forget_files(kernel_dir);
    cJSON *object = replay(&tiny, kernel_dir, 3);
    const cJSON *row = cJSON_GetArrayItem(cJSON_GetObjectItem(object, "rows"), 0);
    assert_string_equal(cJSON_GetObjectItem(row, "verdict")->valuestring, "wrong");
    assert_true(cJSON_IsFalse(cJSON_GetObjectItem(row, "passed")));
    cJSON_Delete(object);
    tiny_remove(&tiny);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_joint_kernel_replays),
        cmocka_unit_test(several_variants_replay),
        cmocka_unit_test(an_old_export_replays),
        cmocka_unit_test(a_changed_kernel_does_not_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
