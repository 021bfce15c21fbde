/* space_file: written files conform to the T4 schema, and reading them returns the same rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cjson/cJSON.h>
#include <zlib.h>

#include "base/random.h"
#include "device/recorded.h"
#include "store/example.h"
#include "store/space_file.h"

enum { TRIALS = 300 };

static const char *const modes[] = {"none", "xor", "pad"};

static void genome_of(int64_t number, char genome[64]) {
    snprintf(genome, 64, "BLOCK_M=%d,SWIZZLE=%s,WARPS=4", 1 << number % 4, modes[number / 4 % 3]);
    /* STAGES makes all TRIALS genomes distinct. */
    size_t length = strlen(genome);
    snprintf(genome + length, 64 - length, ",STAGES=%d", (int)(number / 12));
}

static struct outcome outcomes[TRIALS];

static void outcome_of(int64_t number, struct random *random, struct outcome *outcome) {
    outcome_release(outcome);
    outcome->verdict = number % 3 ? VERDICT_OK : (enum verdict)(number / 3 % VERDICT_COUNT);
    outcome->compile_s = random_uniform(random);
    outcome_set_cases(outcome, 1 + (int)(number % 2));
    for (int c = 0; c < outcome->case_count; c++) {
        struct latency *warm = &outcome->cases[c].warm;
        warm->p50_us = 1e3 * random_uniform(random) + 1e-3;
        double *samples_us = latency_reserve(warm, 5);
        for (int i = 0; i < 5; i++)
            samples_us[i] = warm->p50_us + i;
        warm->sample_count = 5;
    }
    outcome->score_us = 1;
}

/* Trials of two goals; every 17th is not observed. */
static struct store *make_run(const char *run_dir) {
    struct error error = {0};
    struct random random;
    struct store *store = example_create(run_dir, &error);
    random_seed(&random, 41, 0);
    if (store == NULL || store_begin(store, &error) < 0)
        fail_msg("%s", error.text);
    for (int64_t number = 0; number < TRIALS; number++) {
        char genome[64];
        genome_of(number, genome);
        outcome_of(number, &random, &outcomes[number]);
        struct store_ask ask = {.number = number,
                                .goal = (int)(number % 5 == 0),
                                .genome = genome,
                                .parent_a = STORE_NO_TRIAL,
                                .parent_b = STORE_NO_TRIAL,
                                .operator_name = "explore"};
        if (store_ask(store, &ask, &error) < 0 ||
            (number % 17 != 0 &&
             store_tell(store, number, &outcomes[number], NULL, NULL, &error) < 0))
            fail_msg("%s", error.text);
    }
    assert_int_equal(store_commit(store, &error), 0);
    return store;
}

/* Filtered and lost trials are not rows: they were not judged. */
static bool is_row(int64_t number) {
    return number % 5 != 0 && number % 17 != 0 && outcomes[number].verdict != VERDICT_FILTERED &&
           outcomes[number].verdict != VERDICT_LOST;
}

static double expected_us(const struct outcome *outcome) {
    double product = 1;
    for (int c = 0; c < outcome->case_count; c++)
        product *= outcome->cases[c].warm.p50_us;
    return outcome->verdict != VERDICT_OK ? INFINITY : pow(product, 1.0 / outcome->case_count);
}

