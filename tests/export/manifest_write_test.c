/* manifest.json is written, read back, and rejected if it is invalid. */
#include "export/example.h"

#include <math.h>

static const char test_cases[] = "[{\"ROWS\": 64, \"COLS\": 512},"
                                 " {\"ROWS\": 4096, \"COLS\": 33, \"F32\": 1}]";

static char *write_example(struct example *example, const char *folder) {
    struct error error = {0};
    must(export_write(&example->request, within(folder, "rows"), &error), &error);
    char *text = path_read_file(within(folder, "rows/manifest.json"), 1 << 20, NULL, &error);
    must(text != NULL ? 0 : -1, &error);
    return text;
}

static void test_round_trip(void **state) {
    struct error error = {0};
    struct manifest manifest;
    struct example *example = example_new("softmax_rows", test_cases);
    char *text = write_example(example, *state);
    must(manifest_read(&manifest, within(*state, "rows"), &error), &error);
    assert_string_equal(manifest.name, "rows");
    assert_string_equal(manifest.template_name, "softmax_rows");
    assert_true(hash_equal(manifest.template_hash, example->template->hash));
    assert_string_equal(manifest.device, example_device.name);
    assert_string_equal(manifest.baseline, "flash");
    assert_int_equal(manifest.smem_limit, 49152);
    assert_false(manifest.predicted);
    assert_true(manifest.score_us == 8.5);
    assert_non_null(strstr(text, "\"placements\":\t5,"));
    assert_non_null(strstr(text, "\"placement_most_us\":\t8.5,"));
    assert_non_null(strstr(text, "\"energy_mj\":\t31.5,"));
    assert_non_null(strstr(text, "\"power_limited\":\ttrue"));
    assert_int_equal(manifest.variant_count, 2);
    assert_int_equal(manifest.case_count, 2);
    for (int i = 0; i < 2; i++) {
        struct key_difference differences[KEY_PART_COUNT];
        struct shape shape;
        struct genome genome;
        const struct manifest_case *read = &manifest.cases[i];
        must(template_read_shape(example->template, &read->shape, NULL, &shape, &error), &error);
        assert_memory_equal(shape.values, example->shapes[i].values, 3 * sizeof(int64_t));
        assert_int_equal(read->variant, i);
        assert_true(read->p10_us == 7.5 + i && read->p50_us == 8.25 + i &&
                    read->p90_us == 9.125 + i);
        assert_true(read->ratio_to_default == 1.25 && read->ratio_to_baseline == 1.5);
        must(genome_parse(&genome, example->template->space, manifest.variants[i].genome, &error),
             &error);
        assert_true(genome_equal(&genome, &example->genomes[i]));
        assert_int_equal(key_compare(&manifest.variants[i].key, &example->keys[i], differences), 0);
    }
    assert_string_equal(manifest.variants[0].source, "kernel.cu");
    assert_string_equal(manifest.variants[1].cubin, "variant_2.cubin");
    manifest_release(&manifest);
    free(text);
    example_free(example);
}

/* Cases of two solutions: each variant names its own, and has the space and the source of that. */
static void test_solutions(void **state) {
    struct error error = {0};
    struct manifest manifest;
    struct genome genome;
    struct key_difference differences[KEY_PART_COUNT];
    struct example *example =
        example_new("../tests/templates/axpy", "[{\"N\": 1003}, {\"N\": 7}, {\"N\": 64}]");
    example_load_other(example, "vector");
    example->of_other[1] = true;
    must(genome_parse(&example->genomes[1], example->other->space, "VECTORS=2,STAGED=1", &error),
         &error);
    example_request(example);
    assert_int_equal(example->request.variant_count, 2);
    char *text = write_example(example, *state);
    assert_non_null(strstr(text, "\"format\":\t2"));
    must(manifest_read(&manifest, within(*state, "rows"), &error), &error);
    assert_string_equal(manifest.variants[0].solution, "loop");
    assert_string_equal(manifest.variants[0].source, "kernel_loop.cu");
    assert_string_equal(manifest.variants[1].solution, "vector");
    assert_string_equal(manifest.variants[1].source, "kernel_vector.cu");
    assert_false(hash_equal(manifest.template_hash, example->template->hash));
    assert_int_equal(manifest.cases[2].variant, 0);
    must(genome_parse(&genome, example->other->space, manifest.variants[1].genome, &error), &error);
    assert_true(genome_equal(&genome, &example->genomes[1]));
    assert_int_equal(key_compare(&manifest.variants[1].key, &example->keys[1], differences), 0);
    char *source = manifest_read_source(&manifest, within(*state, "rows"), 1, &error);
    must(source != NULL ? 0 : -1, &error);
    assert_non_null(strstr(source, "#define VECTORS 2\n"));
    assert_non_null(strstr(source, "float4"));
    free(source);
    manifest_release(&manifest);
    free(text);
    example_free(example);
}

/* Each solution verifies the probe cases with the values that it specialises: those of another are
   checked, but no trial has verified them. */
static void test_verified_of_solutions(void **state) {
    char folder[PATH_SIZE];
    snprintf(folder, sizeof folder, "%s/specialised", (const char *)*state);
    assert_runs(
        "cp -r tests/templates/axpy %s && sed -i 's/\"genes\": {/\"specialised\": [\"N\"],&/' "
        "%s/vector/solution.json",
        folder, folder);
    struct example *example = example_new(folder, "[{\"N\": 1003}, {\"N\": 20000}]");
    example_load_other(example, "vector");
    example->of_other[1] = true;
    example->genomes[1] = genome_default(example->other->space);
    example->outcomes[0].bound = example->outcomes[1].bound = (struct errors){1e-6, 1e-6, 0};
    example_request(example);
    char *text = write_example(example, *state);
    assert_non_null(strstr(text, "\"verified\":\t\"N 5 to 1003, ALPHA -0.5 to 2\""));
    assert_non_null(strstr(text, "\"verified\":\t\"ALPHA -0.5 to 2\""));
    free(text);
    text = path_read_file(within(*state, "rows/cases.h"), 1 << 20, NULL, &(struct error){0});
    assert_non_null(text);
    assert_non_null(strstr(text, "{\"N=20000,ALPHA=-0.5\","));
    free(text);
    example_free(example);
}

/* Solutions with the same genes: equal genomes are not the same kernel. */
static void test_equal_genomes(void **state) {
    char folder[PATH_SIZE];
    snprintf(folder, sizeof folder, "%s/twice", (const char *)*state);
    assert_runs("cp -r tests/templates/axpy %s && cp -r %s/loop %s/again", folder, folder, folder);
    struct example *example = example_new(folder, "[{\"N\": 1003}, {\"N\": 7}]");
    example_load_other(example, "again");
    example->of_other[1] = true;
    example->genomes[1] = genome_default(example->other->space);
    assert_true(genome_equal(&example->genomes[0], &example->genomes[1]));
    example_request(example);
    assert_int_equal(example->request.variant_count, 2);
    example_free(example);
}

/* What an output holds before a call is a tensor that follows a solution's workspaces: of the other
   solution it has another number. */
static void test_tensors_of_solutions(void **state) {
    struct error error = {0};
    char folder[PATH_SIZE];
    snprintf(folder, sizeof folder, "%s/added", (const char *)*state);
    assert_runs("cp -r tests/templates/axpy %s && sed -i 's/\"role\": \"output\"/\"role\": "
                "\"inout\"/' %s/problem.json",
                folder, folder);
    struct example *example = example_new(folder, "[{\"N\": 1003}, {\"N\": 7}]");
    example_load_other(example, "vector");
    example->of_other[1] = true;
    example->genomes[1] = genome_default(example->other->space);
    example_request(example);
    must(export_write(&example->request, within(*state, "axpy"), &error), &error);
    char *text = path_read_file(within(*state, "axpy/cases.h"), 1 << 20, NULL, &error);
    must(text != NULL ? 0 : -1, &error);
    assert_non_null(strstr(text, "TENSORS = 3,"));
    assert_non_null(strstr(text, "{\"z before a call\", \"f32\", 0, 1003, 1003, "));
    assert_non_null(strstr(text, "{\"z before a call\", \"f32\", 0, 7, 7, "));
    free(text);
    example_free(example);
}

static void assert_changes(const struct manifest *manifest, const char *folder,
                           const char *expected) {
    struct error error = {0};
    struct strbuf changes = {0};
    bool whole;
    must(manifest_verify(manifest, folder, &changes, &whole, &error), &error);
    assert_true(whole);
    assert_string_equal(changes.bytes, expected);
    strbuf_release(&changes);
}