static void assert_rows(const char *path) {
    struct error error = {0};
    struct recorded *recorded = recorded_read(path, &error);
    if (recorded == NULL)
        fail_msg("%s", error.text);
    assert_string_equal(recorded->device_name, "a \"GPU\"");
    assert_string_equal(recorded->kernel_name, "rows");
    assert_int_equal(recorded->space->gene_count, 3); /* WARPS does not vary */
    int64_t row = 0;
    for (int64_t number = 0; number < TRIALS; number++) {
        char genome[64], expected[64], found[GENOME_TEXT_SIZE];
        if (!is_row(number))
            continue;
        genome_of(number, genome);
        char *warps = strstr(genome, ",WARPS=4");
        snprintf(expected, sizeof expected, "%.*s%s", (int)(warps - genome), genome, warps + 8);
        genome_print(&recorded->genomes[row], recorded->space, found);
        assert_string_equal(found, expected);
        double us = expected_us(&outcomes[number]);
        assert_true(isinf(us)
                        ? isinf(recorded->times_us[row])
                        : fabs(recorded->times_us[row] - us) <= 0.51e-6 /* half a picosecond */);
        assert_int_equal(recorded->verdicts[row] == VERDICT_OK,
                         outcomes[number].verdict == VERDICT_OK);
        row++;
    }
    assert_int_equal(recorded->row_count, row);
    recorded_free(recorded);
}

static void rows_round_trip(void **state) {
    char run_dir[PATH_SIZE], path[PATH_SIZE];
    struct error error = {0};
    path_join(run_dir, *state, "run", &error);
    struct store *store = make_run(run_dir);
    static const char *const names[] = {"t4.json", "t4.json.gz", "cache.json", "cache.json.gz"};
    for (int i = 0; i < 4; i++) {
        struct space_file file = {
            .format = i < 2 ? SPACE_FILE_T4 : SPACE_FILE_KERNEL_TUNER,
            .device = "a \"GPU\"",
            .kernel = "rows",
        };
        path_join(path, *state, names[i], &error);
        int64_t rows = space_file_write(store, &file, path, &error);
        if (rows < 0)
            fail_msg("%s", error.text);
        assert_rows(path);
        unsigned char start[2] = {0};
        FILE *in = fopen(path, "rb");
        assert_int_equal(fread(start, 1, 2, in), 2);
        fclose(in);
        assert_int_equal(start[0] == 0x1f && start[1] == 0x8b, i % 2); /* gzip's magic number */
    }
    struct space_file none = {.goal = 2, .device = "", .kernel = ""};
    assert_int_equal(space_file_write(store, &none, path, &error), -1);
    store_close(store);
}

/* ---- the schema: a validator for the parts of JSON Schema that it uses ---- */

static const char *type_of(const cJSON *value) {
    return cJSON_IsObject(value)   ? "object"
           : cJSON_IsArray(value)  ? "array"
           : cJSON_IsString(value) ? "string"
           : cJSON_IsNumber(value) ? "number"
           : cJSON_IsBool(value)   ? "boolean"
                                   : "null";
}

static bool allows(const cJSON *types, const char *type) {
    const cJSON *it;
    if (cJSON_IsString(types))
        return strcmp(types->valuestring, type) == 0;
    cJSON_ArrayForEach(it, types) if (strcmp(it->valuestring, type) == 0) return true;
    return false;
}

static void validate(const cJSON *schema, const cJSON *value, const char *name) {
    static const char *const known[] = {"$schema", "$id",      "description", "title",
                                        "type",    "required", "properties",  "items",
                                        "enum",    "pattern",  "example"};
    const cJSON *it;
    cJSON_ArrayForEach(it, schema) {
        bool is_known = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            is_known = is_known || strcmp(it->string, known[i]) == 0;
        if (!is_known)
            fail_msg("the schema says %s, which this test does not check", it->string);
    }
    const cJSON *types = cJSON_GetObjectItem(schema, "type");
    if (types != NULL && !allows(types, type_of(value)))
        fail_msg("%s is of type %s", name, type_of(value));
    cJSON_ArrayForEach(it, cJSON_GetObjectItem(schema, "required")) {
        if (cJSON_GetObjectItem(value, it->valuestring) == NULL)
            fail_msg("%s lacks %s", name, it->valuestring);
    }
    const cJSON *words = cJSON_GetObjectItem(schema, "enum");
    bool found = words == NULL;
    cJSON_ArrayForEach(it, words) found = found || strcmp(it->valuestring, value->valuestring) == 0;
    if (!found)
        fail_msg("%s is %s", name, value->valuestring);
    cJSON_ArrayForEach(it, cJSON_GetObjectItem(schema, "properties")) {
        const cJSON *member = cJSON_GetObjectItem(value, it->string);
        if (member != NULL)
            validate(it, member, it->string);
    }
    const cJSON *items = cJSON_GetObjectItem(schema, "items");
    if (items != NULL)
        cJSON_ArrayForEach(it, value) validate(items, it, name);
}