/* The placeholders of machine code bear no genome's mark: tests/cli/tampered.sh has real ones. */
static void test_verify(void **state) {
#define MARKS "variant_1.cubin not of its genome, variant_2.cubin not of its genome"
    struct error error = {0};
    struct manifest manifest;
    struct example *example = example_new("softmax_rows", test_cases);
    const char *folder = within(*state, "rows");
    free(write_example(example, *state));
    must(manifest_read(&manifest, folder, &error), &error);
    assert_changes(&manifest, folder, MARKS);
    assert_runs("cd %s/rows && sed -i.old '$a //' check.c reference.cu reference_launch.c shape.h "
                "verify.h && mkdir source && touch source/reference.cubin",
                (char *)*state);
    assert_changes(&manifest, folder,
                   "check.c changed, reference.cu changed, reference_launch.c changed, "
                   "shape.h changed, verify.h changed, " MARKS);
    assert_runs("cd %s/rows && for file in *.old; do mv $file ${file%%.old}; done", (char *)*state);
    must(path_write_file(within(*state, "rows/reference.c"), "x", 1, &error), &error);
    assert_changes(&manifest, folder, "reference.c changed, " MARKS);
    assert_runs("rm %s/rows/reference.c", (char *)*state);
    assert_changes(&manifest, folder, "reference.c missing, " MARKS);
    assert_runs("cd %s/rows && for i in 1 2 3 4 5 6 7; do touch $i.h $i.txt; done", (char *)*state);
    assert_changes(&manifest, folder,
                   "1.h added, 2.h added, 3.h added, 4.h added, 5.h added, 6.h added, 7.h added, "
                   "reference.c missing and 2 more");
    manifest_release(&manifest);
    example_free(example);
}

/* Integers beyond a double's precision are written as digits; all samples are stored. */
static void test_numbers(void **state) {
    struct example *example = example_new("softmax_rows", test_cases);
    char *text = write_example(example, *state);
    assert_non_null(strstr(text, "\"9007199254740993\""));
    cJSON *root = cJSON_Parse(text);
    const cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "cases"), 0);
    const cJSON *samples = cJSON_GetObjectItem(first, "samples_us");
    assert_int_equal(cJSON_GetArraySize(samples), 50);
    for (int i = 0; i < 50; i++)
        assert_true(cJSON_GetArrayItem(samples, i)->valuedouble == 8 + i / 64.0);
    cJSON_Delete(root);
    free(text);
    example_free(example);
}

/* The bounds of the shapes that check.c verifies, in their order in cases.h. Returns their number.
 */
static int read_bounds(const char *text, bool causal[], double bounds[], double row_bounds[]) {
    int count = 0;
    const char *table = strstr(text, " shapes[SHAPES] = {");
    assert_non_null(table);
    const char *last = strstr(table, "\n};");
    for (const char *at = table; (at = strstr(at, "\n    {\"")) != NULL && at < last; count++) {
        const char *end = strstr(at, "}}},\n     ");
        assert_non_null(end);
        causal[count] = memmem(at, (size_t)(end - at), "CAUSAL=1", 8) != NULL;
        assert_int_equal(sscanf(end + 5, "%lf, %lf", &bounds[count], &row_bounds[count]), 2);
        at = end;
    }
    return count;
}

/* A case has its own bound. Another shape has the largest of the cases of its own variant, those
   with the same specialised dimensions: the bound of another variant says nothing about its kernel.
 */
static void test_bounds(void **state) {
    static const struct errors measured[] = {{.01, .02, 0}, {.03, .04, 0}, {.5, .6, 0}};
    enum { SHAPES_ROOM = 64 };
    struct error error = {0};
    bool causal[SHAPES_ROOM];
    double bounds[SHAPES_ROOM], row_bounds[SHAPES_ROOM];
    int probes[2] = {0};
    struct example *example =
        example_new("attention_fwd", "[{\"B\": 1, \"H\": 8, \"S\": 512, \"D\": 64},"
                                     " {\"B\": 2, \"H\": 8, \"S\": 512, \"D\": 64},"
                                     " {\"B\": 1, \"H\": 8, \"S\": 512, \"D\": 64,"
                                     "  \"CAUSAL\": 1}]");
    for (int c = 0; c < 3; c++)
        example->outcomes[c].bound = measured[c];
    must(export_write(&example->request, within(*state, "attention"), &error), &error);
    char *text = path_read_file(within(*state, "attention/cases.h"), 1 << 20, NULL, &error);
    must(text != NULL ? 0 : -1, &error);
    int count = read_bounds(text, causal, bounds, row_bounds);
    for (int i = 0; i < count; i++) {
        int from = i < 3 ? i : causal[i] ? 2 : 1;
        assert_true(fabs(bounds[i] - measured[from].relative_l2) < 1e-9);
        assert_true(fabs(row_bounds[i] - measured[from].row_relative_l2) < 1e-9);
        probes[causal[i]] += i >= 3;
    }
    assert_true(probes[0] > 0 && probes[1] > 0);
    free(text);
    example_free(example);
}