static cJSON *read_json(const char *path) {
    struct error error = {0};
    char *text = path_read_file(path, 64 << 20, NULL, &error);
    if (text == NULL)
        fail_msg("%s", error.text);
    cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    free(text);
    return json;
}

static void t4_is_valid(void **state) {
    char run_dir[PATH_SIZE], path[PATH_SIZE];
    struct error error = {0};
    path_join(run_dir, *state, "run", &error);
    path_join(path, *state, "t4.json", &error);
    struct store *store = make_run(run_dir);
    struct space_file file = {.format = SPACE_FILE_T4, .device = "GPU", .kernel = "rows"};
    assert_true(space_file_write(store, &file, path, &error) > 0);
    store_close(store);
    cJSON *schema = read_json("tests/schemas/T4-1.0.0-results.json");
    cJSON *written = read_json(path);
    validate(schema, written, "the file");
    assert_string_equal(cJSON_GetObjectItem(written, "schema_version")->valuestring, "1.0.0");
    cJSON_Delete(schema);
    cJSON_Delete(written);
}

/* The cache has the members that Kernel Tuner reads, and each row's key consists of its values. */
static void cache_has_all_members(void **state) {
    char run_dir[PATH_SIZE], path[PATH_SIZE];
    struct error error = {0};
    path_join(run_dir, *state, "run", &error);
    path_join(path, *state, "cache.json", &error);
    struct store *store = make_run(run_dir);
    struct space_file file = {.format = SPACE_FILE_KERNEL_TUNER, .device = "GPU", .kernel = "k"};
    int64_t rows = space_file_write(store, &file, path, &error);
    store_close(store);
    cJSON *root = read_json(path);
    static const char *const needed[] = {
        "device_name", "kernel_name", "problem_size", "tune_params_keys",
        "tune_params", "objective",   "cache"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        assert_non_null(cJSON_GetObjectItem(root, needed[i]));
    const cJSON *keys = cJSON_GetObjectItem(root, "tune_params_keys");
    const cJSON *row, *key;
    assert_int_equal(cJSON_GetArraySize(keys), 4);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(root, "cache")), rows);
    cJSON_ArrayForEach(row, cJSON_GetObjectItem(root, "cache")) {
        char joined[128] = "";
        size_t length = 0;
        cJSON_ArrayForEach(key, keys) {
            const cJSON *value = cJSON_GetObjectItem(row, key->valuestring);
            const char *comma = length > 0 ? "," : "";
            length += (size_t)(cJSON_IsString(value) ? snprintf(joined + length, 128 - length,
                                                                "%s%s", comma, value->valuestring)
                                                     : snprintf(joined + length, 128 - length,
                                                                "%s%d", comma, value->valueint));
            /* the value is in the parameter's domain */
            const cJSON *domain =
                cJSON_GetObjectItem(cJSON_GetObjectItem(root, "tune_params"), key->valuestring);
            const cJSON *it;
            bool in = false;
            cJSON_ArrayForEach(it, domain) in = in || cJSON_Compare(it, value, true);
            assert_true(in);
        }
        assert_string_equal(joined, row->string);
        const cJSON *time = cJSON_GetObjectItem(row, "time");
        assert_true(cJSON_IsNumber(time) || strstr(time->valuestring, "Config") != NULL);
    }
    cJSON_Delete(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_round_trip, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(t4_is_valid, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(cache_has_all_members, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