/* Reads `text` as the folder's manifest; an error must be one line. */
static int read_changed(const char *folder, const char *text, struct error *error) {
    struct manifest manifest;
    struct error writing = {0};
    *error = (struct error){0};
    must(path_write_unsynced(within(folder, "rows/manifest.json"), text, strlen(text), &writing),
         &writing);
    int result = manifest_read(&manifest, within(folder, "rows"), error);
    if (result == 0)
        manifest_release(&manifest);
    else
        assert_true(error->kind != ERROR_NONE && strchr(error->text, '\n') == NULL);
    return result;
}

/* `text` with the first `from` replaced. */
static char *replace_text(const char *text, const char *from, const char *to) {
    const char *at = strstr(text, from);
    char *copy = malloc(strlen(text) + strlen(to) + 1);
    assert_non_null(at);
    sprintf(copy, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return copy;
}

static void test_broken(void **state) {
    static const struct {
        const char *from, *to, *says;
    } changes[] = {
        {"\"format\":\t1", "\"format\":\t4", "reads manifests of format 1 to 3, not 4"},
        {"\"format\":\t1", "\"format\":\t3", "the key \"architectures\" is missing"},
        {"\"format\":\t1", "\"format\":\t2", "units[0]: the key \"solution\" is missing"},
        {"\"source\":", "\"solution\":\t\"mma\",\n\"source\":", "units[0].solution"},
        {"\"name\":\t\"rows\"", "\"name\":\t7", "name: must be a string"},
        {"\"smem_limit\"", "\"smem_limits\"", "did you mean \"smem_limit\""},
        {"\"unit\":\t1", "\"unit\":\t2", "cases[1].unit"},
        {"\"p50_us\":\t8.25", "\"p50_us\":\t-1", "cases[0].p50_us"},
        {"\"p50_us\":\t8.25", "\"p50_us\":\t\"fast\"", "cases[0].p50_us"},
        {"\"softmax_rows\"", "\"../../etc\"", "template.name"},
        {"\"source\":\t\"kernel.cu\"", "\"source\":\t\"/etc/passwd\"", "units[0].source"},
        {"\"method\":\t\"method\"", "\"method\":\t\"another\"", "key_hash"},
        {"\"predicted\":\tfalse", "\"predicted\":\t0", "predicted"},
    };
    struct error error;
    struct example *example = example_new("softmax_rows", test_cases);
    char *text = write_example(example, *state);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char *copy = replace_text(text, changes[i].from, changes[i].to);
        assert_int_equal(read_changed(*state, copy, &error), -1);
        assert_non_null(strstr(error.text, "manifest.json:"));
        if (strstr(error.text, changes[i].says) == NULL)
            fail_msg("\"%s\" does not say %s", error.text, changes[i].says);
        free(copy);
    }
    free(text);
    example_free(example);
}

/* Truncated or randomly changed manifests are read or rejected, without a crash. */
static void test_fuzzed(void **state) {
    static const char alphabet[] = "{}[]\",:0-9eE.\\nulltrue x";
    struct error error;
    struct random random;
    struct example *example = example_new("softmax_rows", test_cases);
    char *text = write_example(example, *state);
    size_t length = strlen(text);
    char *copy = strdup(text);
    for (size_t cut = 0; cut + 2 < length; cut += 37) {
        memcpy(copy, text, cut);
        copy[cut] = '\0';
        assert_int_equal(read_changed(*state, copy, &error), -1);
    }
    random_seed(&random, 3, 1);
    for (int i = 0; i < 500; i++) {
        strcpy(copy, text);
        for (uint64_t edits = 1 + random_below(&random, 3); edits > 0; edits--)
            copy[random_below(&random, length)] =
                alphabet[random_below(&random, sizeof alphabet - 1)];
        read_changed(*state, copy, &error);
    }
    free(copy);
    free(text);
    example_free(example);
}

static void test_missing(void **state) {
    struct error error = {0};
    struct manifest manifest;
    assert_int_equal(manifest_read(&manifest, *state, &error), -1);
    assert_non_null(strstr(error.text, "manifest.json"));
}

int main(void) {
#define FOLDER_TEST(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(test_round_trip),
        FOLDER_TEST(test_verify),
        FOLDER_TEST(test_numbers),
        FOLDER_TEST(test_broken),
        FOLDER_TEST(test_fuzzed),
        FOLDER_TEST(test_missing),
        FOLDER_TEST(test_bounds),
        FOLDER_TEST(test_solutions),
        FOLDER_TEST(test_equal_genomes),
        FOLDER_TEST(test_verified_of_solutions),
        FOLDER_TEST(test_tensors_of_solutions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
